;;; notes-lsp-inert.el --- The text of a note is text, and sets nothing  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Emacs takes orders from the text of a file: variables and modes at its
;; beginning and end, a mode or a format for what its first bytes look like,
;; and a coding system.  Other people also write the text of a note.  So
;; Emacs ignores all of this in the files of notes, whatever opens them:
;; the commands of this package, `find-file', `revert-buffer', a desktop.
;; Their mode comes from their name, and from the person's own
;; `.dir-locals.el'.

;;; Code:

(require 'notes-lsp-capture)
(require 'notes-lsp-file)

(defun notes-lsp--inert-file-p (path)
  "Return non-nil if PATH is the file of a note, or of a recovered text."
  (and (stringp path) (not (file-remote-p path))
       (save-match-data (ignore-errors (notes-lsp--note-path path)))))

(defun notes-lsp--inert-p ()
  "Return non-nil if others may have written the text of the current buffer."
  (or (notes-lsp--current) (notes-lsp--inert-file-p buffer-file-name)))

(defun notes-lsp--without-locals (inhibited)
  "Return INHIBITED, or t in a note: its text sets no variables and no mode."
  (or inhibited (and (notes-lsp--inert-p) t)))

(defun notes-lsp--without-magic (choose &rest arguments)
  "Call CHOOSE, `set-auto-mode', with ARGUMENTS.
A note's mode is that of its name, or else `text-mode'."
  (if (notes-lsp--inert-p)
      (let (interpreter-mode-alist magic-mode-alist (magic-fallback-mode-alist '(("" . text-mode))))
        (apply choose arguments))
    (apply choose arguments)))

(defun notes-lsp--without-coding (find path size &rest arguments)
  "Call FIND, `find-auto-coding', with PATH, SIZE and ARGUMENTS.
Not for a note: what it says of its coding system is text, and it is UTF-8."
  (cond ((not (notes-lsp--inert-file-p path)) (apply find path size arguments))
        ;; Emacs examines the text of a file that is written, and the bytes of one that is read.
        (enable-multibyte-characters nil)
        ((looking-at "\xef\xbb\xbf") '(utf-8-with-signature . auto-coding-alist))
        ((string-match-p "[\x3fff80-\x3fffff]"
                         (decode-coding-string
                          (buffer-substring (point) (+ (point) size)) 'utf-8))
         nil)
        (t '(utf-8 . auto-coding-alist))))

(defun notes-lsp--without-format (decode &rest arguments)
  "Call DECODE, `format-decode', with ARGUMENTS; a note has no other format."
  (let ((format-alist (if (notes-lsp--inert-p) nil format-alist)))
    (apply decode arguments)))

(advice-add 'inhibit-local-variables-p :filter-return #'notes-lsp--without-locals)
(advice-add 'set-auto-mode :around #'notes-lsp--without-magic)
(advice-add 'find-auto-coding :around #'notes-lsp--without-coding)
(advice-add 'format-decode :around #'notes-lsp--without-format)

(provide 'notes-lsp-inert)
;;; notes-lsp-inert.el ends here
