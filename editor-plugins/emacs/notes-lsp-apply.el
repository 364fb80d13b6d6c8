;;; notes-lsp-apply.el --- Edits of others go into a note's buffer  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; An edit of the service is a list of replaced parts, each at its place in
;; the text before any of them.  They are applied from the bottom up, so that
;; marks outside of them stay where they are.  If the length is then not what
;; the service says, the whole text is sent.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-service)
(require 'notes-lsp-capture)

(defvar buffer-undo-tree)
(declare-function notes-lsp--report-cursor-soon "notes-lsp-presence" (note))

(defvar notes-lsp--undo-awaited nil "Non-nil until the edit of an undo has come.")

(defun notes-lsp--spans (edits base)
  "Return EDITS of the widened current buffer as (BEGIN END TEXT), last first.
Lines are counted from BASE, see `notes-lsp--locate'.  Signal an error if
EDITS are not in order."
  (let ((least (point-min)) spans)
    (cl-loop
     for edit across edits
     do (let* ((range (plist-get edit :range))
               (begin (notes-lsp--locate (plist-get range :start) base))
               (end (notes-lsp--locate (plist-get range :end) base)))
          (unless (<= least begin end) (error "Edits are out of order"))
          (setq least end)
          (push (list begin end (plist-get edit :newText)) spans)))
    spans))

(defun notes-lsp--certainly (change)
  "Call CHANGE, which changes the size of the buffer, even if a hook fails."
  (let ((size (buffer-size)))
    (condition-case nil
        (funcall change)
      (error (when (= size (buffer-size))
               (let ((inhibit-modification-hooks t)) (funcall change)))))))

(defun notes-lsp--replace (begin end text)
  "Replace what is between BEGIN and END by TEXT.
Insert first: a mark at BEGIN stays, one inside or at END follows the text."
  (unless (string-empty-p text)
    (notes-lsp--certainly (lambda () (goto-char begin) (insert text))))
  (when (< begin end)
    (let ((length (length text)))
      (notes-lsp--certainly
       (lambda () (delete-region (+ begin length) (+ end length)))))))

(defconst notes-lsp--maximum-parts 64
  "An edit of more parts than this is one change for all hooks.
To call them for each of 5,000 parts takes longer than a person waits.")

(defun notes-lsp--replace-all (spans)
  "Replace each of SPANS, a list of (BEGIN END TEXT), the last first.
None is left out: a quit is heard between two of them, and takes place when
all are done."
  (pcase-dolist (`(,begin ,end ,text) spans)
    (notes-lsp--replace begin end text)
    (notes-lsp--hear-quit)))

