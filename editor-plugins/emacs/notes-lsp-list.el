;;; notes-lsp-list.el --- The lists of notes and of people  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Two `tabulated-list-mode' buffers that follow what happens: they are
;; filled again when the service has news, and every few seconds while a
;; window shows them.

;;; Code:

(require 'cl-lib)
(require 'tabulated-list)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-presence)

(declare-function notes-open "notes-lsp-commands" (&optional note))
(declare-function notes-new "notes-lsp-commands" (title))

(defconst notes-lsp--refresh-seconds 5
  "How often a list that is shown is filled again.")

(defvar-local notes-lsp--source nil
  "(METHOD KEY ROW): fill this list from the array KEY of METHOD's result.
ROW makes a `tabulated-list-entries' entry of each element.")
(defvar-local notes-lsp--refreshing nil "Non-nil while an answer is awaited.")
(defvar notes-lsp--refresh-timer nil "Timer that fills the lists again.")
(defvar notes-lsp--news-timer nil "Timer that fills the lists soon.")

(defun notes-lsp--time (milliseconds)
  "Return MILLISECONDS since 1970 as a short local time."
  (if (not (numberp milliseconds)) ""
    (let ((time (seconds-to-time (/ milliseconds 1000))))
      (format-time-string
       (if (equal (format-time-string "%F" time) (format-time-string "%F")) "%H:%M" "%F")
       time))))

(defun notes-lsp--note-row (note)
  "Return the entry of NOTE, an element of the answer to notes/list."
  (list (plist-get note :id)
        (vector (if (eq t (plist-get note :unread)) "*" "")
                (notes-lsp--shown (plist-get note :title))
                (notes-lsp--time (plist-get note :modified))
                (format "%s" (or (plist-get note :words) ""))
                (mapconcat #'notes-lsp--shown (plist-get note :peers) ", "))))

(defun notes-lsp--peer-row (peer)
  "Return the entry of PEER, an element of the answer to notes/peers."
  (list (plist-get peer :peer)
        (vector (notes-lsp--shown (plist-get peer :name))
                (or (plist-get peer :state) "")
                (notes-lsp--shown (plist-get peer :via))
                (mapconcat (lambda (note)
                             (notes-lsp--shown (or (plist-get note :title) (plist-get note :id))))
                           (plist-get peer :notes) ", ")
                (or (plist-get peer :fingerprint) ""))))

(defun notes-lsp--by-number (column)
  "Return a predicate that sorts entries by the number in COLUMN."
  (lambda (one other)
    (< (string-to-number (aref (cadr one) column))
       (string-to-number (aref (cadr other) column)))))

(defvar notes-list-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map tabulated-list-mode-map)
    (define-key map (kbd "RET") #'notes-list-open)
    (define-key map "+" #'notes-new)
    map)
  "Keys of the list of notes.")

(define-derived-mode notes-list-mode tabulated-list-mode "Notes"
  "The list of notes, newest first.
\\{notes-list-mode-map}"
  (setq tabulated-list-format
        (vector '("" 1 t) '("Title" 40 t) '("Changed" 11 t)
                (list "Words" 7 (notes-lsp--by-number 3) :right-align t :pad-right 2)
                '("With" 0 t))
        notes-lsp--source '(:notes/list :notes notes-lsp--note-row))
  (add-hook 'tabulated-list-revert-hook #'notes-lsp--refresh nil t)
  (tabulated-list-init-header))

(define-derived-mode notes-peers-mode tabulated-list-mode "Peers"
  "The list of people the service knows of."
  (setq tabulated-list-format
        [("Name" 20 t) ("State" 18 t) ("Via" 22 t) ("Notes" 30 t) ("Fingerprint" 0 t)]
        notes-lsp--source '(:notes/peers :peers notes-lsp--peer-row))
  (add-hook 'tabulated-list-revert-hook #'notes-lsp--refresh nil t)
  (tabulated-list-init-header))

(defun notes-list-open ()
  "Open the note on this line."
  (interactive nil notes-list-mode)
  (let ((id (tabulated-list-get-id)))
    (unless id (user-error "Notes: Move to a line with a note first"))
    (notes-open id)))

(defun notes-lsp--show-list (name mode)
  "Show the list called NAME, a buffer in MODE, filled now and from now on."
  (let ((buffer (get-buffer-create name)))
    (with-current-buffer buffer
      (unless (derived-mode-p mode) (funcall mode))
      (pcase-let ((`(,method ,key ,_) notes-lsp--source))
        (notes-lsp--with-answer (result method (notes-lsp--empty)
                                        :waiting "Fetching the list…" :what "The list")
          (notes-lsp--fill buffer (plist-get result key))
          (unless notes-lsp--refresh-timer
            (setq notes-lsp--refresh-timer
                  (run-with-timer notes-lsp--refresh-seconds notes-lsp--refresh-seconds
                                  #'notes-lsp--refresh-shown)))
          (pop-to-buffer-same-window buffer))))))

(defun notes-lsp--fill (buffer elements)
  "Show ELEMENTS in the list BUFFER, if it lives; keep the place."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let ((entries (mapcar (nth 2 notes-lsp--source) elements)))
        (unless (and (equal entries tabulated-list-entries) (> (buffer-size) 0))
          (setq tabulated-list-entries entries)
          (tabulated-list-print t))))))

(defun notes-lsp--refresh ()
  "Fill the list in the current buffer again, when the answer comes."
  (let ((buffer (current-buffer)))
    (when (and notes-lsp--source (not notes-lsp--refreshing) (notes-lsp-service-ready-p))
      (setq notes-lsp--refreshing t)
      (pcase-let ((`(,method ,key ,_) notes-lsp--source))
        (notes-lsp-service-request-async
         method (notes-lsp--empty)
         (lambda (result)
           (notes-lsp--refreshed buffer)
           (notes-lsp--soon (notes-lsp--fill buffer (plist-get result key))))
         :error (lambda (_) (notes-lsp--refreshed buffer)))))))

(defun notes-lsp--refreshed (buffer)
  "Note that BUFFER awaits no answer any more."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer (setq notes-lsp--refreshing nil))))

(defun notes-lsp--lists ()
  "Return the live list buffers."
  (cl-remove-if-not (lambda (buffer) (buffer-local-value 'notes-lsp--source buffer))
                    (buffer-list)))

(defun notes-lsp--refresh-shown ()
  "Fill the lists that a window shows again; stop when there are no lists."
  (setq notes-lsp--news-timer nil)
  (let ((lists (notes-lsp--lists)))
    (dolist (buffer lists)
      (when (get-buffer-window buffer t)
        (with-current-buffer buffer (notes-lsp--refresh))))
    (unless (or lists (null notes-lsp--refresh-timer))
      (cancel-timer notes-lsp--refresh-timer)
      (setq notes-lsp--refresh-timer nil))))

(defun notes-lsp--on-news ()
  "Fill the lists again soon; called from message handlers, maybe often."
  (unless (or notes-lsp--news-timer (null notes-lsp--refresh-timer))
    (setq notes-lsp--news-timer (run-with-timer 0.3 nil #'notes-lsp--refresh-shown))))

(add-hook 'notes-lsp--news-hook #'notes-lsp--on-news)

(provide 'notes-lsp-list)
;;; notes-lsp-list.el ends here
