;;; notes-lsp-reread.el --- A file's text takes the place of a note's  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Reverting, recovering and revisiting put the text of a file into a buffer.
;; Sent as a change, that would delete what was never saved, for everyone.  So
;; from before the text is replaced until the note is opened again nothing is
;; sent, though Emacs may ask something meanwhile, timers run, and C-g ends it.
;;
;; A buffer that shows the bytes of the file, as `hexl-mode' does, is no note.

;;; Code:

(require 'notes-lsp-service)
(require 'notes-lsp-capture)
(require 'notes-lsp-gate)
(require 'notes-lsp-condition)
(require 'notes-lsp-buffer)

(defun notes-lsp--begin-reading (note)
  "Send what was typed in NOTE before the text of a file takes its place."
  (notes-lsp--flush note)
  (setf (notes-lsp--note-reading note) (notes-lsp--text note))
  (with-current-buffer (notes-lsp--note-buffer note)
    (setq notes-lsp--place (cons (notes-lsp--note-reading note) (point)))))

(defun notes-lsp--read-in (note read done)
  "Call READ, which may put other text in place of NOTE's, and return its value.
If it did, even if it failed or was quit, call DONE in the buffer."
  (let (finished)
    (unwind-protect
        (prog1 (funcall read)
          (setq finished t))
      (let ((before (notes-lsp--note-reading note)))
        (when (and before (memq note notes-lsp--notes)
                   (buffer-live-p (notes-lsp--note-buffer note)))
          (with-current-buffer (notes-lsp--note-buffer note)
            (if (or finished (not (equal before (notes-lsp--text note))))
                (funcall done)
              (setf (notes-lsp--note-reading note) nil)
              (notes-lsp--schedule note))))))))

;;; Text from the file

(defvar notes-lsp--reverting nil "The buffer that is being reverted, or nil.")

(defun notes-lsp--before-revert ()
  "Send what was typed before the file's text takes its place."
  (let ((note (notes-lsp--current)))
    (when note
      (notes-lsp--flush note)
      (notes-lsp--keep-words note)
      ;; Otherwise no one would end it.
      (when (eq notes-lsp--reverting (current-buffer)) (notes-lsp--begin-reading note)))))

(defun notes-lsp--after-revert ()
  "Open the note again with the text that the file had.
It is the file, not what the user did: the service compares it with what
the file last held, so that no words are lost because they were not saved."
  (let ((note (notes-lsp--current)))
    (when note
      (setf (notes-lsp--note-reading note) nil)
      (if (notes-lsp--note-open note)
          (progn
            (setq notes-lsp--last-version
                  (max notes-lsp--last-version (notes-lsp--note-version note)))
            (notes-lsp--did-open note nil))
        ;; Of the file's text the next service learns what was typed since.
        (setf (notes-lsp--note-had note) nil
              (notes-lsp--note-opened note)
              (unless (or (buffer-modified-p) (notes-lsp--invalid-position note))
                (notes-lsp--text note)))
        (if (notes-lsp-service-ready-p)
            ;; It has become ready while the file was read.
            (notes-lsp--did-open note t)
          (notes-lsp--want-full-text note)
          (notes-lsp--schedule note))))))

(defun notes-lsp--revert (revert &rest arguments)
  "Call REVERT with ARGUMENTS; a note is opened again even if that is quit."
  (let* ((buffer (or (buffer-base-buffer) (current-buffer)))
         (note (with-current-buffer buffer (notes-lsp--current)))
         (notes-lsp--reverting buffer))
    (if note
        (notes-lsp--read-in note (lambda () (apply revert arguments)) #'notes-lsp--after-revert)
      (apply revert arguments))))

(advice-add 'revert-buffer :around #'notes-lsp--revert)

(defun notes-lsp--recover-file (recover file)
  "Call RECOVER with FILE, whose auto-save file takes the place of the text.
If FILE is a note, that text is an older one, as after a revert: what others
wrote since is not what the user has deleted."
  (let* ((buffer (get-file-buffer file))
         (note (and buffer (with-current-buffer buffer (notes-lsp--current)))))
    (if (null note)
        (funcall recover file)
      (notes-lsp--begin-reading note)
      (notes-lsp--read-in note (lambda () (funcall recover file)) #'notes-lsp--after-revert))))

(advice-add 'recover-file :around #'notes-lsp--recover-file)

;;; Bytes of the file

(defun notes-lsp--leave-to-bytes ()
  "Make the current buffer, which shows bytes now, a note no longer."
  (let ((note (notes-lsp--current)))
    (notes-lsp--leave note "bytes")
    (notes-lsp--remember-left note)
    (notes-lsp--soon (notes-lsp--warn "Shared only when you save; C-x C-v RET opens the note"))))

(defun notes-lsp--revisit (visit buffer filename &optional nowarn rawfile &rest more)
  "Call VISIT with BUFFER, FILENAME, NOWARN, RAWFILE and MORE.
It may put the file's text, or its bytes, in place of what BUFFER, a note, has."
  (let ((note (with-current-buffer buffer (notes-lsp--current)))
        (call (lambda () (apply visit buffer filename nowarn rawfile more))))
    (if (null note)
        (funcall call)
      (notes-lsp--begin-reading note)
      (notes-lsp--read-in note call
                          (if (not rawfile)
                              #'notes-lsp--after-revert
                            (lambda ()
                              ;; Emacs itself has just looked when the file was written.
                              (setf (notes-lsp--note-file-stamp note) nil)
                              (notes-lsp--leave-to-bytes)))))))

(advice-add 'find-file-noselect-1 :around #'notes-lsp--revisit)

(defun notes-lsp--hexlify (hexlify)
  "Call HEXLIFY, which shows the current buffer as bytes; that is no note."
  (let ((note (notes-lsp--current)))
    (if (null note)
        (funcall hexlify)
      (notes-lsp--begin-reading note)
      (notes-lsp--read-in note hexlify #'notes-lsp--leave-to-bytes))))

(advice-add 'hexlify-buffer :around #'notes-lsp--hexlify)
;; The text is back.
(advice-add 'hexl-mode-exit :after #'notes-lsp--come-back)

(provide 'notes-lsp-reread)
;;; notes-lsp-reread.el ends here
