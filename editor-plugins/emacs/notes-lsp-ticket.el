;;; notes-lsp-ticket.el --- Tickets, shown until they are put away  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A ticket is shown in a small window with the words to read aloud, broken
;; between words only; M-x notes-ticket shows it again.

;;; Code:

(require 'subr-x)
(require 'notes-lsp-service)
(require 'notes-lsp-capture)

(declare-function notes-lsp--become-note "notes-lsp-commands" (method params then &rest keys))

(defvar notes-lsp--tickets nil
  "Alist from a note's id to (TICKET WORDS READ-ONLY), the last one made.")

;;;###autoload
(defun notes-share (&optional read-only)
  "Share the current buffer: put a ticket into the kill ring and show it.
With a prefix argument READ-ONLY, people who join with it can only read.
Called from Lisp, wait for the ticket and return it."
  (interactive "P")
  (notes-lsp--become-note
   :notes/share (list :access (if read-only "read" "write"))
   (lambda (result)
     (let ((made (list (plist-get result :ticket) (or (plist-get result :words) "") read-only)))
       (setf (alist-get (plist-get result :id) notes-lsp--tickets nil nil #'equal) made)
       (notes-lsp--give-ticket made)))
   :waiting "Making a ticket…" :background t
   :patience (unless (called-interactively-p 'any) 30)))

(defun notes-lsp--give-ticket (made)
  "Copy and show the ticket that was MADE; return it."
  (kill-new (car made))
  (apply #'notes-lsp--show-ticket made)
  (notes-lsp--say "Ticket copied. :NotesTicket shows it again")
  (car made))

;;;###autoload
(defun notes-ticket ()
  "Show the last ticket of the current note again, and copy it again."
  (interactive)
  (let* ((note (notes-lsp--current))
         (made (and note (cdr (assoc (notes-lsp--note-id note) notes-lsp--tickets)))))
    (unless note (notes-lsp--refuse "Not a note. :NotesShare shares it and shows a ticket"))
    (unless made (notes-lsp--refuse ":NotesShare first: no ticket was made here yet"))
    (notes-lsp--give-ticket made)))

(defun notes-lsp--show-ticket (ticket words read-only)
  "Show TICKET and WORDS in a window of their own; READ-ONLY says for what."
  (with-current-buffer (get-buffer-create "*notes ticket*")
    (special-mode)
    (let ((inhibit-read-only t) (width (min 76 (- (frame-width) 4))))
      (erase-buffer)
      (insert (format "Anyone with this ticket can %s this note (one use):\n\n"
                      (if read-only "read" "edit"))
              (notes-lsp--wrapped ticket width) "\n")
      (unless (string-blank-p words)
        (insert "\nOr read aloud:\n" (notes-lsp--wrapped words width) "\n"))
      (insert (notes-lsp--here "\nCopied; :NotesTicket shows it again\n"))
      (goto-char (point-min)))
    (let ((window (display-buffer (current-buffer)
                                  '(display-buffer-at-bottom
                                    (window-height . fit-window-to-buffer)))))
      (when window (set-window-start window (point-min))))))

(defun notes-lsp--wrapped (text width)
  "Return TEXT in lines of at most WIDTH, broken between words where it can be."
  (let ((lines (list "")))
    (dolist (word (split-string text))
      (if (and (not (string-empty-p (car lines)))
               (> (+ (string-width (car lines)) 1 (string-width word)) width))
          (push word lines)
        (setcar lines (string-trim-left (concat (car lines) " " word))))
      (while (> (string-width (car lines)) width)
        (let ((line (pop lines)))
          (push (substring line 0 width) lines)
          (push (substring line width) lines))))
    (string-join (nreverse lines) "\n")))

(provide 'notes-lsp-ticket)
;;; notes-lsp-ticket.el ends here
