;;; notes-lsp-file.el --- The working file of a note  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; This Emacs writes the file of a note, and sometimes another program does.
;; The service merges what another program writes there into the note, and it
;; reaches the buffer as an edit.  So while the note is open, Emacs need not
;; ask about a file that has changed: it is told that it does not know when
;; the file was last written.  That also holds while the service restarts:
;; it merges the file as soon as it is back.  The service keeps a list of
;; the notes whose files are outside the notes directory.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-service)
(require 'notes-lsp-capture)

(declare-function notes-lsp--drain "notes-lsp-gate" (note))
(declare-function notes-lsp--enqueue "notes-lsp-gate" (method params))
(defvar notes-lsp--running)
(defvar notes-lsp-command)

(defconst notes-lsp--merge-seconds 0.1
  "How long saving waits until a file that has changed is merged.")

(defun notes-lsp--bytes-p ()
  "Return non-nil if the current buffer shows the bytes of a file, not its text."
  (or (not enable-multibyte-characters) find-file-literally (eq major-mode 'hexl-mode)))

(defun notes-lsp--file-stamp ()
  "Return what identifies the current buffer's file, nil without one.
A symbolic link stays as it is when the file that it names is written."
  (let ((attributes (and buffer-file-name
                         (file-attributes (file-chase-links buffer-file-name)))))
    (and attributes
         (cons (file-attribute-modification-time attributes)
               (file-attribute-size attributes)))))

(defun notes-lsp--watch-file (note)
  "Let the service watch NOTE's file from now on, and not Emacs."
  (with-current-buffer (notes-lsp--note-buffer note)
    (when buffer-file-name
      (unless (or (buffer-modified-p) (equal 0 (visited-file-modtime))
                  (not (verify-visited-file-modtime)))
        (setf (notes-lsp--note-file-stamp note) (notes-lsp--file-stamp)))
      (set-visited-file-modtime 0))))

(defun notes-lsp--unwatch-file (note)
  "Let Emacs watch NOTE's file again, as the service no longer does."
  (when (buffer-live-p (notes-lsp--note-buffer note))
    (with-current-buffer (notes-lsp--note-buffer note)
      (when (and buffer-file-name (notes-lsp--note-file-stamp note)
                 (equal buffer-file-name (notes-lsp--note-visited note)))
        (set-visited-file-modtime (car (notes-lsp--note-file-stamp note)))))))

(define-error 'notes-lsp-save-refused "Save not confirmed" 'quit) ; an error would not prevent it

(defun notes-lsp--before-save ()
  "Merge what another program has just written to the file of this note."
  (let ((note (notes-lsp--current)))
    (when (and note
               (if (notes-lsp--note-open note)
                   (eq 'no-text (notes-lsp--guarded "saving" (notes-lsp--merge-file note)))
                 (notes-lsp--file-unmerged-p note))
               ;; Emacs itself asks this about files that it watches.
               (not (yes-or-no-p (format "%s has changed since visited or saved.  Save anyway? "
                                         (file-name-nondirectory buffer-file-name)))))
      (signal 'notes-lsp-save-refused nil))))

(defun notes-lsp--file-unmerged-p (note)
  "Return whether the file of NOTE holds what neither Emacs nor NOTE has.
Nil if Emacs itself has looked."
  (and (equal 0 (visited-file-modtime))
       (not (equal (notes-lsp--file-stamp) (notes-lsp--note-file-stamp note)))
       (let ((hash (car (notes-lsp--file-contents buffer-file-name))))
         (and hash (not (equal hash (notes-lsp--note-file-hash note)))))))

(defun notes-lsp--joined-p (note)
  "Return non-nil if another person may be typing in NOTE now."
  (or (notes-lsp--note-here note)
      (notes-lsp--note-peers note)
      (cl-some (lambda (peer) (not (equal "unreachable" (plist-get peer :state))))
               (plist-get (notes-lsp--note-status note) :peers))))

(defun notes-lsp--save-without-newline (save &rest arguments)
  "Call SAVE with ARGUMENTS; add no final newline to a joined note.
Another person may be in the middle of the last word: the newline would come
between its letters."
  (let ((note (notes-lsp--current)))
    (if (and note (notes-lsp--note-open note) (notes-lsp--joined-p note))
        (let ((require-final-newline nil)) (apply save arguments))
      (apply save arguments))))

(advice-add 'basic-save-buffer :around #'notes-lsp--save-without-newline)

(defun notes-lsp--write-region (write start end file &optional append visit &rest more)
  "Call WRITE with START, END, FILE, APPEND, VISIT and MORE.
Refuse if that would replace the file of this note by a part of it: it would
look as if another program had deleted the rest, for everyone."
  (when (and (integer-or-marker-p start)
             (not (or append (eq visit t) (stringp visit)))
             (notes-lsp--current)
             buffer-file-name
             (< (abs (- end start)) (buffer-size))
             (equal (file-truename file) (file-truename buffer-file-name)))
    (user-error "Notes: Choose another file: a part cannot replace the note"))
  (apply write start end file append visit more))

(advice-add 'write-region :around #'notes-lsp--write-region)

(defun notes-lsp--merge-file (note)
  "Send the service NOTE's file if it has changed, and wait for the result.
Return `no-text' if the file is none."
  (notes-lsp--flush note)
  (pcase-let ((`(,hash . ,text) (unless (equal (notes-lsp--file-stamp) (notes-lsp--note-file-stamp note))
                                  (notes-lsp--file-contents buffer-file-name))))
    (cond ((or (null hash) (equal hash (notes-lsp--note-file-hash note))) nil)
          ((null text) 'no-text)
          (t (notes-lsp-service-notify :notes/file
                                       `(:uri ,(notes-lsp--note-uri note) :text ,text))
             (let ((notes-lsp--running nil))
               (notes-lsp--wait notes-lsp--merge-seconds
                                (lambda ()
                                  (notes-lsp--drain note)
                                  (equal hash (notes-lsp--note-file-hash note)))))))))

(defun notes-lsp--file-contents (path)
  "Return (HASH . TEXT) of the file at PATH; TEXT is nil if it is none."
  (when (and (file-regular-p path) (file-readable-p path))
    (with-temp-buffer
      (set-buffer-multibyte nil)
      (insert-file-contents-literally path)
      (let ((text (decode-coding-string (buffer-string) 'utf-8-unix)))
        (cons (secure-hash 'sha256 (current-buffer))
              (unless (string-match-p notes-lsp--invalid-character text) text))))))

(defun notes-lsp--after-save ()
  "Tell the service that the working file was written.
What a hook has changed since then is not in the file."
  (let ((note (notes-lsp--current)))
    (when note
      (setf (notes-lsp--note-file-stamp note) (notes-lsp--file-stamp))
      (when (or (notes-lsp--note-open note) (notes-lsp-service-restarting-p))
        (set-visited-file-modtime 0))
      (when (notes-lsp--note-open note)
        (unless (buffer-modified-p) (notes-lsp--flush note))
        (notes-lsp-service-notify :textDocument/didSave
                                  `(:textDocument (:uri ,(notes-lsp--note-uri note))))))))

(defun notes-lsp--file-known (note params)
  "Take in that NOTE has all that the file with the hash in PARAMS holds.
A buffer that holds the same has nothing to be saved."
  (setf (notes-lsp--note-file-hash note) (plist-get params :sha256)
        (notes-lsp--note-file-stamp note) nil)
  (with-current-buffer (notes-lsp--note-buffer note)
    (when (and (buffer-modified-p)
               (equal (plist-get params :sha256)
                      (secure-hash 'sha256 (encode-coding-string (notes-lsp--text note)
                                                                 'utf-8-unix))))
      (set-buffer-modified-p nil))))

(notes-lsp--handle 'notes/file (lambda (params) (notes-lsp--enqueue 'notes/file params)))

;;; Files outside the notes directory

(defvar notes-lsp--elsewhere '(nil)
  "(STAMP . NOTES): the service's list as last read, with (PATH . TRUENAME).")

(defun notes-lsp--elsewhere (directory)
  "Return the notes outside DIRECTORY, where the service keeps a list of them."
  (let* ((list (expand-file-name ".elsewhere" directory))
         (attributes (file-attributes list))
         (stamp (and attributes (cons (file-attribute-modification-time attributes)
                                      (file-attribute-size attributes)))))
    (unless (equal stamp (car notes-lsp--elsewhere))
      (setq notes-lsp--elsewhere
            (cons stamp
                  (and stamp
                       (with-temp-buffer
                         (insert-file-contents list)
                         (let (notes)
                           (while (re-search-forward "^[^ \n]+ \\(.+\\)$" nil t)
                             (let ((path (match-string 1)))
                               (push (cons path (file-truename path)) notes)))
                           notes))))))
    (cdr notes-lsp--elsewhere)))

(defun notes-lsp--directory ()
  "Return the directory in which the service keeps working files."
  (file-name-as-directory
   (expand-file-name (or (cadr (member "--notes" notes-lsp-command))
                         (getenv "NOTES_DIR")
                         "~/Notes"))))

(defun notes-lsp--path-in (directory path)
  "Return PATH, or where in DIRECTORY the file is to which a link at PATH leads."
  (if (string-prefix-p directory path)
      path
    (expand-file-name (file-relative-name (file-truename path) (file-truename directory))
                      directory)))

(defun notes-lsp--note-path (path)
  "Return by which path the service may know the file PATH, nil if by none."
  (if (file-in-directory-p path (notes-lsp--directory))
      (notes-lsp--path-in (notes-lsp--directory) (expand-file-name path))
    (let ((truename (file-truename path)))
      (car (cl-find-if (lambda (note)
                         (or (equal (car note) path) (equal (cdr note) truename)))
                       (notes-lsp--elsewhere (notes-lsp--directory)))))))

(provide 'notes-lsp-file)
;;; notes-lsp-file.el ends here
