;;; notes-lsp-presence-test.el --- Tests of carets, and of keys while others type  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The other people's carets and edits, and what quitting does meanwhile.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'notes-lsp)
(require 'notes-mirror)

(ert-deftest notes-test-carets-are-drawn-for-the-text-they-belong-to ()
  (notes-test-with "abc\ndef\n"
    (cl-flet ((cursors (&rest ranges)
                (notes-lsp--on-cursors
                 `(:uri ,(notes-lsp--note-uri notes-test-note) :version 1 :rev 0
                   :peers [(:peer "p" :name "Ana" :color 3 :letter "A" :ranges ,(vconcat ranges))])))
              (at (line column) `(:line ,line :character ,column)))
      (cursors `(:start ,(at 0 0) :end ,(at 0 2)))
      (notes-lsp--drain notes-test-note)
      (should (= 3 (length (notes-lsp--note-overlays notes-test-note))))
      (should (equal '("Ana") (plist-get (notes-lsp-buffer-info) :peers)))
      (should (= 3 (notes-lsp--caret-of notes-test-note "p")))
      (cursors `(:start ,(at 2 0) :end ,(at 2 0)))
      (notes-lsp--drain notes-test-note)
      (should (= 1 (length (notes-lsp--note-overlays notes-test-note))))
      (should (= 9 (notes-lsp--caret-of notes-test-note "p")))
      (notes-go "p")
      (should (= 9 (point)))
      (notes-lsp--offline)
      (should-not (notes-lsp--note-overlays notes-test-note)))))

(ert-deftest notes-test-carets-stay-behind-what-is-typed-at-their-place ()
  (notes-test-with "abc\ndef\n"
    (let ((announce (lambda (version line column)
                      (notes-lsp--on-cursors
                       `(:uri ,(notes-lsp--note-uri notes-test-note) :version ,version :rev 0
                         :peers [(:peer "p" :name "Ana" :color 3 :letter "A"
                                  :ranges [(:start (:line ,line :character ,column)
                                            :end (:line ,line :character ,column))])]))
                      (notes-lsp--drain notes-test-note)))
          (shown (lambda ()
                   (mapcar (lambda (overlay) (cons (overlay-start overlay) (overlay-end overlay)))
                           (cl-remove-if-not (lambda (overlay) (overlay-get overlay 'face))
                                             (notes-lsp--note-overlays notes-test-note))))))
      (funcall announce 1 1 1)
      (should (equal '((6 . 7)) (funcall shown)))
      (goto-char 6)
      (insert "XYZ")
      (should (= 9 (notes-lsp--caret-of notes-test-note "p")))
      (should (equal '((9 . 10)) (funcall shown)))
      ;; The service wrote these down before it heard of what was typed: they are asked for again, and not shown.
      (notes-lsp--flush notes-test-note)
      (funcall announce 1 1 1)
      (should (equal '((9 . 10)) (funcall shown)))
      (should (equal '(:notes/ack :version 2 :carets t)
                     (list (caar notes-test-sent) :version (plist-get (cdar notes-test-sent) :version)
                           :carets (plist-get (cdar notes-test-sent) :carets))))
      (funcall announce 2 1 0)
      (should (equal '((5 . 6)) (funcall shown))))))

(ert-deftest notes-test-point-goes-to-a-person-only-before-the-next-command ()
  (notes-test-with "abc\ndef\n"
    (let* ((place '(:line 1 :character 1))
           (arrive (lambda (commands)
                     (goto-char 1)
                     (setq notes-lsp--going-to (cons "Ana" commands))
                     (notes-lsp--on-cursors
                      `(:uri ,(notes-lsp--note-uri notes-test-note) :version 1 :rev 0
                        :peers [(:peer "p" :name "Ana" :color 3 :letter "A"
                                 :ranges [(:start ,place :end ,place)])]))
                     (notes-lsp--drain notes-test-note)
                     (notes-lsp--arrive notes-test-note)
                     (point))))
      (should (= 1 (funcall arrive (1- notes-lsp--commands-begun))))
      (should (= 6 (funcall arrive notes-lsp--commands-begun))))))

(ert-deftest notes-test-the-name-behind-a-caret-is-shown-as-it-is ()
  (notes-test-with "abc\n"
    (notes-lsp--on-cursors
     `(:uri ,(notes-lsp--note-uri notes-test-note) :version 1 :rev 0
       :peers [(:peer "p" :name "\\{global-map}" :color 3 :letter "A"
                :ranges [(:start (:line 0 :character 1) :end (:line 0 :character 1))])]))
    (notes-lsp--drain notes-test-note)
    (let ((help (cl-some (lambda (it) (overlay-get it 'help-echo))
                         (notes-lsp--note-overlays notes-test-note))))
      (should (equal "\\{global-map}" (substitute-command-keys help))))))

(ert-deftest notes-test-many-edits-are-applied-in-slices ()
  (notes-test-with ""
    (let ((notes-lsp--slice-seconds -1)
          (uri (notes-lsp--note-uri notes-test-note)))
      (cl-loop for rev from 1 to 3
               do (notes-lsp--enqueue
                   'notes/edit
                   (list :uri uri :version 1 :rev rev :bytes rev :cause "remote"
                         :edits '[(:range (:start (:line 0 :character 0) :end (:line 0 :character 0))
                                   :newText "x")])))
      (notes-lsp--drain notes-test-note)
      (should (= 2 (length (notes-lsp--note-queue notes-test-note))))
      (should (notes-lsp--note-timer notes-test-note))
      (let ((notes-lsp--slice-seconds 10))
        (notes-lsp--drain notes-test-note))
      (should (equal "xxx" (notes-test-text))))))

(ert-deftest notes-test-quitting-twice-in-a-long-edit-is-one-key ()
  (notes-test-with "abc\n"
    (let ((inhibit-quit t) (unread-command-events nil) (heard 0))
      (cl-letf (((symbol-function 'notes-lsp--certainly)
                 (lambda (change)
                   (funcall change)
                   (unless quit-flag (cl-incf heard))
                   (setq quit-flag t))))
        (notes-lsp--replace-all '((4 4 "z") (3 3 "y") (2 2 "x"))))
      (should (= 3 heard))
      (should-not quit-flag)
      (should (equal '(?\C-g) unread-command-events))
      (should (equal "axbycz\n" (notes-test-text))))))

(ert-deftest notes-test-quitting-while-the-service-is-heard-is-one-key ()
  (let ((inhibit-quit t) (unread-command-events nil) (heard 0)
        (process (make-pipe-process :name "notes-test" :noquery t)))
    (cl-letf (((symbol-function 'jsonrpc--process-filter)
               (lambda (_process _text)
                 (unless quit-flag (cl-incf heard))
                 (setq quit-flag t))))
      (process-put process 'notes-lsp-unread (list "b" "a"))
      (notes-lsp--read-slice process t)
      (should (= 2 heard))
      (should-not quit-flag)
      (should (equal '(?\C-g) unread-command-events))
      (delete-process process))))

(ert-deftest notes-test-quitting-a-command-that-waits-is-left-to-it ()
  (let ((inhibit-quit t) (unread-command-events nil)
        (notes-lsp--running (list (recursion-depth))))
    (setq quit-flag t)
    (notes-lsp--hear-quit)
    (should quit-flag)
    (setq quit-flag nil)
    (should-not unread-command-events)))

(ert-deftest notes-test-the-own-caret-is-reported-once ()
  (notes-test-with "abc\n"
    (goto-char 3)
    (notes-lsp--report-cursor notes-test-note)
    (notes-lsp--report-cursor notes-test-note)
    (should (equal '(:notes/cursor) (mapcar #'car (butlast notes-test-sent))))
    (should (equal [(:start (:line 0 :character 2) :end (:line 0 :character 2))]
                   (plist-get (cdar notes-test-sent) :ranges)))))

;;; Blame

(ert-deftest notes-test-blame-follows-the-text ()
  (with-temp-buffer
    (insert "a\nb\n")
    (let ((note (notes-lsp--note-make :buffer (current-buffer) :uri "file:///a.md")))
      (cl-letf (((symbol-function 'notes-lsp--current) (lambda () note))
                ((symbol-function 'notes-lsp-service-ready-p) #'always)
                ((symbol-function 'notes-lsp--flush) #'ignore)
                ((symbol-function 'notes-lsp-service-request-async)
                 (lambda (_method _params then &rest _)
                   (funcall then '(:labels ["Ana" "Ben"] :colors [0 1])))))
        (notes-lsp--show-labels note '(:labels ["Ana"] :colors [0]))
        (should (= 1 (length notes-lsp--blame)))
        (insert "c")
        (should (notes-lsp--wait 120 (lambda () (= 2 (length notes-lsp--blame)))))
        (notes-lsp--end-blame)
        (insert "d")
        (should-not (or notes-lsp--blame notes-lsp--blame-timer))))))

(provide 'notes-lsp-presence-test)
;;; notes-lsp-presence-test.el ends here
