;;; notes-lsp-service-test.el --- Tests of starting and giving up  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Programs that are not the service show what happens without one.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'notes-lsp)
(require 'notes-mirror)

(defun notes-test-wait (predicate)
  "Let things happen until PREDICATE returns non-nil.
What hangs fails after two minutes; how busy the machine is proves nothing."
  (should (notes-lsp--wait 120 predicate)))

(ert-deftest notes-test-a-missing-program-is-one-clear-line ()
  (let ((notes-lsp-command '("/nonexistent/notes-lsp")) (inhibit-message t))
    (unwind-protect
        (progn
          (should (string-match-p "cannot run /nonexistent/notes-lsp"
                                  (cadr (should-error (notes-lsp-service-ensure) :type 'user-error))))
          (should (eq 'failed notes-lsp--state)))
      (notes-lsp-service-stop))))

(ert-deftest notes-test-five-quick-deaths-are-enough ()
  (let ((notes-lsp-command '("sh" "-c" "echo no more >&2; exit 1")) (inhibit-message t))
    (unwind-protect
        (progn
          (should (string-match-p "stopped and restarts"
                                  (cadr (should-error (notes-lsp-service-ensure) :type 'user-error))))
          (should (eq 'waiting notes-lsp--state))
          (notes-test-wait (lambda () (eq 'failed notes-lsp--state)))
          (should (= 5 notes-lsp--quick-deaths))
          (should-not notes-lsp--restart-timer)
          (should (equal notes-lsp--failure "The service keeps failing. :NotesDoctor shows why")))
      (notes-lsp-service-stop)
      (should (eq 'stopped notes-lsp--state)))))

(ert-deftest notes-test-a-wait-does-not-outlast-the-timer-that-ends-it ()
  (let ((accept (symbol-function 'accept-process-output)) done waits)
    (run-with-timer 0 nil (lambda () (run-with-timer 0 nil (lambda () (setq done t)))))
    (cl-letf (((symbol-function 'accept-process-output)
               (lambda (process seconds)
                 (push seconds waits)
                 (funcall accept process seconds))))
      (should (notes-lsp--wait 120 (lambda () done))))
    (should-not (memql 0.05 waits))))

(defmacro notes-test-with-reader (&rest body)
  "Evaluate BODY with a service that reads once told to.
The function `got' returns what it has read."
  (declare (indent 0) (debug t))
  `(let* ((folder (make-temp-file "notes-test" t))
          (go (expand-file-name "go" folder)) (log (expand-file-name "log" folder))
          (command (format "while ! [ -e %s ]; do sleep 0.02; done; exec cat > %s" go log))
          (notes-lsp--link
           (make-instance 'notes-lsp--connection
                          :name (format "reader %d" (cl-incf notes-lsp--starts))
                          :process (lambda ()
                                     (make-process :name "reader" :command (list "sh" "-c" command) :noquery t
                                                   :connection-type 'pipe :coding 'utf-8-emacs-unix))
                          :events-buffer-scrollback-size 0))
          (notes-lsp--state 'ready))
     (cl-flet ((begin-reading () (write-region "" nil go nil 'silent))
               (got () (with-temp-buffer
                         (when (file-exists-p log) (insert-file-contents log))
                         (buffer-string))))
       (ignore #'begin-reading #'got)
       (unwind-protect (progn ,@body)
         (notes-lsp--end-process notes-lsp--link)
         (delete-directory folder t)))))

(ert-deftest notes-test-a-service-that-does-not-read-holds-nothing-up ()
  (notes-test-with-reader
    (with-timeout (120 (ert-fail "Emacs waits for the service"))
      (notes-lsp-service-notify :a (list :text (make-string 300000 ?x)))
      (should (notes-lsp--stalled))
      (notes-lsp-service-notify :b (list :text "é"))
      (notes-lsp-service-notify :c (list :text (make-string 100000 ?y)))
      (begin-reading)
      (notes-test-wait (lambda () (not (notes-lsp--stalled)))))
    ;; All of it, in order, and only once.
    (notes-lsp-service-notify :d (list :text "z"))
    (notes-test-wait (lambda () (string-suffix-p "\"z\"}}" (got))))
    (should (equal (replace-regexp-in-string "Content-Length: [0-9]+\r?\n\r?\n" "" (got))
                   (mapconcat (pcase-lambda (`(,method ,text))
                                (format "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{\"text\":\"%s\"}}"
                                        method text))
                              `(("a" ,(make-string 300000 ?x)) ("b" "é") ("c" ,(make-string 100000 ?y)) ("d" "z"))
                              "")))))

(ert-deftest notes-test-a-message-sent-by-a-timer-while-another-waits-holds-nothing-up ()
  (notes-test-with-reader
    (with-timeout (120 (ert-fail "Emacs waits for the service"))
      (let* ((sent 0)
             (send (lambda ()
                     (notes-lsp-service-notify :b (list :text (make-string 1000 ?b)))
                     (cl-incf sent))))
        ;; While this one waits, the time of the other is up.
        (run-with-timer 0.05 nil send)
        (notes-lsp-service-notify :a (list :text (make-string 300000 ?x)))
        (notes-test-wait (lambda () (= sent 1)))
        (begin-reading)
        (notes-test-wait (lambda () (not (notes-lsp--stalled))))))))

(ert-deftest notes-test-a-suspended-service-is-sent-nothing-until-it-goes-on ()
  (notes-test-with-reader
    (let ((process (jsonrpc--process notes-lsp--link)))
      (begin-reading)
      (signal-process process 'SIGSTOP)
      (notes-test-wait (lambda () (eq 'stop (process-status process))))
      (should (notes-lsp--stalled))
      ;; It cannot be asked, so notes are auto-saved at once.
      (cl-letf (((symbol-function 'notes-lsp--choose-auto-save) #'ignore)
                (notes-lsp--notes '(note)) (notes-lsp--silent nil))
        (notes-lsp--before-auto-save)
        (should (and notes-lsp--silent (not notes-lsp--asked))))
      (signal-process process 'SIGCONT)
      (notes-test-wait (lambda () (not (notes-lsp--stalled)))))))

(ert-deftest notes-test-messages-to-a-suspended-service-wait-until-it-goes-on ()
  (notes-test-with-reader
    (let ((process (jsonrpc--process notes-lsp--link)))
      (begin-reading)
      (signal-process process 'SIGSTOP)
      (notes-test-wait (lambda () (eq 'stop (process-status process))))
      (dolist (text '("1" "2")) (notes-lsp-service-notify :a (list :text text)))
      (signal-process process 'SIGCONT)
      (notes-test-wait (lambda () (eq 'run (process-status process))))
      (notes-lsp-service-notify :a (list :text "3"))
      (notes-test-wait (lambda () (string-match-p "\"1\"[^1]*\"2\"[^1]*\"3\"" (got)))))))

(ert-deftest notes-test-what-is-typed-while-the-service-does-not-read-is-sent-in-one-piece ()
  (let (stalled)
    (notes-test-with "one\n"
      (cl-letf (((symbol-function 'notes-lsp--stalled) (lambda () stalled)))
        (setq stalled (- (float-time) 3))
        (dolist (word '("two " "three "))
          (insert word)
          (notes-lsp--after-command)
          (notes-lsp--drain notes-test-note)
          (notes-lsp--send-cursor notes-test-note))
        (should (equal notes-test-mirror "one\n"))
        (should (string-match-p "not stored" (notes-lsp--lighter)))
        (setq stalled nil)
        (notes-test-sync)
        (should (= 1 (notes-test-change-count #'always)))
        ;; What ends a note does not wait.
        (insert "four ")
        (setq stalled (float-time))
        (notes-lsp-mode -1)
        (should (equal notes-test-mirror (buffer-string)))))))

;; Its sentinel has yet to say so.  A warning would keep that from being shown.
(ert-deftest notes-test-a-message-to-a-service-that-has-just-died-is-no-warning ()
  (notes-test-with-reader
    (let ((process (jsonrpc--process notes-lsp--link)) notes-lsp--waiting-news notes-lsp--unread)
      (should-error (notes-lsp--send-within-moment process (lambda () (error "Alive"))))
      (notes-lsp--guarded "caret"
        (notes-lsp--send-within-moment process (lambda ()
                                                 (delete-process process)
                                                 (error "No longer connected to pipe; closed it"))))
      (should-not (or notes-lsp--unread notes-lsp--waiting-news)))))

(ert-deftest notes-test-a-note-is-auto-saved-while-the-service-does-not-read ()
  (notes-test-with "one\n"
    (setq notes-lsp--auto-saved t)
    (let (answer notes-lsp--asked notes-lsp--silent)
      (cl-letf (((symbol-function 'notes-lsp-service-ready-p) #'always)
                ((symbol-function 'notes-lsp-service-request-async)
                 (lambda (_method _params success &rest _) (setq answer success))))
        (notes-lsp--before-auto-save)
        (should-not buffer-auto-save-file-name)
        (notes-lsp--before-auto-save)
        (should buffer-auto-save-file-name)
        (funcall answer nil)
        (notes-lsp--before-auto-save)
        (should-not buffer-auto-save-file-name)))))

(provide 'notes-lsp-service-test)
;;; notes-lsp-service-test.el ends here
