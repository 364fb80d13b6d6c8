;;; notes-lsp-ask-test.el --- Tests of waiting without waiting  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A service that a test commands answers late or never.  Emacs goes on, and
;; nothing is shown under the fingers of a person who types.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'notes-lsp)
(require 'notes-lsp-service-test)

(defvar notes-lsp--last-version)

(defconst notes-test-maximum-seconds 3
  "What a tenth of a second may become on a busy machine.")

(defmacro notes-test-with-service (command &rest body)
  "Evaluate BODY in a window with a buffer of its own; COMMAND is the service."
  (declare (indent 1))
  `(let* ((folder (file-name-as-directory (make-temp-file "notes-test" t)))
          (process-environment (cons (concat "NOTES_TEST_DIR=" folder) process-environment))
          (notes-lsp-command ,command)
          (inhibit-message t)
          (buffer (generate-new-buffer "before")))
     (unwind-protect
         (progn (switch-to-buffer buffer) ,@body)
       (when (processp (and notes-lsp--link (jsonrpc--process notes-lsp--link)))
         (delete-process (jsonrpc--process notes-lsp--link)))
       (notes-lsp-service-stop)
       (setq notes-lsp--questions nil notes-lsp--answers nil notes-lsp--state 'stopped)
       (dolist (note notes-lsp--notes)
         (with-current-buffer (notes-lsp--note-buffer note)
           (set-buffer-modified-p nil)
           (kill-buffer)))
       (kill-buffer buffer)
       (setq notes-lsp--last-version 0)
       (delete-directory folder t))))

(defun notes-test-fake-service ()
  "Return the command of the service that does as it is told."
  (list "python3" (getenv "NOTES_TEST_SERVICE") (expand-file-name "log" temporary-file-directory)))

(defmacro notes-test-quickly (&rest body)
  "Evaluate BODY, which must not hold Emacs up."
  `(let ((start (float-time)))
     (prog1 (progn ,@body)
       (should (< (- (float-time) start) notes-test-maximum-seconds)))))

(defun notes-test-press (command &rest arguments)
  "Give COMMAND with ARGUMENTS as the command loop would."
  (let ((this-command command))
    (run-hooks 'pre-command-hook)
    (unwind-protect (apply command arguments)
      (run-hooks 'post-command-hook))))

(defun notes-test-said (part)
  "Return non-nil if a message with PART was shown."
  (with-current-buffer (messages-buffer)
    (save-excursion
      (goto-char (point-min))
      (search-forward part nil t))))

(defun notes-test-shows-p (name)
  "Return non-nil if the selected window shows a buffer called NAME or so."
  (string-prefix-p name (buffer-name (window-buffer))))

(ert-deftest notes-test-an-answer-without-words-is-not-said ()
  (let (said)
    (cl-letf (((symbol-function 'notes-lsp--log-line) (lambda (line) (push line said)))
              ((symbol-function 'message) (lambda (&rest words) (push words said))))
      (notes-lsp--told '(:recoverableUntil 1)))
    (should-not said)))

(ert-deftest notes-test-a-service-that-hangs-holds-nothing-up ()
  (notes-test-with-service '("sleep" "1000")
    (dolist (command '((notes) (notes-new "Tea") (notes-open "Tea") (notes-join "ticket") (notes-answer)
                       (notes-peers) (notes-find "tea") (notes-import "/tmp/tea.md") (notes-undelete "Tea")
                       (notes-recovered) (notes-meeting "Tea")))
      (ert-info ((format "%S" command))
        (notes-test-quickly (apply command))
        (should (notes-lsp--shown-question))
        (should (equal " Notes:waiting" (notes-lsp--waiting-sign)))))
    (should (eq buffer (window-buffer)))
    (notes-test-quickly (notes-give-up))
    (should (= 10 (length notes-lsp--questions)))))

(ert-deftest notes-test-restarting-holds-nothing-up ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (let ((process (jsonrpc--process notes-lsp--link)))
      ;; It hangs.
      (signal-process process 'SIGSTOP)
      ;; Emacs knows, and refuses to write to it.
      (notes-test-wait (lambda () (eq (process-status process) 'stop)))
      (notes-test-quickly (notes-restart))
      (signal-process process 'SIGCONT)
      (notes-test-wait #'notes-lsp-service-ready-p)
      (should-not (eq process (jsonrpc--process notes-lsp--link)))
      (should-not (process-live-p process)))
    (notes-test-quickly (notes-stop))
    (should (eq 'stopped notes-lsp--state))))

(ert-deftest notes-test-a-note-that-comes-late-opens-for-one-who-waits ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (notes-test-quickly (notes-test-press #'notes-join "slow"))
    (should (eq buffer (window-buffer)))
    (notes-lsp-service-notify :test/answer (notes-lsp--empty))
    (notes-test-wait (lambda () (notes-test-shows-p "Joined")))
    (should (with-current-buffer (window-buffer) (notes-lsp--current)))
    (should-not notes-lsp--questions)))

(ert-deftest notes-test-a-note-that-comes-late-waits-while-one-types ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (notes-test-press #'notes-join "slow")
    (notes-test-press #'insert "typed meanwhile")
    (notes-lsp-service-notify :test/answer (notes-lsp--empty))
    (notes-test-wait (lambda () (notes-test-said "\"Joined\" is ready: M-x notes-show")))
    (notes-test-press #'insert " and afterwards")
    (should (eq buffer (window-buffer)))
    (should (equal "typed meanwhile and afterwards" (buffer-string)))
    (notes-test-press #'notes-show)
    (should (notes-test-shows-p "Joined"))
    (should (equal "" (buffer-string)))
    (should-error (notes-show) :type 'user-error)))

(ert-deftest notes-test-keys-that-wait-already-are-not-for-the-joined-note ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    ;; However soon it comes, it does not come before the keys.
    (notes-test-press #'notes-join "quick")
    (should (eq buffer (window-buffer)))
    (let ((unread-command-events (list ?h ?i)))
      (notes-test-wait (lambda () notes-lsp--answers)))
    (should (eq buffer (window-buffer)))))

(ert-deftest notes-test-a-prompt-that-a-timer-has-opened-holds-nothing-up-once-it-is-answered ()
  ;; The key that leaves the minibuffer begins a command there, and nothing says that it is over.
  (let ((notes-lsp--running (list (1+ (recursion-depth)))))
    (should-not (notes-lsp--unsafe-p))
    (should-not notes-lsp--running)))

(ert-deftest notes-test-waiting-is-given-up-by-quitting ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (notes-test-press #'notes-join "slow")
    (should (notes-lsp--shown-question))
    (condition-case nil (notes-test-press #'keyboard-quit) (quit nil))
    (notes-test-wait (lambda () (null notes-lsp--questions)))
    (should-not (member notes-lsp--sign global-mode-string))
    (notes-lsp-service-notify :test/answer (notes-lsp--empty))
    (notes-lsp-service-request :notes/list (notes-lsp--empty))
    (should (eq buffer (window-buffer)))
    (should-not notes-lsp--answers)))

(ert-deftest notes-test-a-quick-answer-is-dealt-with-in-the-command ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (let ((notes-lsp-patience 10))
      (notes-new "Tea")
      (should (notes-test-shows-p "Tea"))
      (should (equal "a-ticket" (notes-share)))
      (should-error (notes-undelete "Soup") :type 'user-error))))

(ert-deftest notes-test-a-ticket-that-no-longer-works-is-not-shown ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (let ((notes-lsp-patience 10)
          (begins (lambda (line)
                    (with-current-buffer "*notes ticket*" (string-prefix-p line (buffer-string))))))
      (notes-new "Tea")
      (notes-share)
      (notes-lsp-service-notify
       :test/say '(:method "notes/event" :params (:kind "tickets" :id "another")))
      (should (funcall begins "What it allows"))
      (notes-unshare)
      (should (funcall begins "This ticket no longer works. M-x notes-share makes a new one"))
      (notes-share)
      (should (funcall begins "What it allows")))))

(ert-deftest notes-test-what-was-deleted-last-is-offered ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (let ((notes-lsp-patience 10) asked chosen)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (prompt _titles _predicate _match _initial _history default)
                   (setq asked prompt)
                   default)))
        (notes-lsp--choose-deleted "Restore" nil (lambda (note) (setq chosen note))))
      (should (equal "Restore (default Tea): " asked))
      (should (equal "a" (plist-get chosen :id))))))

(ert-deftest notes-test-one-who-types-is-not-asked-for-a-name ()
  (let ((asked nil) (told nil))
    (cl-letf (((symbol-function 'notes-lsp--ask-who) (lambda (_) (setq asked t)))
              ((symbol-function 'notes-lsp--warn) (lambda (line) (setq told line))))
      (let ((notes-lsp--commands-at-start (1- notes-lsp--commands-begun)))
        (notes-lsp--introduce "Ana"))
      (should-not asked)
      (should (string-search ":NotesName" told))
      (let ((notes-lsp--commands-at-start notes-lsp--commands-begun))
        (notes-lsp--introduce "Ana"))
      (should asked))))

(ert-deftest notes-test-of-too-many-messages-the-oldest-news-is-dropped ()
  (let ((notes-lsp--waiting-news (list (cons "Your words are in a copy" t)))
        (notes-lsp--unread t))
    (dotimes (number (1+ notes-lsp--maximum-news))
      (notes-lsp--add-news (format "news %d" number) nil))
    (should (= notes-lsp--maximum-news (length notes-lsp--waiting-news)))
    (should (equal "Your words are in a copy" (caar notes-lsp--waiting-news)))
    (should (equal "news 2" (car (nth 1 notes-lsp--waiting-news))))))

(ert-deftest notes-test-much-that-is-said-at-once-is-read-in-slices ()
  (notes-test-with-service (notes-test-fake-service)
    (notes-lsp-service-ensure)
    (let* ((process (jsonrpc--process notes-lsp--link))
           (body "{\"jsonrpc\":\"2.0\",\"method\":\"test/news\",\"params\":{}}")
           (message (format "Content-Length: %d\r\n\r\n%s" (length body) body))
           (count 0)
           (most 0)
           (notes-lsp--handlers
            (list (cons 'test/news (lambda (_)
                                     (cl-incf count)
                                     (let ((start (float-time)))
                                       (while (< (float-time) (+ start 0.0005)))))))))
      (cl-letf* ((read-slice (symbol-function 'notes-lsp--read-slice))
                 ((symbol-function 'notes-lsp--read-slice)
                  (lambda (&rest arguments)
                    (let ((before count))
                      (apply read-slice arguments)
                      (setq most (max most (- count before)))))))
        (notes-lsp--on-output process (mapconcat #'identity (make-list 300 message) ""))
        ;; In the filter, where C-g is not heard, nothing is read.
        (should (= 0 count))
        (notes-test-wait (lambda () (= 300 count)))
        ;; Each takes half a millisecond: 16 in a slice, and those of one piece more.
        (should (< most 100))))))

(provide 'notes-lsp-ask-test)
;;; notes-lsp-ask-test.el ends here
