;;; check-doc.el --- checkdoc in batch  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Runs checkdoc over the files on the command line and fails on any remark.

;;; Code:

(require 'checkdoc)

(defun notes-test-check-doc ()
  "Check the files that are left on the command line; exit 1 on remarks."
  (let ((remarks 0))
    (dolist (file command-line-args-left)
      (with-current-buffer (find-file-noselect file)
        (let ((checkdoc-autofix-flag 'never)
              (checkdoc-verb-check-experimental-flag nil)
              (checkdoc-create-error-function
               (lambda (text start _end &optional _unfixable)
                 (setq remarks (1+ remarks))
                 (message "%s:%d: %s" file
                          (line-number-at-pos (or start (point-min))) text)
                 nil)))
          (checkdoc-current-buffer t))))
    (setq command-line-args-left nil)
    (kill-emacs (if (zerop remarks) 0 1))))

(provide 'check-doc)
;;; check-doc.el ends here
