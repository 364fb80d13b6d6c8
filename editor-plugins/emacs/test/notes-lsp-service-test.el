;;; notes-lsp-service-test.el --- Tests of starting and giving up  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Programs that are not the service show what happens without one.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'notes-lsp)

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

(provide 'notes-lsp-service-test)
;;; notes-lsp-service-test.el ends here
