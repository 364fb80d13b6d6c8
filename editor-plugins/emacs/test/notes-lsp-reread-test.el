;;; notes-lsp-reread-test.el --- Tests of text that comes from a file  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Emacs asks something, or is quit, in the middle of reading a file again.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hexl)
(require 'notes-lsp)
(require 'notes-mirror)

(defmacro notes-test-in-the-middle (form &rest body)
  "Evaluate BODY; when a file's text has come into the buffer, evaluate FORM.
Emacs asks about local variables there, and so runs timers."
  (declare (indent 1) (debug t))
  `(let ((middle (lambda (&rest _) ,form)))
     (advice-add 'hack-local-variables :before middle)
     (unwind-protect (progn ,@body)
       (advice-remove 'hack-local-variables middle))))

(defmacro notes-test-with-unsaved (&rest body)
  "Evaluate BODY in a note with words of this person and another in no file."
  (declare (indent 0) (debug t))
  `(notes-test-with "saved\n"
     (goto-char (point-max))
     (insert "mine\n")
     (notes-test-sync)
     (should (notes-test-receive (notes-test-edit '((2 0 2 0 "other\n")))))
     (should (equal notes-test-mirror "saved\nmine\nother\n"))
     ,@body))

(defmacro notes-test-said-later (&rest body)
  "Evaluate BODY, and return the line that a timer then warns with."
  (declare (indent 0) (debug t))
  `(let (warned)
     (cl-letf (((symbol-function 'notes-lsp--warn) (lambda (line) (setq warned line))))
       ,@body
       (should (notes-lsp--wait 120 (lambda () warned))))))

(defun notes-test-methods ()
  "Return the methods sent that say something about the text, the first one first."
  (nreverse (cl-loop for (method) in notes-test-sent
                     when (memq method '(:textDocument/didOpen :textDocument/didChange :textDocument/didClose))
                     collect method)))

(ert-deftest notes-test-a-question-while-reverting-sends-no-change ()
  (notes-test-with-unsaved
    (goto-char (point-max))
    (insert "last\n")
    (setq notes-test-sent nil)
    (let (middle)
      (notes-test-in-the-middle (progn (notes-lsp--drain notes-test-note)
                                       (notes-lsp--after-command)
                                       (setq middle (cons (notes-test-text) (notes-test-methods))))
        (revert-buffer t t))
      ;; The own last words had been sent before.
      (should (equal middle '("saved\n" :textDocument/didChange))))
    (should (equal (notes-test-methods) '(:textDocument/didChange :textDocument/didOpen)))
    (should (equal notes-test-mirror "saved\n"))
    (insert "more")
    (notes-test-sync)))

(ert-deftest notes-test-a-revert-that-is-quit-in-the-middle-opens-the-note-again ()
  (notes-test-with-unsaved
    (setq notes-test-sent nil)
    (should (eq 'quit (condition-case nil
                          (notes-test-in-the-middle (signal 'quit nil) (revert-buffer t t))
                        (quit 'quit))))
    (should (equal (notes-test-text) "saved\n"))
    (notes-lsp--drain notes-test-note)
    (should (equal (notes-test-methods) '(:textDocument/didOpen)))
    (insert "more")
    (notes-test-sync)))

(ert-deftest notes-test-a-revert-without-a-file-leaves-the-note-as-it-is ()
  (notes-test-with-unsaved
    (setq notes-test-sent nil)
    (rename-file file (concat file ".away"))
    (unwind-protect (should-error (revert-buffer t t))
      (rename-file (concat file ".away") file))
    (insert "more")
    (notes-test-sync)
    (should (equal (notes-test-methods) '(:textDocument/didChange)))))

(ert-deftest notes-test-a-declined-revert-sends-what-is-typed-later ()
  (notes-test-with-unsaved
    (cl-letf (((symbol-function 'yes-or-no-p) #'ignore)) (revert-buffer t))
    (setq notes-test-sent nil)
    (insert "more")
    (notes-test-sync)
    (should (equal (notes-test-methods) '(:textDocument/didChange)))))

(ert-deftest notes-test-a-service-that-comes-back-while-reverting-is-told-of-a-file ()
  (notes-test-with-unsaved
    (setf (notes-lsp--note-had notes-test-note) '(("run" 1 0)))
    (setq notes-test-sent nil)
    (notes-test-in-the-middle (progn (notes-lsp--offline) (notes-lsp--reattach))
      (revert-buffer t t))
    (should (equal (notes-test-methods) '(:textDocument/didOpen)))
    (should (equal notes-test-mirror "saved\n"))
    ;; That is how a file is opened, not a buffer in which words were deleted.
    (should (equal (plist-get (cdr (assq :textDocument/didOpen notes-test-sent)) :notes) '(:id "id")))))

(ert-deftest notes-test-recovering-that-is-quit-in-the-middle-opens-the-note-again ()
  (notes-test-with-unsaved
    (let ((rescued (let ((buffer-file-name file)) (make-auto-save-file-name))))
      (with-temp-file rescued (insert "rescued\n"))
      (set-file-times file '(10000 0))
      (setq notes-test-sent nil)
      (unwind-protect
          (cl-letf (((symbol-function 'yes-or-no-p) #'always))
            (should (eq 'quit (condition-case nil
                                  (notes-test-in-the-middle (progn (notes-lsp--drain notes-test-note)
                                                                   (signal 'quit nil))
                                    (recover-this-file))
                                (quit 'quit)))))
        (delete-file rescued))
      (should (equal (notes-test-text) "rescued\n"))
      (should (equal (notes-test-methods) '(:textDocument/didOpen))))))

(ert-deftest notes-test-a-note-visited-literally-is-left-without-a-change ()
  (notes-test-with-unsaved
    (goto-char (point-max))
    (insert "last\n")
    (setq notes-test-sent nil)
    (cl-letf (((symbol-function 'y-or-n-p)
               (lambda (prompt &rest _) (string-match-p "discard" prompt))))
      (should (equal (notes-test-said-later (find-file-literally file))
                     "Shared only when you save; C-x C-v RET opens the note")))
    (should (equal (notes-test-methods) '(:textDocument/didChange :textDocument/didClose)))
    (should (equal notes-test-mirror "saved\nmine\nother\nlast\n"))
    (should (equal (notes-test-text) "saved\n"))
    (should-not (notes-lsp--current))
    (should (equal notes-lsp--gone "shown as bytes"))
    (should (verify-visited-file-modtime))
    (should-error (notes-lsp--attach (notes-lsp--path-uri file)) :type 'user-error)))

(ert-deftest notes-test-a-hex-dump-is-not-sent ()
  (skip-unless (file-executable-p (expand-file-name hexl-program exec-directory)))
  (notes-test-with-unsaved
    (setq notes-test-sent nil buffer-undo-list nil)
    (notes-test-said-later (hexl-mode))
    (insert-file-contents file)         ; runs the hooks that watch the text, if any
    (should (equal (notes-test-methods) '(:textDocument/didClose)))
    (should (string-match-p "7361 7665 640a" (notes-test-text)))
    (should-not (notes-lsp--current))
    (should (equal notes-test-mirror "saved\nmine\nother\n"))
    (should-error (notes-lsp--attach (notes-lsp--path-uri file)) :type 'user-error)))

(ert-deftest notes-test-a-buffer-that-leaves-hexl-is-the-note-again ()
  (skip-unless (file-executable-p (expand-file-name hexl-program exec-directory)))
  (notes-test-with-unsaved
    (setq buffer-undo-list nil)
    (notes-test-said-later (hexl-mode))
    (should notes-lsp--gone)
    (setq notes-test-sent nil)
    (hexl-mode-exit)
    (should-not notes-lsp--gone)
    (should (setq notes-test-note (notes-lsp--current)))
    (should (equal (notes-test-methods) '(:textDocument/didOpen)))
    (should (equal (notes-test-text) "saved\nmine\nother\n"))))

(ert-deftest notes-test-a-note-without-a-mode-of-its-own-is-text-also-when-it-is-read-again ()
  (notes-test-with "saved\n"
    (let ((auto-mode-alist nil))
      (revert-buffer t t)
      (should (eq major-mode 'text-mode))
      (should (notes-lsp--current)))))

(ert-deftest notes-test-a-hex-dump-that-is-declined-leaves-the-note ()
  (notes-test-with-unsaved
    (setq notes-test-sent nil buffer-undo-list '((1 . 2)))
    (cl-letf (((symbol-function 'y-or-n-p) #'ignore)) (should-error (hexl-mode)))
    (insert "more")
    (notes-test-sync)
    (should (equal (notes-test-methods) '(:textDocument/didChange)))))

;;; Auto-saving

(ert-deftest notes-test-emacs-auto-saves-only-while-no-service-keeps-the-words ()
  (notes-test-with "saved\n"
    (notes-lsp-mode -1)
    (auto-save-mode 1)
    (let ((auto (make-auto-save-file-name)))
      (setq notes-test-note (notes-lsp--attach (notes-lsp--path-uri file) "id"))
      (should-not buffer-auto-save-file-name)
      (emacs-lisp-mode)
      (should-not buffer-auto-save-file-name)
      ;; What another Emacs has left is not this one's to delete.
      (write-region "rescued\n" nil auto nil 'silent)
      (notes-lsp--offline)
      (notes-lsp--reattach)
      (should (file-exists-p auto))
      (delete-file auto)
      (notes-lsp--offline)
      (insert "precious ")
      (emacs-lisp-mode)
      (do-auto-save t t)
      (should (equal "precious saved\n" (with-temp-buffer (insert-file-contents auto) (buffer-string))))
      (notes-lsp--reattach)
      (should-not buffer-auto-save-file-name)
      (should-not (file-exists-p auto))
      ;; All is stored when Emacs ends.
      (let ((notes-lsp--stored t)) (notes-lsp--offline))
      (should-not buffer-auto-save-file-name)
      (notes-lsp--reattach)
      (notes-lsp-mode -1)
      (should buffer-auto-save-file-name))))

(ert-deftest notes-test-a-person-who-wants-no-auto-save-files-gets-none ()
  (notes-test-with "saved\n"
    (notes-lsp-mode -1)
    (auto-save-mode -1)
    (setq notes-lsp--auto-saved nil
          notes-test-note (notes-lsp--attach (notes-lsp--path-uri file) "id"))
    (notes-lsp--offline)
    (should-not buffer-auto-save-file-name)
    (notes-lsp-mode -1)
    (should-not buffer-auto-save-file-name)))

(provide 'notes-lsp-reread-test)
;;; notes-lsp-reread-test.el ends here
