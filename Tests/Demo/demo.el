;;; demo.el --- The right side of the demo: joins the note of the left side  -*- lexical-binding: t -*-

;;; Commentary:

;; Waits for the ticket that the left side leaves in a file, and joins with it.

;;; Code:

(require 'notes-lsp)

(defvar demo-directory (getenv "NOTES_DEMO_DIR"))

(setq notes-lsp-name "Ben"
      notes-lsp-command
      (list (getenv "NOTES_LSP_BINARY")
            "--home" (expand-file-name "ben/home" demo-directory)
            "--notes" (expand-file-name "ben/notes" demo-directory)
            "--listen" "127.0.0.1:0"
            "--log" (expand-file-name "ben/log" demo-directory)))

(setq inhibit-startup-screen t)
(when (fboundp 'menu-bar-mode) (menu-bar-mode -1))

(defvar demo-timer nil "Looks for the ticket.")

(defun demo-join ()
  "Join as soon as the ticket is there."
  (let ((ticket (expand-file-name "ticket" demo-directory)))
    (when (file-exists-p ticket)
      (cancel-timer demo-timer)
      (notes-join (string-trim (with-temp-buffer (insert-file-contents ticket) (buffer-string)))))))

(setq demo-timer (run-with-timer 0.1 0.1 #'demo-join))

(provide 'demo)
;;; demo.el ends here
