;;; notes-lsp-unsent.el --- Words that the service may not have read  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The service may hang, and then be killed.  When the text of a buffer goes
;; whose words it has not confirmed, they are kept in a file.  An answer of
;; the service proves that it has read them, and the file is removed;
;; otherwise the next service takes it.

;;; Code:

(require 'notes-lsp-service)
(require 'notes-lsp-capture)

(defconst notes-lsp--storing-seconds 2
  "A text counts as not stored after so long; each key takes a moment.")
(defconst notes-lsp--hang-seconds 3
  "How long an answer may take before the user is told of the file.")

(defvar notes-lsp--unsent-files nil "Files whose words the service may still read.")
(defvar notes-lsp--unsent-count 0 "How many files were written.")

(defun notes-lsp--await-reading (note)
  "The service has something of NOTE to read."
  (setf (notes-lsp--note-unread note) (float-time))
  (run-with-timer (+ 0.05 notes-lsp--storing-seconds) nil #'force-mode-line-update t))

(defun notes-lsp--has-read (note version)
  "The service has proved that it has read the text of NOTE with VERSION."
  (when (> version (notes-lsp--note-read note))
    (setf (notes-lsp--note-read note) version
          (notes-lsp--note-unread note) nil)
    (when (< version (notes-lsp--note-version note)) (notes-lsp--await-reading note))))

(defun notes-lsp--keep-words (note)
  "Keep the words of NOTE, whose text is about to go, if no service has them.
What the file has is safe."
  (let ((folder (plist-get notes-lsp--capabilities :unsent))
        (version (notes-lsp--note-version note)))
    (when (and folder (notes-lsp--note-id note)
               (buffer-modified-p (notes-lsp--note-buffer note))
               (or (notes-lsp--pending-p note)
                   (not (memql version (list (notes-lsp--note-read note) (notes-lsp--note-kept note))))))
      (setf (notes-lsp--note-kept note) version)
      (notes-lsp--watch-unsent (notes-lsp--write-unsent folder note)))))

(defun notes-lsp--write-unsent (folder note)
  "Write the text of NOTE into a file of FOLDER; return its path."
  (let* ((name (format "%s-%d-%d.json" (replace-regexp-in-string "[^A-Za-z0-9]" "" (notes-lsp--note-id note))
                       (emacs-pid) (cl-incf notes-lsp--unsent-count)))
         (path (expand-file-name name folder))
         (coding-system-for-write 'utf-8-unix))
    (with-file-modes #o700 (make-directory folder t))
    (with-file-modes #o600
      (write-region (json-serialize `(:id ,(notes-lsp--note-id note) :uri ,(notes-lsp--note-uri note)
                                      :run ,(plist-get notes-lsp--capabilities :run)
                                      :time ,(truncate (* 1000 (float-time)))
                                      :text ,(notes-lsp--text note)))
                    nil (concat path "~") nil 'silent))
    (rename-file (concat path "~") path t)
    path))

(defun notes-lsp--watch-unsent (path)
  "Remove the file at PATH if the service answers; else tell the user of it."
  (push path notes-lsp--unsent-files)
  (when (notes-lsp-service-ready-p)
    (notes-lsp-service-request-async
     :notes/status (notes-lsp--empty)
     (lambda (_) (notes-lsp--forget-unsent path))))
  (run-with-timer notes-lsp--hang-seconds nil
                  (lambda ()
                    (when (member path notes-lsp--unsent-files)
                      (notes-lsp--warn (format "The service hangs; your words are in %s"
                                               (abbreviate-file-name (file-name-directory path))))))))

(defun notes-lsp--forget-unsent (&optional path)
  "Remove the file at PATH, or all: the service has read the words."
  (dolist (file (if path (list path) notes-lsp--unsent-files))
    (setq notes-lsp--unsent-files (delete file notes-lsp--unsent-files))
    (ignore-errors (delete-file file))))

(defun notes-lsp--keep-all-words ()
  "Keep the words of all notes that no service has read."
  (dolist (note notes-lsp--notes)
    (when (buffer-live-p (notes-lsp--note-buffer note)) (notes-lsp--keep-words note))))

(provide 'notes-lsp-unsent)
;;; notes-lsp-unsent.el ends here
