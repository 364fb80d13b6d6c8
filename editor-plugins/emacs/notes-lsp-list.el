;;; notes-lsp-list.el --- Lists that the service lays out  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A list shows the lines of an answer, which the service has laid out for
;; the width of the window.  Each line has a row, with what its keys act on.
;; A list that a window shows is updated when something has happened, and
;; point stays on its row.  Requests are made only when something happens.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-presence)

(defvar-local notes-lsp--source nil
  "(METHOD . PARAMS) of the request whose answer this list shows.")
(defvar-local notes-lsp--rows nil "For each line of this list its row, a plist or nil.")
(defvar-local notes-lsp--lines nil "The lines of this list, as the service sent them.")
(defvar-local notes-lsp--token nil
  "What names the lines of this list, so that only changes are sent again.")
(defconst notes-lsp--first-page 200
  "So many lines are asked for first; the rest when they are on the screen.")
(defvar-local notes-lsp--refreshing nil
  "Non-nil while an answer is awaited; `again' if it is old already.")
(defvar notes-lsp--news-timer nil "Timer that fills the lists soon.")

(define-derived-mode notes-lsp-list-mode special-mode "Notes list"
  "Parent of the lists of notes, people, items and states."
  (setq truncate-lines t)
  (setq-local revert-buffer-function (lambda (&rest _) (notes-lsp--refresh)))
  (hl-line-mode 1))
