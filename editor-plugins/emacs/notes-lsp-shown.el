;;; notes-lsp-shown.el --- What others write is shown, and does nothing else  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Other people write titles, names and texts, and some text can block Emacs's
;; display.  Emacs 28.2 never finishes a line in which a paragraph separator
;; other than a newline is inside a directional isolate, wherever that line
;; is: a buffer, the echo area, the mode line.  Long lines of brackets or of
;; directional characters take seconds or minutes for every key.
;;
;; There are three remedies:
;;
;; - For the display, those separators count as segment separators, like
;;   tabs, in the whole of Emacs.  A peer's text is not only in notes: `grep',
;;   `dired' and `vc-diff' show it too.
;; - What is shown on one line (messages, titles, names) is cleaned first.
;; - A buffer with a line that would take too long is shown in the order in
;;   which it is stored, until that line is gone.  Its text does not change.
;;   Everywhere else, Hebrew and Arabic are reordered as usual.

;;; Code:

(require 'subr-x)

(defun notes-lsp--mend-bidi ()
  "Make Emacs's display finish lines with paragraph separators in isolates."
  (dolist (character '(?\r #x1c #x1d #x1e #x85 #x2029))
    (when (eq 'B (get-char-code-property character 'bidi-class))
      (put-char-code-property character 'bidi-class 'S))))

(notes-lsp--mend-bidi)

;;; On one line

(defconst notes-lsp--directional "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
  "Matches what turns the direction of text and is not seen.")

(defconst notes-lsp--unshown "[\u0000-\u001f\u007f-\u009f\u2028\u2029]+"
  "Matches controls and ends of lines.")

(defconst notes-lsp--maximum-line 1000 "More characters are never shown on one line.")

(defun notes-lsp--shown (text)
  "Return TEXT, which others wrote, as it can stand on one line; nil is \"\"."
  (let ((text (if (stringp text) text (if text (format "%s" text) ""))))
    (when (> (length text) notes-lsp--maximum-line)
      (setq text (concat (substring text 0 notes-lsp--maximum-line) "…")))
    (replace-regexp-in-string
     notes-lsp--unshown " " (replace-regexp-in-string notes-lsp--directional "" text t t) t t)))

;;; In a buffer

(defconst notes-lsp--maximum-reordered 8000
  "Lines with more characters than this are shown in the order of their characters.")

(defconst notes-lsp--maximum-directional 200
  "As are lines with more directional characters than this.")

(defvar-local notes-lsp--unordered nil
  "Non-nil if `bidi-display-reordering' is off because of a line in this buffer.")
(put 'notes-lsp--unordered 'permanent-local t)
(defvar-local notes-lsp--order-timer nil "Timer that looks whether it may be on again.")
(put 'notes-lsp--order-timer 'permanent-local t)

(defun notes-lsp--hard-line (begin end)
  "Return where, from BEGIN to END, a line begins that is hard to show, or nil.
BEGIN is the beginning of a line.  Takes time in proportion to END - BEGIN."
  (save-excursion
    (goto-char begin)
    (let (found)
      (while (and (not found) (< (point) end))
        (let ((start (point)) (count 0) stop)
          (setq stop (if (search-forward "\n" (min (point-max) (+ start 1 notes-lsp--maximum-reordered)) t)
                         (point)
                       (point-max)))
          (if (> (- stop start) (1+ notes-lsp--maximum-reordered))
              (setq found start)
            (goto-char start)
            (while (and (<= count notes-lsp--maximum-directional)
                        (re-search-forward notes-lsp--directional stop t))
              (setq count (1+ count)))
            (when (> count notes-lsp--maximum-directional) (setq found start))
            (goto-char stop))))
      found)))

(defun notes-lsp--order-text (&optional begin end)
  "Show the current buffer in an order that takes no long time to find.
Look at the lines from BEGIN to END only, which have changed, if given."
  (save-match-data
    (save-excursion
      (save-restriction
        (widen)
        (let* ((least (max (point-min) (- (or begin (point-min)) notes-lsp--maximum-reordered 1)))
               (start (progn (goto-char (or begin (point-min)))
                             (if (search-backward "\n" least t) (1+ (point)) least)))
               (hard (notes-lsp--hard-line start (or end (point-max)))))
          (cond
           (hard
            (setq notes-lsp--unordered t)
            (setq-local bidi-display-reordering nil))
           ((and notes-lsp--unordered (null begin))
            (setq notes-lsp--unordered nil)
            (kill-local-variable 'bidi-display-reordering))))))))

(defun notes-lsp--keep-order (begin end _)
  "Look at the lines between BEGIN and END, which have just changed.
Once a line was hard to show, look at the whole text again when it rests."
  (notes-lsp--order-text begin end)
  (when notes-lsp--unordered
    (when notes-lsp--order-timer (cancel-timer notes-lsp--order-timer))
    (setq notes-lsp--order-timer
          (run-with-timer 1 nil #'notes-lsp--order-again (current-buffer)))))

(defun notes-lsp--order-again (buffer)
  "Look at the whole text of BUFFER again."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq notes-lsp--order-timer nil)
      (notes-lsp--order-text))))

(put 'notes-lsp--keep-order 'permanent-local-hook t)

(defun notes-lsp--watch-order ()
  "Keep what the current buffer shows easy to show, from now on."
  (add-hook 'after-change-functions #'notes-lsp--keep-order nil t)
  (notes-lsp--order-text))

(defun notes-lsp--unwatch-order ()
  "Leave the current buffer as `notes-lsp--watch-order' found it."
  (remove-hook 'after-change-functions #'notes-lsp--keep-order t))

(provide 'notes-lsp-shown)
;;; notes-lsp-shown.el ends here
