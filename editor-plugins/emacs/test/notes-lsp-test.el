;;; notes-lsp-test.el --- Tests of note buffers without a service  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A mirror stands for the service: it applies every didChange and must
;; always equal the buffer.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'notes-lsp)
(require 'notes-mirror)
(require 'random-commands)

(defvar notes-lsp--last-version)

;;; Capture

(defconst notes-test-commands
  '((insert "x") (insert "é\n😀") (kill-line) (kill-line 2) (kill-word 1) (backward-kill-word 1)
    (sort-lines nil (point-min) (point-max)) (reverse-region (point-min) (point-max))
    (fill-paragraph) (fill-region (point-min) (point-max))
    (capitalize-region (point-min) (point-max)) (upcase-word 2) (capitalize-word 2)
    (downcase-region (point-min) (point-max)) (upcase-initials-region (point-min) (point-max))
    (transpose-words 1) (transpose-chars 1) (transpose-lines 1) (transpose-sexps 1)
    (subst-char-in-region (point-min) (point-max) ?o ?ö)
    (subst-char-in-region (point-min) (point-max) ?o ?0)
    (translate-region (point-min) (point-max) (make-string 128 ?z))
    (insert-file-contents buffer-file-name) (insert-file-contents buffer-file-name nil nil nil t)
    (revert-buffer t t) (revert-buffer t t t) (erase-buffer) (yank) (just-one-space) (delete-blank-lines)
    (replace-string "o" "00" nil (point-min) (point-max))
    (replace-regexp "[aeiou]+" "<\\&>" nil (point-min) (point-max))
    (indent-region (point-min) (point-max) 3) (indent-rigidly (point-min) (point-max) 2)
    (untabify (point-min) (point-max)) (tabify (point-min) (point-max))
    (delete-trailing-whitespace) (delete-duplicate-lines (point-min) (point-max))
    (zap-to-char 1 ?o) (open-line 3) (newline 2)
    (put-text-property (point-min) (point-max) 'face 'bold)
    (insert-rectangle '("12" "34")) (delete-rectangle 2 4) (align-regexp (point-min) (point-max) "\\(\\s-*\\)o")
    (combine-change-calls (point-min) (point-max) (goto-char (point-min)) (insert "1") (delete-char 2))
    (combine-after-change-calls (insert "1") (insert "2"))
    (with-silent-modifications (insert "silent"))
    (let ((inhibit-modification-hooks t)) (insert "unseen"))
    (let ((inhibit-modification-hooks t)) (upcase-region (point-min) (point-max)))
    (shell-command-on-region (point-min) (point-max) "cat" nil t)
    (call-process "printf" nil t nil "from outside\\n")
    (atomic-change-group (insert "a") (delete-char 1)) (undo-only) (undo)
    (transpose-regions 2 4 8 11) (set-buffer-multibyte t) (emacs-lisp-mode) (text-mode))
  "Forms that change a buffer, each in its own way.")

(ert-deftest notes-test-every-command-is-mirrored ()
  (dolist (form notes-test-commands)
    (dolist (text '("" "one two\nfour o'clock foo bar\n\n  three\tx\nno end" "été 😀 foo\n𝒳 bar e\u0301\n"))
      (notes-test-with text
        (dolist (place (list (point-min) (/ (+ (point-min) (point-max)) 2) (point-max)))
          (goto-char place)
          (kill-new "yanked\n")
          (ert-info ((format "%S at %d in %S" form place text))
            (ignore-errors (eval form t))
            (notes-test-sync)
            (insert "=")
            (notes-test-sync)))))))

(ert-deftest notes-test-columns-count-utf-16-units-when-agreed ()
  (notes-test-with "a😀b\n"
    (setq notes-lsp--encoding "utf-16")
    (goto-char 3) (insert "c")
    (notes-lsp--flush notes-test-note)
    (let ((range (plist-get (aref (plist-get (cdar notes-test-sent) :contentChanges) 0) :range)))
      (should (equal range '(:start (:line 0 :character 3) :end (:line 0 :character 3)))))
    (setf (notes-lsp--note-queue notes-test-note)
          (list (cons 'notes/edit (append '(:bytes 9) (notes-test-edit '((0 4 0 5 "XY")))))))
    (notes-lsp--drain notes-test-note)
    (should (equal (notes-test-text) "a😀cXY\n"))))

(ert-deftest notes-test-typing-is-sent-as-a-small-change ()
  (notes-test-with "one\ntwo\n"
    (goto-char (point-max)) (insert "x") (goto-char 2) (insert "y") (upcase-word 1)
    (notes-test-sync)
    (should (= 0 (notes-test-change-count #'notes-test-full-p)))))

(ert-deftest notes-test-property-changes-are-not-sent ()
  (notes-test-with "one\n"
    (put-text-property 1 3 'face 'bold)
    (font-lock-ensure)
    (notes-test-sync)
    (should (= 0 (notes-test-change-count #'always)))))

(ert-deftest notes-test-narrowing-does-not-shift-positions ()
  (notes-test-with "one\ntwo\nthree\n"
    (narrow-to-region 5 8)
    (goto-char (point-max)) (insert "x") (upcase-word -1)
    (notes-test-sync)
    (should (notes-test-receive (notes-test-edit '((0 0 0 3 "ONE") (2 0 2 0 "more\n")))))
    (should (equal (notes-test-text) "ONE\nTWOX\nmore\nthree\n"))
    (should (equal (buffer-string) "TWOX"))
    (should (= 0 (notes-test-change-count #'notes-test-full-p)))))

(ert-deftest notes-test-indirect-buffers-are-noticed-and-not-notes ()
  (notes-test-with "one\ntwo\n"
    (let ((base (current-buffer)))
      (dolist (clone (list (make-indirect-buffer base "notes-test-raw" t)
                           (clone-indirect-buffer "notes-test-clone" nil t)))
        (unwind-protect
            (progn
              (with-current-buffer clone
                (should-not (notes-lsp--current))
                (goto-char (point-max)) (insert "from the clone"))
              (notes-test-sync)
              (with-current-buffer base (insert "base"))
              (notes-test-sync)
              (with-current-buffer clone (set-buffer-modified-p nil)))
          (kill-buffer clone))
        (should (notes-lsp--current))))))

(ert-deftest notes-test-major-mode-and-revert-keep-the-note ()
  (notes-test-with "one\ntwo\n"
    (emacs-lisp-mode)
    (should notes-lsp-mode)
    (should (notes-lsp--current))
    (should-not create-lockfiles)
    (insert ";") (notes-test-sync)
    (save-buffer) (insert "lost") (revert-buffer t t)
    (notes-test-sync)
    (should (equal (notes-test-text) ";one\ntwo\n"))))

(ert-deftest notes-test-invalid-characters-are-kept-back-until-they-go ()
  (notes-test-with "one\n"
    (goto-char 3)
    (insert (unibyte-char-to-multibyte 200))
    (notes-lsp--drain notes-test-note)
    (should (= 3 (notes-lsp--note-blocked notes-test-note)))
    (should (equal notes-test-mirror "one\n"))
    (insert "more")
    (should-not (notes-test-receive (notes-test-edit '((0 0 0 0 "remote")))))
    (goto-char 3) (delete-char 1)
    (notes-test-sync)
    (should-not (notes-lsp--note-blocked notes-test-note)))
  (with-temp-buffer
    (insert "a\nb" (unibyte-char-to-multibyte 255))
    (should (string-match-p "line 2, column 1"
                            (cadr (should-error (notes-lsp--attach "file:///x") :type 'user-error))))
    (should-not notes-lsp--note))
  (dolist (char '(#xd800 #xdfff #x110000 #x3fff80))
    (should (string-match-p notes-lsp--invalid-character (string ?a char))))
  (should-not (string-match-p notes-lsp--invalid-character "a\ud7ff\ue000\U0010ffff\0\u00ff")))

(ert-deftest notes-test-random-commands-keep-the-mirror-equal ()
  (let* ((seed (string-to-number (or (getenv "NOTES_TEST_SEED") "1")))
         (count (string-to-number (or (getenv "NOTES_TEST_COMMANDS") "2000")))
         (applied 0) (dropped 0))
    (notes-test-with "The quick brown fox\njumps over\n\nthe lazy dog\n"
      (dotimes (step count)
        (ert-info ((format "NOTES_TEST_SEED=%d, step %d" seed step))
          (let ((keys (notes-test-random-command-of (+ (* seed 1000000) step))))
            (when keys
              (ignore-errors (execute-kbd-macro keys))
              ;; In batch no command loop goes on after a command that failed.
              (notes-lsp--command-over)))
          (pcase (random 4)
            (0 nil)
            (1 (notes-test-sync)
               (if (notes-test-receive (notes-test-random-edit)) (cl-incf applied)
                 (ert-fail "An edit for this very text was dropped")))
            (2 (let ((late (notes-test-random-edit)))
                 (insert "late")
                 (if (notes-test-receive late) (ert-fail "An edit for another text was applied")
                   (cl-incf dropped))))
            (_ nil))
          (notes-test-sync)))
      (let ((inhibit-message nil))
        (message "seed %d: %d commands, %d characters, %d edits applied, %d dropped, full texts %d of %d"
                 seed count (buffer-size) applied dropped
                 (notes-test-change-count #'notes-test-full-p)
                 (notes-test-change-count #'always))))))

(defun notes-test-random-edit ()
  "Return a random edit of two ranges for the mirror's text."
  (let ((places (sort (cl-loop repeat 4 collect (random (1+ (length notes-test-mirror)))) #'<)))
    (cl-flet ((place (offset)
                (let ((before (split-string (substring notes-test-mirror 0 offset) "\n")))
                  (list (1- (length before)) (length (car (last before)))))))
      (setf (nth 1 places) (min (nth 1 places) (+ (nth 0 places) 20))
            (nth 3 places) (min (nth 3 places) (+ (nth 2 places) 20)))
      (notes-test-edit
       (list (append (place (nth 0 places)) (place (nth 1 places)) (list (notes-test-pick notes-test-samples)))
             (append (place (nth 2 places)) (place (nth 3 places))
                     (list (concat (notes-test-pick notes-test-samples) "\n"))))))))

;;; Applying

(ert-deftest notes-test-edits-are-applied-as-the-table-says ()
  (pcase-dolist (`(,text ,edits ,expected ,before ,after)
                 '(("abc" ((0 1 0 1 "X")) "aXbc" 2 2)
                   ("abc" ((0 1 0 1 "X")) "aXbc" 3 4)
                   ("abc" ((0 1 0 2 "")) "ac" 3 2)
                   ("abc" ((0 0 0 3 "xyz")) "xyz" 2 4)
                   ("abc" ((0 0 0 3 "xyz")) "xyz" 4 4)
                   ("a\nb\nc" ((0 0 1 0 "") (2 1 2 1 "\n")) "b\nc\n" 5 3)
                   ("a\nb" ((1 1 1 1 "\nc")) "a\nb\nc" 1 1)
                   ("" ((0 0 0 0 "new")) "new" 1 1)
                   ("😀e\u0301" ((0 1 0 3 "é")) "😀é" 4 3)
                   ("a\n" ((1 0 1 0 "b")) "a\nb" 3 3)
                   ("ab\ncd" ((0 9 0 9 "!")) "ab!\ncd" 6 7)
                   ("ab\ncd" ((9 0 9 0 "!")) "ab\ncd!" 1 1)))
    (ert-info ((format "%S %S" text edits))
      (notes-test-with text
        (goto-char before)
        (setf (notes-lsp--note-queue notes-test-note)
              (list (cons 'notes/edit (notes-test-edit edits :bytes (string-bytes expected)))))
        (notes-lsp--drain notes-test-note)
        (should (equal (notes-test-text) expected))
        (should (= (point) after))
        (should (= 1 (notes-lsp--note-rev notes-test-note)))
        (should (= 0 (notes-test-change-count #'always)))
        (should (eq :notes/ack (caar notes-test-sent)))
        (should (plist-get (notes-lsp-buffer-info) :synced))))))

(ert-deftest notes-test-an-edit-of-many-parts-is-one-change-for-all-hooks ()
  (let ((parts 5000))
    (notes-test-with (concat (mapconcat (lambda (_) "a line") (number-sequence 1 parts) "\n") "\n")
      (let* ((edits (cl-loop for line below parts
                             collect `(:range (:start (:line ,line :character 0) :end (:line ,line :character 1))
                                       :newText "one")))
             (calls 0)
             (count (lambda (&rest _) (cl-incf calls))))
        (add-hook 'after-change-functions count nil t)
        (notes-lsp--apply notes-test-note
                          `(:edits ,(vconcat edits) :rev 1 :bytes ,(+ (* 2 parts) (1- (position-bytes (point-max))))))
        (remove-hook 'after-change-functions count t)
        (should (equal (how-many "^one line$" (point-min)) parts))
        (should (= calls 1))
        (should (eql 1 (notes-lsp--note-rev notes-test-note)))
        ;; Typing is heard as before.
        (goto-char (point-max))
        (insert "typed")
        (notes-lsp--flush notes-test-note)
        (should notes-test-sent)))))

(ert-deftest notes-test-edits-that-overlap-are-refused ()
  (notes-test-with "abcdef"
    (setf (notes-lsp--note-queue notes-test-note)
          (list (cons 'notes/edit (notes-test-edit '((0 2 0 4 "") (0 1 0 2 "")) :bytes 3))))
    (notes-lsp--drain notes-test-note)
    (should (equal (notes-test-text) "abcdef"))
    (should (= 0 (notes-lsp--note-rev notes-test-note)))
    (should (= 1 (notes-test-change-count #'notes-test-full-p)))))

(ert-deftest notes-test-windows-mark-and-region-stay ()
  (notes-test-with "one\ntwo\nthree\n"
    (let ((other (split-window)))
      (set-window-point other 9)
      (goto-char 5) (set-mark 8) (activate-mark)
      (setq deactivate-mark nil)
      (should (notes-test-receive (notes-test-edit '((0 0 0 0 "zero\n")))))
      (should (= 14 (window-point other)))
      (should (= 10 (point)))
      (should (= 13 (mark)))
      (should-not deactivate-mark)
      (should (buffer-modified-p)))))

(ert-deftest notes-test-wrong-lengths-and-hashes-are-repaired ()
  (notes-test-with "abc"
    (setf (notes-lsp--note-queue notes-test-note)
          (list (cons 'notes/edit (notes-test-edit '((0 1 0 1 "X")) :bytes 99))))
    (notes-lsp--drain notes-test-note)
    (should (= 1 (notes-test-change-count #'notes-test-full-p)))
    (cl-flet ((check (bytes hash)
                (setf (notes-lsp--note-queue notes-test-note)
                      (list (cons 'notes/check
                                  `(:uri ,(notes-lsp--note-uri notes-test-note)
                                    :version ,(notes-lsp--note-version notes-test-note)
                                    :rev ,(notes-lsp--note-rev notes-test-note)
                                    :bytes ,bytes :sha256 ,hash))))
                (notes-lsp--drain notes-test-note)))
      (check 4 (secure-hash 'sha256 "aXbc"))
      (should (= 1 (notes-test-change-count #'notes-test-full-p)))
      (check 4 (secure-hash 'sha256 "aYbc"))
      (should (= 2 (notes-test-change-count #'notes-test-full-p)))
      (notes-lsp--on-resync `(:uri ,(notes-lsp--note-uri notes-test-note) :reason "test"))
      (notes-test-sync)
      (should (= 3 (notes-test-change-count #'notes-test-full-p))))))

(ert-deftest notes-test-a-failing-hook-does-not-lose-an-edit ()
  (dolist (hook '(before-change-functions after-change-functions))
    (notes-test-with "abc"
      (add-hook hook (lambda (&rest _) (error "Broken")) nil t)
      (should (notes-test-receive (notes-test-edit '((0 1 0 2 "X")))))
      (should (equal (notes-test-text) "aXc"))
      (insert "after") (notes-test-sync)
      (insert "more") (notes-test-sync))))

;;; The gate

(ert-deftest notes-test-an-edit-for-a-closed-buffer-is-not-for-its-successor ()
  (notes-test-with "abc"
    (let ((late (notes-test-edit '((0 1 0 1 "X")) :bytes 4)))
      (notes-lsp-mode -1)
      (setq notes-test-note (notes-lsp--attach (notes-lsp--path-uri buffer-file-name) "id"))
      (should-not (notes-test-receive late))
      (should (equal (notes-test-text) "abc")))))

(ert-deftest notes-test-nothing-is-applied-while-a-command-runs ()
  (notes-test-with "abc"
    (let ((notes-lsp--running '(0)))
      (should-not (notes-test-receive (notes-test-edit '((0 1 0 1 "X")))))
      (should (= 1 (length (notes-lsp--note-queue notes-test-note))))
      (should-not (plist-get (notes-lsp-buffer-info) :synced)))
    (notes-lsp--drain notes-test-note)
    (should (equal (notes-test-text) "aXbc"))))

(ert-deftest notes-test-garbage-is-collected-when-no-edit-is-on-its-way ()
  (notes-test-with "one\n"
    (let ((gc-cons-threshold most-positive-fixnum) (gc-cons-percentage 1.0)
          (notes-lsp--edited-at 0))
      (should (notes-test-receive (notes-test-edit '((0 0 0 0 "x")))))
      (should (memq notes-lsp--tidy-timer timer-list))
      (should (eq #'notes-lsp--tidy (timer--function notes-lsp--tidy-timer)))
      (let ((first notes-lsp--tidy-timer))
        (goto-char 1) (insert "y")
        (notes-lsp--drain notes-test-note)
        (should (memq notes-lsp--tidy-timer timer-list))
        (should-not (memq first timer-list))))))

(ert-deftest notes-test-garbage-of-a-burst-is-collected-after-it ()
  (let ((gc-cons-threshold 800000) (notes-lsp--edited-at 0)
        (notes-lsp--usual-memory nil) (notes-lsp--tidy-timer nil) (factor nil))
    (cl-letf (((symbol-function 'garbage-collect-maybe) (lambda (it) (setq factor it))))
      (notes-lsp--tidy-soon)
      (should (= 800000 gc-cons-threshold))
      (notes-lsp--tidy-soon)
      (notes-lsp--tidy-soon)
      (should (= notes-lsp--burst-memory gc-cons-threshold))
      (cancel-timer notes-lsp--tidy-timer)
      (notes-lsp--tidy)
      (should (= 800000 gc-cons-threshold))
      (should (eql 2 factor))
      ;; What the user says meanwhile stays.
      (notes-lsp--tidy-soon)
      (should (= notes-lsp--burst-memory gc-cons-threshold))
      (setq gc-cons-threshold 5000000)
      (cancel-timer notes-lsp--tidy-timer)
      (notes-lsp--tidy)
      (should (= 5000000 gc-cons-threshold)))))

(defvar notes-test-folder nil "Where words are kept that no service has read.")
(defvar notes-test-asked nil "What to do with the answers of the service.")

(defun notes-test-kept ()
  "Return the files with words that no service has read."
  (directory-files notes-test-folder t "json"))

(defmacro notes-test-with-unsent (&rest body)
  "Evaluate BODY in a note \"one\" whose service hangs."
  (declare (indent 0) (debug t))
  `(notes-test-with "one\n"
     (let* ((notes-test-folder (make-temp-file "notes-test" t))
            (notes-test-asked nil)
            (notes-lsp--unsent-files nil)
            (notes-lsp--capabilities (list :unsent notes-test-folder :run "run")))
       (cl-letf (((symbol-function 'notes-lsp-service-request-async)
                  (lambda (_method _params then &rest _) (push then notes-test-asked))))
         (unwind-protect (progn ,@body)
           (delete-directory notes-test-folder t))))))

(ert-deftest notes-test-words-that-the-service-has-not-read-are-kept-when-a-buffer-goes ()
  (notes-test-with-unsent
    (goto-char 1) (insert "milk ")
    (notes-lsp-mode -1)
    (let* ((file (car (notes-test-kept)))
           (said (with-temp-buffer (insert-file-contents file) (json-parse-buffer :object-type 'plist))))
      (should (= 1 (length (notes-test-kept))))
      (should (equal "milk one\n" (plist-get said :text)))
      (should (equal "id" (plist-get said :id)))
      (should (equal "run" (plist-get said :run)))
      (should (= #o600 (file-modes file))))
    ;; It did not hang.
    (funcall (pop notes-test-asked) nil)
    (should-not (notes-test-kept))))

(ert-deftest notes-test-words-that-the-service-has-read-are-not-kept ()
  (notes-test-with-unsent
    (goto-char 1) (insert "milk ")
    (notes-lsp--flush notes-test-note)
    (should (notes-lsp--note-unread notes-test-note))
    (notes-lsp--enqueue 'notes/check (list :uri (notes-lsp--note-uri notes-test-note)
                                           :version (notes-lsp--note-version notes-test-note)))
    (should-not (notes-lsp--note-unread notes-test-note))
    (notes-lsp-mode -1)
    (should-not (notes-test-kept))))

(ert-deftest notes-test-words-are-kept-before-a-file-takes-their-place ()
  (notes-test-with-unsent
    (goto-char 1) (insert "milk ")
    (revert-buffer t t)
    (should (= 1 (length (notes-test-kept))))
    (should (equal (list (car (notes-test-kept))) notes-lsp--unsent-files))))

(ert-deftest notes-test-words-that-are-not-read-for-two-seconds-are-not-stored ()
  (notes-test-with-unsent
    (goto-char 1) (insert "milk ")
    (notes-lsp--flush notes-test-note)
    (should-not (string-search "not stored" (notes-lsp--words notes-test-note)))
    (cl-decf (notes-lsp--note-unread notes-test-note) notes-lsp--storing-seconds)
    (should (string-search "not stored" (notes-lsp--words notes-test-note)))))

(ert-deftest notes-test-undo-in-a-region-is-refused ()
  "Emacs would undo there, and the service undoes whatever was typed last."
  (notes-test-with "abc"
    (cl-letf (((symbol-function 'notes-lsp--undo-by-service-p) #'always)
              ((symbol-function 'notes-lsp--ask-to-undo) (lambda (&rest _) (error "Asked"))))
      (let ((transient-mark-mode t))
        (set-mark 1)
        (goto-char 3)
        (activate-mark)
        (should-error (notes-lsp-undo 1) :type 'user-error)))))

(ert-deftest notes-test-drain-is-not-entered-twice ()
  (notes-test-with "abc"
    (insert "x")
    (cl-letf* ((sent 0)
               ((symbol-function 'notes-lsp-service-notify)
                (lambda (method params)
                  (cl-incf sent)
                  (notes-test-notify method params)
                  (notes-lsp--drain notes-test-note))))
      (notes-lsp--drain notes-test-note)
      (should (= 1 sent))
      (should (equal notes-test-mirror (notes-test-text))))))

(ert-deftest notes-test-a-draft-of-an-input-method-is-not-sent ()
  (notes-test-with "abc"
    (defvar quail-overlay)
    (let ((quail-overlay (make-overlay 1 2)))
      (with-silent-modifications (goto-char 1) (insert "n"))
      (should-not (notes-test-receive (notes-test-edit '((0 1 0 1 "X")))))
      (should (equal notes-test-mirror "abc"))
      (with-silent-modifications (delete-region 1 2))
      (delete-overlay quail-overlay)
      (run-hooks 'input-method-after-insert-chunk-hook))
    (notes-lsp--drain notes-test-note)
    (should (equal (notes-test-text) "aXbc"))
    (should (= 0 (notes-test-change-count #'always)))))

(ert-deftest notes-test-a-command-lasts-until-its-own-loop-goes-on ()
  (let ((notes-lsp--running nil) (depth 0))
    (cl-letf (((symbol-function 'recursion-depth) (lambda () depth)))
      (notes-lsp--before-command)
      (setq depth 1)
      (notes-lsp--before-command)
      (notes-lsp--command-over)
      (setq depth 0)
      (should (notes-lsp--unsafe-p))
      (notes-lsp--command-over)
      (should-not (notes-lsp--unsafe-p)))))

;;; Undo

(ert-deftest notes-test-undo-stops-at-the-others-edit ()
  (notes-test-with "abc\n"
    (buffer-enable-undo)
    (goto-char 2) (insert "mine") (undo-boundary)
    (notes-test-sync)
    (should (notes-test-receive (notes-test-edit '((0 0 0 0 "RR")))))
    (should-not buffer-undo-list)
    (should-error (let ((last-command 'self-insert-command)) (notes-lsp-undo)) :type 'user-error)
    (goto-char (point-max)) (insert "own") (undo-boundary)
    (let ((last-command 'self-insert-command)) (notes-lsp-undo))
    (notes-test-sync)
    (should (equal (notes-test-text) "RRaminebc\n"))
    (should (notes-test-receive (notes-test-edit '((0 0 0 2 "")))))
    (let ((last-command 'undo)) (ignore-errors (notes-lsp-undo)))
    (notes-test-sync)
    (should (equal (notes-test-text) "aminebc\n"))))

(provide 'notes-lsp-test)
;;; notes-lsp-test.el ends here