(define-key notes-lsp-list-mode-map "?" #'notes-lsp-list-keys)
(define-key notes-lsp-list-mode-map "n" #'next-line)
(define-key notes-lsp-list-mode-map "p" #'previous-line)

(defun notes-lsp-list-keys ()
  "Show what the keys of this list do."
  (interactive nil notes-lsp-list-mode)
  (let (lines)
    (map-keymap-internal
     (lambda (event command)
       (when (commandp command)
         (push (format "%-6s %s" (key-description (vector event))
                       (string-remove-suffix "." (car (split-string (documentation command) "\n"))))
               lines)))
     (current-local-map))
    (with-current-buffer (get-buffer-create "*notes keys*")
      (special-mode)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (string-join lines "\n") "\nq      Close this, and the list\n")
        (goto-char (point-min)))
      (pop-to-buffer (current-buffer)
                     '(display-buffer-below-selected (window-height . fit-window-to-buffer))))))

(defun notes-lsp--show-list (name mode method params &optional other-window)
  "Show the list called NAME, a buffer in MODE, of METHOD's answer to PARAMS.
Show it in the selected window, or in another one if OTHER-WINDOW.
Called from Lisp, return its buffer if the answer has come at once."
  (let ((buffer (get-buffer-create name))
        (source (cons method params)))
    (with-current-buffer buffer
      (unless (and (derived-mode-p mode) (equal source notes-lsp--source))
        (let ((inhibit-read-only t)) (erase-buffer))
        (funcall mode)
        (setq notes-lsp--source source notes-lsp--rows nil notes-lsp--token nil)))
    (notes-lsp--with-answer (result method (append (notes-lsp--list-params buffer (selected-window))
                                                   '(:opens t))
                                    :waiting "Fetching the list…" :what "The list")
      (if other-window (pop-to-buffer buffer) (pop-to-buffer-same-window buffer))
      (notes-lsp--fill buffer result)
      buffer)))

(defun notes-lsp--list-params (buffer window)
  "Return the params for the list in BUFFER, as wide as WINDOW."
  (with-current-buffer buffer
    (append (cdr notes-lsp--source)
            (list :width (window-max-chars-per-line window))
            (if notes-lsp--token (list :since notes-lsp--token)
              (list :atMost notes-lsp--first-page)))))

(defun notes-lsp--spliced (shown result part)
  "Return SHOWN, a vector, with what RESULT has as PART.
That is all of it, or what stands in place of some lines."
  (let ((first (plist-get result :first)))
    (if (null first) (plist-get result part)
      (vconcat (substring shown 0 first) (plist-get result part)
               (substring shown (+ first (plist-get result :removed)))))))

(defun notes-lsp--fill (buffer result)
  "Show RESULT, the answer to a list's request, in BUFFER; keep the place."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (let* ((gc-cons-threshold (max gc-cons-threshold (* 64 1024 1024)))
             (lines (notes-lsp--spliced notes-lsp--lines result :lines))
             (rows (vconcat (notes-lsp--spliced notes-lsp--rows result :rows)))
             (first (null notes-lsp--rows))
             (text (mapconcat #'identity lines "\n"))
             (windows (get-buffer-window-list buffer nil t))
             (places (mapcar (lambda (window) (notes-lsp--list-place (window-point window)))
                             windows))
             (place (notes-lsp--list-place (point))))
        (setq notes-lsp--lines lines notes-lsp--token (plist-get result :token))
        (unless (and (not first) (equal text notes-lsp--list-text) (equal rows notes-lsp--rows))
          (setq notes-lsp--rows rows notes-lsp--list-text text)
          (let ((inhibit-read-only t))
            (erase-buffer)
            (insert text)
            (notes-lsp--show-headings rows)
            (set-buffer-modified-p nil))
          (goto-char (notes-lsp--list-find place))
          (cl-mapc (lambda (window place) (set-window-point window (notes-lsp--list-find place)))
                   windows places))
        (when (eq t (plist-get result :more)) (notes-lsp--refresh))))))

(defvar-local notes-lsp--list-text nil "The lines of this list, as the service sent them.")

(defun notes-lsp--show-headings (rows)
  "Mark the lines that have no row among ROWS, and name commands as here."
  (goto-char (point-min))
  (cl-loop for row across rows
           do (unless row
                (let* ((end (line-end-position))
                       (here (notes-lsp--here (buffer-substring (point) end))))
                  (delete-region (point) end)
                  (insert (propertize here 'face 'bold))))
           do (forward-line 1)))

(defun notes-lsp--row-at (place)
  "Return the row of the line at PLACE, or nil."
  (let ((index (1- (line-number-at-pos place))))
    (and (< index (length notes-lsp--rows)) (aref notes-lsp--rows index))))

(defun notes-lsp--row-key (row)
  "Return by what ROW is known again on another line; nil if it is none."
  (and row (list (plist-get row :id) (plist-get row :item) (plist-get row :peer)
                 (plist-get row :heads))))

(defun notes-lsp--list-place (place)
  "Return what line PLACE is on: its row's key, its number, and the column."
  (save-excursion
    (goto-char place)
    (list (notes-lsp--row-key (notes-lsp--row-at place)) (line-number-at-pos) (current-column))))

(defun notes-lsp--list-find (place)
  "Return where what `notes-lsp--list-place' returned as PLACE is now.
A list that is shown for the first time begins at its first row."
  (pcase-let* ((`(,key ,number ,column) place)
               (index (or (and key (cl-position key notes-lsp--rows :test #'equal
                                                :key #'notes-lsp--row-key))
                          (and (= number 1) (cl-position-if #'identity notes-lsp--rows))
                          (1- number))))
    (save-excursion
      (goto-char (point-min))
      (forward-line index)
      (move-to-column column)
      (point))))

(defun notes-lsp--row (member)
  "Return the row at point, which must have MEMBER, a keyword."
  (let ((row (notes-lsp--row-at (point))))
    (unless (plist-get row member) (user-error "Notes: Move to a line with an entry first"))
    row))

(defmacro notes-lsp--define-row-command (name member doc &rest body)
  "Define the command NAME, which acts on the `row' at point, with DOC and BODY.
The row must have MEMBER, a keyword."
  (declare (indent 2) (doc-string 3) (debug t))
  `(defun ,name ()
     ,doc
     (interactive nil notes-lsp-list-mode)
     (let ((row (notes-lsp--row ,member))) ,@body)))

;;; News

(defun notes-lsp--refresh ()
  "Fill the list in the current buffer again, when the answer comes."
  (let ((buffer (current-buffer)))
    (cond
     ((not (and notes-lsp--source (notes-lsp-service-ready-p))) nil)
     (notes-lsp--refreshing (setq notes-lsp--refreshing 'again))
     (t
      (setq notes-lsp--refreshing t)
      (notes-lsp-service-request-async
       (car notes-lsp--source)
       (notes-lsp--list-params buffer
                               (or (get-buffer-window buffer t) (selected-window)))
       (lambda (result)
         (notes-lsp--refreshed buffer)
         (notes-lsp--soon (notes-lsp--fill buffer result)))
       :error (lambda (_) (notes-lsp--refreshed buffer)))))))

(defun notes-lsp--refreshed (buffer)
  "Note that BUFFER awaits no answer any more."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (eq notes-lsp--refreshing 'again) (notes-lsp--on-news))
      (setq notes-lsp--refreshing nil))))

(defun notes-lsp--refresh-shown ()
  "Fill the lists that a window shows again."
  (setq notes-lsp--news-timer nil)
  (dolist (buffer (buffer-list))
    (when (and (buffer-local-value 'notes-lsp--source buffer) (get-buffer-window buffer t))
      (with-current-buffer buffer (notes-lsp--refresh)))))

(defun notes-lsp--on-news (&rest _)
  "Fill the lists again soon; called from message handlers, maybe often."
  (unless notes-lsp--news-timer (setq notes-lsp--news-timer (run-with-timer 0.1 nil #'notes-lsp--refresh-shown))))

(add-hook 'notes-lsp--news-hook #'notes-lsp--on-news)
(add-hook 'window-buffer-change-functions #'notes-lsp--on-news)

(provide 'notes-lsp-list)
;;; notes-lsp-list.el ends here
