;;; notes-lsp-ticket.el --- Tickets, shown until they are put away  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A ticket is shown in a small window with the words to read aloud, broken
;; between words only; M-x notes-ticket shows it again.

;;; Code:

(require 'subr-x)
(require 'notes-lsp-ask)
(require 'notes-lsp-capture)

(declare-function notes-lsp--about "notes-lsp-commands" (note &rest params))
(declare-function notes-lsp--become-note "notes-lsp-commands" (method params then &rest keys))
(declare-function notes-lsp--share-id "notes-lsp-screens" (id &optional params))
(defvar notes-lsp--source)

(defvar notes-lsp--tickets nil "Alist from a note's id to the last answer to notes/share.")

(defvar notes-lsp--shown-ticket nil
  "The id of the note whose ticket the window shows; nil after it was revoked.")

(defcustom notes-lsp-osc52 t
  "Non-nil means tickets go onto the clipboard of the terminal, by OSC 52.
A terminal that does not know this ignores it; tmux passes it on with
`set-clipboard on'."
  :type 'boolean :group 'notes-lsp)

;;;###autoload
(defun notes-share (&optional read-only uses hours)
  "Share the current buffer: put a ticket into the kill ring and show it.
With a prefix argument READ-ONLY, people who join with it can only read;
with two, ask for that, how many people may join (USES), and for how many
HOURS it is good.  Called from Lisp, wait for the ticket and return it."
  (interactive
   (if (equal current-prefix-arg '(16))
       (list (y-or-n-p "Read-only? ") (read-number "How many people may join: " 1)
             (read-number "For how many hours: " 24))
     (list current-prefix-arg)))
  (let ((id (plist-get (cdr notes-lsp--source) :id))
        (params (append (list :access (if read-only "read" "write")) (notes-lsp--ticket-params)
                        (and uses (list :uses uses)) (and hours (list :expiresIn (* 3600 hours))))))
    (if id (notes-lsp--share-id id params)
      (notes-lsp--become-note :notes/share params #'notes-lsp--give-ticket
                              :waiting "Making a ticket…" :background t
                              :patience (unless (called-interactively-p 'any) 30)))))

(defun notes-lsp--ticket-params ()
  "Return how tickets are to be shown."
  (list :qr t :width (min 76 (- (frame-width) 4))))

(defun notes-lsp--give-ticket (result)
  "Copy and show the ticket of RESULT, an answer to notes/share; return it."
  (let ((ticket (plist-get result :ticket)))
    (setf (alist-get (plist-get result :id) notes-lsp--tickets nil nil #'equal) result)
    (kill-new ticket)
    (when (and notes-lsp-osc52 (not (display-graphic-p)) (not noninteractive))
      (send-string-to-terminal
       (concat "\e]52;c;" (base64-encode-string (encode-coding-string ticket 'utf-8) t) "\a")))
    (notes-lsp--show-ticket result)
    (notes-lsp--say "Ticket copied. :NotesTicket shows it again")
    ticket))

;;;###autoload
(defun notes-ticket ()
  "Show the last ticket of the current note again if it is valid, or hide it."
  (interactive)
  (let* ((window (get-buffer-window "*notes ticket*"))
         (note (notes-lsp--current))
         (made (and note (cdr (assoc (notes-lsp--note-id note) notes-lsp--tickets)))))
    (cond (window (quit-window nil window))
          ((null note) (notes-lsp--refuse "Not a note. :NotesShare shares it and shows a ticket"))
          (made (notes-lsp-ask :notes/ticket (notes-lsp--about note :ticket (plist-get made :ticket))
                               (lambda (_) (notes-lsp--give-ticket made)) :background t))
          (t (notes-lsp--refuse ":NotesShare first: no ticket was made here yet")))))

(defun notes-lsp--show-ticket (result)
  "Show the ticket of RESULT, an answer to notes/share, in a window of its own."
  (setq notes-lsp--shown-ticket (plist-get result :id))
  (with-current-buffer (get-buffer-create "*notes ticket*")
    (special-mode)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (notes-lsp--here (string-join (plist-get result :lines) "\n")) "\n")
      (unless (seq-empty-p (plist-get result :qr))
        (insert (format "Below: a QR code of %d lines\n" (length (plist-get result :qr)))
                "\nOr scan:\n" (mapconcat #'identity (plist-get result :qr) "\n") "\n"))
      (goto-char (point-min)))
    (let ((window (display-buffer (current-buffer)
                                  '(display-buffer-at-bottom
                                    (window-height . notes-lsp--fit-ticket)))))
      (when window (set-window-start window (point-min))))))

(defun notes-lsp--tickets-revoked (event)
  "If EVENT says that the ticket on the screen no longer works, say so there."
  (let ((buffer (get-buffer "*notes ticket*")) (id (plist-get event :id)))
    (when (and buffer id (equal "tickets" (plist-get event :kind))
               (equal id notes-lsp--shown-ticket))
      (setq notes-lsp--shown-ticket nil)
      (with-current-buffer buffer
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert (notes-lsp--here "This ticket no longer works. :NotesShare makes a new one") "\n"))))))

(defun notes-lsp--fit-ticket (window)
  "Make WINDOW, which shows a ticket, as high as it may be."
  (fit-window-to-buffer window (max 15 (- (frame-height) 12))))

(provide 'notes-lsp-ticket)
;;; notes-lsp-ticket.el ends here
