;;; notes-lsp-news.el --- What people read in the echo area  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A command shows its result at once.  News waits while a command runs or
;; prompts, and while an error has not been read.
;;
;;     news, warn ──► waiting ──nothing unread, nothing runs──► shown
;;                                                               │
;;                     read ◄──────── the next command ◄─────────┘

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'notes-lsp-shown)

(declare-function notes-lsp--unsafe-p "notes-lsp-gate" ())

(defconst notes-lsp--news-seconds 2
  "Seconds that a message is shown before the next one that waits.")
(defconst notes-lsp--maximum-news 20 "At most this many messages wait.")

(defvar notes-lsp--waiting-news nil "List of (TEXT . URGENT), oldest first.")
(defvar notes-lsp--unread nil "Non-nil while the echo area has what must be read.")
(defvar notes-lsp--shown-news nil "The message that was shown last.")
(defvar notes-lsp--said nil "The line that a command showed last.")
(defvar notes-lsp--urgent nil "Non-nil while the echo area is to say where the person's words are.")
(defvar notes-lsp--news-pause nil "Timer that shows the next message.")

(defun notes-lsp--here (text)
  "Return TEXT with Vim's names of commands as those of Emacs."
  (let ((case-fold-search nil))
    (replace-regexp-in-string
     ":Notes\\(\\(?:[A-Z][a-z]+\\)*\\)"
     (lambda (name)
       (concat "M-x notes"
               (downcase (replace-regexp-in-string "[A-Z]" "-\\&" (substring name 6) t))))
     text t t)))

(defun notes-lsp--line (text)
  "Return TEXT as one line that fits, with the prefix of all messages."
  (truncate-string-to-width
   (concat "Notes: " (notes-lsp--here (string-trim (replace-regexp-in-string
                                                "[[:space:]]+" " " (notes-lsp--shown text)))))
   (max 20 (1- (frame-width))) nil nil t))

(defvar notes-lsp--late nil "Non-nil while the answer to a command that is over is being handled.")

(defconst notes-lsp--maximum-log 500 "The log keeps this many lines.")

(defun notes-lsp--log-line (text)
  "Add TEXT to the log of all messages, with the time."
  (with-current-buffer (get-buffer-create "*notes-log*")
    (special-mode)
    (let ((inhibit-read-only t))
      (goto-char (point-max))
      (insert (format-time-string "%T  ") (notes-lsp--here (notes-lsp--shown text)) "\n")
      (when (> (line-number-at-pos) notes-lsp--maximum-log)
        (delete-region (point-min) (progn (goto-char (point-min)) (forward-line 1) (point)))
        (goto-char (point-max))))))

;;;###autoload
(defun notes-log ()
  "Show all messages, also those that passed quickly."
  (interactive)
  (pop-to-buffer (get-buffer-create "*notes-log*"))
  (unless (derived-mode-p 'special-mode) (special-mode))
  (goto-char (point-max)))

(defun notes-lsp--say (format &rest arguments)
  "Show one line made of FORMAT and ARGUMENTS now: the result of a command.
If that is over, or the line says where the person's words are and has not
been read yet, it is news like any other."
  (let ((text (apply #'format format arguments)))
    (cond ((string-blank-p text) nil)
          ((or notes-lsp--late (and notes-lsp--unread notes-lsp--urgent)) (notes-lsp--news text))
          (t (notes-lsp--log-line text)
             (message "%s" (setq notes-lsp--said (notes-lsp--line text)))))))

(defun notes-lsp--refuse (text)
  "Signal a `user-error' with TEXT."
  (user-error "Notes: %s" (notes-lsp--here (notes-lsp--shown text))))

(defun notes-lsp--news (text)
  "Show TEXT when nothing else is to be read."
  (notes-lsp--add-news text nil))

(defun notes-lsp--warn (text)
  "Show TEXT when nothing else is to be read, and keep it until it is read."
  (notes-lsp--add-news text t))

(defun notes-lsp--urge (text)
  "Show TEXT, which says where the person's words are, before everything else.
A message of ours that has not been read yet waits again, also if the result
of a command has taken its place."
  (let ((line (string-trim (or text ""))))
    (unless (string-empty-p line)
      (when (and notes-lsp--unread notes-lsp--shown-news (not notes-lsp--urgent)
                 (member (current-message)
                         (list (notes-lsp--line notes-lsp--shown-news) notes-lsp--said)))
        (push (cons notes-lsp--shown-news t) notes-lsp--waiting-news)
        (setq notes-lsp--unread nil notes-lsp--urgent nil))
      (notes-lsp--log-line line)
      (setq notes-lsp--urgent (not notes-lsp--unread))
      (push (cons line t) notes-lsp--waiting-news)
      (when notes-lsp--news-pause
        (cancel-timer notes-lsp--news-pause)
        (setq notes-lsp--news-pause nil))
      (notes-lsp--show-news))))

(defun notes-lsp--add-news (text urgent)
  "Let TEXT wait until it may be shown; URGENT if it must be read."
  (unless (or (null text) (string-blank-p text)
              (equal text (caar (last notes-lsp--waiting-news))))
    (notes-lsp--log-line text)
    (let ((news (append notes-lsp--waiting-news (list (cons text urgent)))))
      (when (> (length news) notes-lsp--maximum-news)
        (setq news (delq (or (cl-find-if-not #'cdr news) (car news)) news)))
      (setq notes-lsp--waiting-news news))
    (notes-lsp--show-news)))

(defun notes-lsp--forget-news (part)
  "Drop the messages with PART that wait: the person does what they ask for."
  (setq notes-lsp--waiting-news
        (cl-remove-if (lambda (news) (string-search part (car news))) notes-lsp--waiting-news)))

(defun notes-lsp--show-news ()
  "Show the oldest message, unless something else is to be read first."
  (when (and notes-lsp--waiting-news (not notes-lsp--unread) (not notes-lsp--news-pause)
             (not (notes-lsp--unsafe-p)) (not (active-minibuffer-window))
             (not (bound-and-true-p isearch-mode)))
    (pcase-let ((`(,text . ,urgent) (pop notes-lsp--waiting-news)))
      (setq notes-lsp--unread urgent notes-lsp--shown-news text)
      (message "%s" (notes-lsp--line text))
      (when notes-lsp--waiting-news
        (setq notes-lsp--news-pause
              (run-with-timer notes-lsp--news-seconds nil #'notes-lsp--end-news-pause))))))

(defun notes-lsp--end-news-pause ()
  "Show the next message."
  (setq notes-lsp--news-pause nil)
  (notes-lsp--show-news))

(defun notes-lsp--news-read ()
  "Note that the person does something, and so has seen the echo area."
  (setq notes-lsp--unread nil notes-lsp--urgent nil))

(defun notes-lsp--news-after-command ()
  "Show what waited for the command to end."
  (when (and notes-lsp--waiting-news (not notes-lsp--unread))
    (run-with-timer 0 nil #'notes-lsp--show-news)))

(defun notes-lsp--news-after-error (data &rest _)
  "Keep other messages from hiding the error DATA until it is read."
  (unless (memq (car-safe data) '(quit minibuffer-quit)) (setq notes-lsp--unread t)))

(add-hook 'pre-command-hook #'notes-lsp--news-read)
(add-hook 'post-command-hook #'notes-lsp--news-after-command 90)
(add-function :before command-error-function #'notes-lsp--news-after-error)

(provide 'notes-lsp-news)
;;; notes-lsp-news.el ends here