(defmacro notes-lsp--without-file-prompts (&rest body)
  "Evaluate BODY; a file that changed on disk raises no question now."
  (declare (indent 0) (debug t))
  `(let ((modtime (and buffer-file-name (not (buffer-modified-p))
                       (not (verify-visited-file-modtime))
                       (visited-file-modtime))))
     (when modtime (set-visited-file-modtime 0))
     (unwind-protect (progn ,@body)
       (when modtime (set-visited-file-modtime modtime)))))

(defun notes-lsp--apply (note params)
  "Apply the edit PARAMS of the service to NOTE, or none of it."
  (condition-case problem
      (let ((spans (notes-lsp--in-note note
                     (notes-lsp--spans (plist-get params :edits) (notes-lsp--base note)))))
        (notes-lsp--apply-spans note spans params))
    (error (notes-lsp--repair note (error-message-string problem)))))

(defun notes-lsp--apply-spans (note spans params)
  "Apply SPANS, made from PARAMS, to NOTE; compare the length; acknowledge."
  (notes-lsp--in-note note
    (let ((anchor (and spans        ; edits come in neighbourhoods
                       (notes-lsp--position note (caar (last spans)))
                       (notes-lsp--note-anchor note)))
          (mark-ends deactivate-mark)
          ;; A read-only buffer has no unsaved edits of the user.
          (clean (and buffer-read-only (not (buffer-modified-p))))
          (inhibit-quit t)
          (inhibit-read-only t)
          (inhibit-modification-hooks nil))
      (setf (notes-lsp--note-applying note) t)
      (unwind-protect
          (notes-lsp--without-file-prompts
            (let ((buffer-undo-list t))
              (if (nthcdr notes-lsp--maximum-parts spans)
                  (combine-change-calls (caar (last spans)) (cadar spans)
                    (notes-lsp--replace-all spans))
                (notes-lsp--replace-all spans))))
        (setf (notes-lsp--note-applying note) nil)
        (when clean (set-buffer-modified-p nil))
        (setq deactivate-mark mark-ends)
        (notes-lsp--forget-undo)
        (notes-lsp--settle note)
        (setf (notes-lsp--note-anchor note) anchor))
      (setf (notes-lsp--note-rev note) (plist-get params :rev))))
  (notes-lsp--return-to-place note)
  (notes-lsp--report-cursor-soon note)
  (when (equal (plist-get params :cause) "undo") (setq notes-lsp--undo-awaited nil))
  (when (and spans (equal (plist-get params :cause) "undo"))
    (notes-lsp--show-undone note (car (last spans))))
  (if (eql (plist-get params :bytes) (notes-lsp--byte-count note))
      (notes-lsp-service-notify :notes/ack
                                `(:uri ,(notes-lsp--note-uri note)
                                  :version ,(notes-lsp--note-version note)
                                  :rev ,(notes-lsp--note-rev note)))
    (notes-lsp--repair note "its length was not what the service expected")))

(defvar-local notes-lsp--place nil "Text and point before a file's text came.")
(put 'notes-lsp--place 'permanent-local t) ; that text brings its major mode

(defun notes-lsp--return-to-place (note)
  "Put point where it was before a file's text came, if NOTE is as it was then."
  (with-current-buffer (notes-lsp--note-buffer note)
    (pcase-let ((`(,text . ,place) notes-lsp--place) (windows (get-buffer-window-list nil nil t)))
      (when (and text (equal text (notes-lsp--text note)))
        (dolist (window windows) (set-window-point window (goto-char place)))))
    (setq notes-lsp--place nil)))

(defun notes-lsp--show-undone (note span)
  "Go to where SPAN, the first of what was undone in NOTE, is now."
  (with-current-buffer (notes-lsp--note-buffer note)
    (pcase-let ((`(,begin ,_ ,text) span)) (goto-char (+ begin (length text))))))

(defun notes-lsp--forget-undo ()
  "Empty the current buffer's undo list.
Its positions are those of a text that is gone.  So undo never reaches back
behind an edit of others, and never touches what they wrote."
  (unless (eq buffer-undo-list t) (setq buffer-undo-list nil))
  (when (boundp 'buffer-undo-tree) (setq buffer-undo-tree nil)))

(defun notes-lsp--byte-count (note)
  "Return the length of NOTE in UTF-8.  Takes constant time."
  (notes-lsp--in-note note
    (1- (position-bytes (point-max)))))

(defun notes-lsp--check (note params)
  "Compare NOTE with the length and the hash in PARAMS."
  (unless (and (eql (plist-get params :bytes) (notes-lsp--byte-count note))
               (equal (plist-get params :sha256)
                      (secure-hash 'sha256 (encode-coding-string
                                            (notes-lsp--text note) 'utf-8-unix))))
    (notes-lsp--repair note "it differed from the service's")))

(defun notes-lsp--repair (note why)
  "Send the full text of NOTE and say WHY."
  (notes-lsp--want-full-text note)
  (setq notes-lsp--log (concat notes-lsp--log (format "%s differed: %s\n"
                                                      (notes-lsp--note-uri note) why)))
  (notes-lsp--news "The text differed from the note; sent in full"))

(provide 'notes-lsp-apply)
;;; notes-lsp-apply.el ends here
