;;; notes-lsp-service.el --- The notes-lsp process and its JSON-RPC link  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; One `notes-lsp' process for the whole Emacs.  It is started when a note
;; is opened or a command needs it, restarted with growing pauses when it
;; dies, and given up loudly after five quick deaths.
;;
;;     stopped ──ensure──► starting ──initialized──► ready
;;        ▲                   ▲ │                      │
;;      stop             timer│ └───────death──────────┤
;;        │                   │                        ▼
;;     (any)               waiting ◄───────────────  death ──5 quick──► failed
;;
;; Message handlers send nothing, because sending may let other processes run
;; in the middle of a message.  Handlers queue, zero-delay timers act.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'subr-x)
(require 'notes-lsp-news)
(require 'notes-lsp-reading)
(require 'notes-lsp-sending)

(defvar notes-lsp--commands-begun)
(defvar notes-lsp--commands-at-start 0 "How many commands had begun when the service was started.")
(declare-function notes-lsp--introduce "notes-lsp-introduction" (name))
(defvar notes-lsp-command)
(defvar notes-lsp-name)
(defvar notes-lsp-color)

(defconst notes-lsp-protocol 1 "The version of the editor protocol that this package speaks.")

(defconst notes-lsp--prefix
  (let ((folder (and load-file-name (file-name-directory load-file-name))))
    (and folder (string-suffix-p "/lib/notes-lsp/emacs/" folder)
         (expand-file-name "../../../" folder)))
  "Where `make install' or a tarball has put this package and its program.")

(defun notes-lsp--program ()
  "Return the program: as set, or on the PATH, or installed beside this package."
  (let* ((program (car notes-lsp-command))
         (beside (and notes-lsp--prefix (equal program "notes-lsp") (not (executable-find program))
                      (expand-file-name "bin/notes-lsp" notes-lsp--prefix))))
    (if (and beside (file-executable-p beside)) beside program)))

(defconst notes-lsp--quick-death-seconds 10
  "A service that dies younger than this many seconds died quickly.")

(defconst notes-lsp--quick-deaths-allowed 5
  "After this many quick deaths in a row the service is not restarted.")

(defclass notes-lsp--connection (jsonrpc-process-connection) ()
  :documentation "The link to one notes-lsp process.")

(cl-defmethod jsonrpc-connection-send :around ((link notes-lsp--connection) &rest _)
  "Send over LINK without waiting for a process that does not read."
  (notes-lsp--send-within-moment (jsonrpc--process link) #'cl-call-next-method))

(defvar notes-lsp--link nil "The current `notes-lsp--connection', or nil.")
(defvar notes-lsp--state 'stopped "One of the symbols stopped, starting, ready, waiting, failed.")
(defvar notes-lsp--starts 0 "How many processes were started.")
(defvar notes-lsp--started 0.0 "When the current process was started.")
(defvar notes-lsp--quick-deaths 0 "Quick deaths in a row.")
(defvar notes-lsp--restart-timer nil "Timer that ends the waiting state.")
(defvar notes-lsp--failure nil "Why the service last failed, one line.")
(defvar notes-lsp--capabilities nil "The service's capabilities.experimental.notes, a plist.")
(defvar notes-lsp--encoding "utf-16" "The agreed position encoding.")
(defvar notes-lsp--log nil "The last lines the process wrote to standard error.")

(defvar notes-lsp--handlers nil
  "Alist from a notification's method to the function that takes its params.")
(defvar notes-lsp--ready-hook nil "Run when the service has become ready.")
(defvar notes-lsp--down-hook nil "Run when the service is no longer ready.")
(defvar notes-lsp--ready-queue nil
  "Pairs of functions: one is called when the service is ready.
The other, if it cannot be started, with a line that says why.")
(defvar notes-lsp--before-stop-hook nil
  "Run while the service is still ready and about to be stopped.")

(defun notes-lsp--empty ()
  "Return an object that serializes to {}."
  (make-hash-table))

(defun notes-lsp-service-ready-p ()
  "Return non-nil if the service runs and has been initialized."
  (and (eq notes-lsp--state 'ready) notes-lsp--link
       (jsonrpc-running-p notes-lsp--link)))

(defun notes-lsp--stalled ()
  "Return since when the service has not read all that it was sent, or nil."
  (and notes-lsp--link (notes-lsp--stalled-since (jsonrpc--process notes-lsp--link))))

(defun notes-lsp-service-restarting-p ()
  "Return non-nil if the service comes back by itself."
  (memq notes-lsp--state '(waiting starting)))

(defun notes-lsp-service-capable-p (feature)
  "Return non-nil if the service announced FEATURE, a keyword."
  (eq t (plist-get notes-lsp--capabilities feature)))

(defun notes-lsp--handle (method function)
  "Call FUNCTION with the params of every notification METHOD."
  (setf (alist-get method notes-lsp--handlers) function))

;;; Messages

(defun notes-lsp--on-notification (link method params)
  "Hand METHOD's PARAMS to its handler, if LINK is the current one."
  (when (eq link notes-lsp--link)
    (when-let ((handler (alist-get method notes-lsp--handlers)))
      (notes-lsp--guarded method (funcall handler params)))))

(defun notes-lsp--on-request (_link method _params)
  "Answer METHOD, one of the few standard requests, or refuse it."
  (pcase method
    ((or 'window/workDoneProgress/create 'window/showMessageRequest
         'workspace/inlayHint/refresh 'workspace/codeLens/refresh)
     nil)
    (_ (jsonrpc-error :code -32601 :message (format "Unknown method %s" method)))))

(defun notes-lsp-service-notify (method params)
  "Send the notification METHOD with PARAMS, if the service is ready."
  (when (notes-lsp-service-ready-p)
    (let ((inhibit-quit t))             ; never half a message
      (jsonrpc-notify notes-lsp--link method params))))

(cl-defun notes-lsp-service-request-async (method params success &key error refused (timeout 30))
  "Send METHOD with PARAMS; call SUCCESS with the result, or ERROR with a line.
If the service refuses, REFUSED gets the data of its error before that, and
returns non-nil if it deals with them.  All are called from a message handler
and must not send.  TIMEOUT is in seconds."
  (let ((failed (or error #'ignore)) (inhibit-quit t))
    (if (not (notes-lsp-service-ready-p))
        (funcall failed "Offline: the service is not running. :NotesRestart")
      (jsonrpc-async-request
       notes-lsp--link method params
       :timeout timeout
       :success-fn (lambda (result) (notes-lsp--guarded method (funcall success result)))
       :error-fn (lambda (problem)
                   (unless (and refused (funcall refused (plist-get problem :data)))
                     ;; The error of jsonrpc itself for a process that has ended.
                     (funcall failed (if (eql -1 (plist-get problem :code))
                                         "The service stopped; try again"
                                       (plist-get problem :message)))))
       :timeout-fn (lambda () (funcall failed "No answer from the service; try again"))))))

(defun notes-lsp-service-request (method params &optional timeout)
  "Start the service if needed, send METHOD with PARAMS, return the result.
Signal a `user-error' with the service's own sentence if it refuses, dies
or has not answered after TIMEOUT (default 30) seconds."
  (notes-lsp-service-ensure)
  (let ((limit (or timeout 30)) (state 'waiting) answer)
    (notes-lsp-service-request-async
     method params
     (lambda (result) (unless (eq state 'gone) (setq answer result state 'done)))
     :error (lambda (line) (unless (eq state 'gone) (setq answer line state 'failed)))
     :timeout limit)
    (unwind-protect
        (notes-lsp--wait limit (lambda () (not (eq state 'waiting))))
      (when (eq state 'waiting) (setq state 'gone)))
    (pcase state
      ('done answer)
      ('failed (notes-lsp--refuse answer))
      (_ (user-error "Notes: No answer from the service; try again")))))

(defun notes-lsp--wait (seconds done-p)
  "Let processes and timers run until DONE-P returns non-nil, at most SECONDS.
Return what DONE-P returned last."
  (let ((deadline (+ (float-time) seconds)) (inhibit-quit nil) done)
    (while (not (or (setq done (funcall done-p)) (> (float-time) deadline)))
      ;; A timer that runs in it does not end it.
      (accept-process-output nil (if (notes-lsp--timer-due-p) 0.001 0.05)))
    done))

(defun notes-lsp--timer-due-p ()
  "Return non-nil if a timer is to run now."
  (and timer-list (not (time-less-p nil (timer--time (car timer-list))))))

;;; Life

(defun notes-lsp--when-ready (go fail)
  "Call GO when the service, started if needed, is ready; else FAIL with a line."
  (if (notes-lsp-service-ready-p)
      (funcall go)
    (setq notes-lsp--ready-queue (nconc notes-lsp--ready-queue (list (cons go fail))))
    (notes-lsp--begin)))

(defun notes-lsp--begin ()
  "Start the service unless it runs or starts."
  (when (memq notes-lsp--state '(stopped failed)) (setq notes-lsp--quick-deaths 0))
  (unless (or (eq notes-lsp--state 'starting) (notes-lsp-service-ready-p))
    (notes-lsp--start)))

(defun notes-lsp--release-queue (&optional reason)
  "Run what waits for the service; it cannot be started for REASON, if given."
  (let ((queue notes-lsp--ready-queue))
    (setq notes-lsp--ready-queue nil)
    (pcase-dolist (`(,go . ,fail) queue)
      (notes-lsp--guarded "starting" (if reason (funcall fail reason) (funcall go))))))

(defun notes-lsp-service-ensure ()
  "Start the service unless it runs; return when it is ready.
Signal a `user-error' if it does not become ready."
  (unless (notes-lsp-service-ready-p)
    (notes-lsp--begin)
    (unless (notes-lsp--wait 10 (lambda () (memq notes-lsp--state '(ready failed waiting))))
      (notes-lsp--fail "The service does not answer. :NotesDoctor shows why"))
    (unless (notes-lsp-service-ready-p)
      (user-error "Notes: %s" (notes-lsp--here (or notes-lsp--failure "The service did not start. :NotesDoctor shows why"))))))

(defun notes-lsp--start ()
  "Start a process and begin to initialize it."
  (when notes-lsp--restart-timer (cancel-timer notes-lsp--restart-timer))
  (setq notes-lsp--restart-timer nil
        notes-lsp--started (float-time)
        notes-lsp--state 'starting
        notes-lsp--log nil
        notes-lsp--failure nil
        notes-lsp--link nil)
  (condition-case problem
      (progn
        (unless (executable-find (notes-lsp--program)) (error "No such program"))
        (setq notes-lsp--link
              (make-instance 'notes-lsp--connection
                             ;; One that is ending keeps its own buffers.
                             :name (format "notes-lsp %d" (cl-incf notes-lsp--starts))
                             :process #'notes-lsp--make-process
                             :events-buffer-scrollback-size 0
                             :notification-dispatcher #'notes-lsp--on-notification
                             :request-dispatcher #'notes-lsp--on-request
                             :on-shutdown #'notes-lsp--on-death)))
    (error
     (setq notes-lsp--log (error-message-string problem))
     (notes-lsp--fail (format "Set `notes-lsp-command': cannot run %s" (car notes-lsp-command)))))
  (when notes-lsp--link
    (let ((process (jsonrpc--process notes-lsp--link)))
      (set-process-filter process #'notes-lsp--on-output)
      (set-process-sentinel process #'notes-lsp--on-process-change))
    (condition-case nil
        (notes-lsp--initialize notes-lsp--link)
      ;; It died at once; the sentinel will report it.
      (error (ignore)))))

(defun notes-lsp--make-process ()
  "Return a new process made from `notes-lsp-command'."
  (let ((process-adaptive-read-buffering nil)
        (default-directory (expand-file-name "~/")))
    (make-process :name "notes-lsp" :command (cons (notes-lsp--program) (cdr notes-lsp-command))
                  :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                  :stderr (make-pipe-process :name "notes-lsp stderr" :noquery t
                                             :filter #'notes-lsp--on-stderr
                                             :sentinel #'ignore))))

(defun notes-lsp--on-stderr (_process text)
  "Keep the end of TEXT as part of the service's last words."
  (let ((log (concat notes-lsp--log text)))
    (setq notes-lsp--log (substring log (max 0 (- (length log) 4000))))))

(defun notes-lsp--initialize (link)
  "Send the initialize request over LINK."
  (setq notes-lsp--commands-at-start notes-lsp--commands-begun)
  (jsonrpc-async-request
   link :initialize
   `(:processId ,(emacs-pid)
     :clientInfo (:name "Emacs" :version ,emacs-version)
     :capabilities (:general (:positionEncodings ["utf-32" "utf-16"]))
     :initializationOptions
     (:notes (:protocol ,notes-lsp-protocol :introduces t
              ,@(when notes-lsp-name `(:userName ,notes-lsp-name))
              ,@(when notes-lsp-color `(:color ,notes-lsp-color))
              :client ,(format "emacs %s" emacs-version))))
   :timeout 10
   :success-fn (lambda (result) (notes-lsp--soon (notes-lsp--initialized link result)))
   :error-fn (lambda (problem)
               (notes-lsp--soon
                 (when (and (eq link notes-lsp--link) (eq notes-lsp--state 'starting))
                   (notes-lsp--fail (format "The service failed to start: %s"
                                            (plist-get problem :message))))))
   :timeout-fn (lambda ()
                 (when (and (eq link notes-lsp--link) (eq notes-lsp--state 'starting))
                   (notes-lsp--fail "The service does not answer. :NotesDoctor shows why")))))

(defun notes-lsp--initialized (link result)
  "Note the RESULT of initialize over LINK and announce the ready service."
  (when (and (eq link notes-lsp--link) (eq notes-lsp--state 'starting))
    (let* ((capabilities (plist-get result :capabilities))
           (notes (plist-get (plist-get capabilities :experimental) :notes))
           (protocol (plist-get notes :protocol)))
      (if (not (eql protocol notes-lsp-protocol))
          (notes-lsp--fail
           (format "Update %s: the service speaks protocol %s, not %s"
                   (if (and (numberp protocol) (> protocol notes-lsp-protocol))
                       "this package" "notes-lsp")
                   (or protocol "0") notes-lsp-protocol))
        (setq notes-lsp--capabilities notes
              notes-lsp--encoding (or (plist-get capabilities :positionEncoding) "utf-16")
              notes-lsp--state 'ready)
        (jsonrpc-notify link :initialized (notes-lsp--empty))
        (run-hooks 'notes-lsp--ready-hook)
        ;; Requests wait until the user has confirmed their name.
        (when (and (eq t (plist-get notes :asksName)) (not noninteractive))
          (notes-lsp--guarded "asking" (notes-lsp--introduce (plist-get notes :peerName))))
        (notes-lsp--release-queue)))))

(defun notes-lsp--fail (reason)
  "Give up on the service for REASON, and say so."
  (let ((link notes-lsp--link))
    (setq notes-lsp--state 'failed notes-lsp--failure reason notes-lsp--link nil)
    (when link (notes-lsp--end-process link))
    (run-hooks 'notes-lsp--down-hook)
    (if notes-lsp--ready-queue
        (notes-lsp--release-queue reason)
      (notes-lsp--warn reason))))

(defun notes-lsp--on-death (link)
  "Plan a restart after LINK's process ended without being asked to."
  (when (eq link notes-lsp--link)
    (let ((quick (< (- (float-time) notes-lsp--started) notes-lsp--quick-death-seconds)))
      (setq notes-lsp--link nil
            notes-lsp--quick-deaths (if quick (1+ notes-lsp--quick-deaths) 1)
            notes-lsp--failure "The service stopped and restarts; typing is kept")
      (if (and quick (>= notes-lsp--quick-deaths notes-lsp--quick-deaths-allowed))
          (notes-lsp--fail "The service keeps failing. :NotesDoctor shows why")
        (setq notes-lsp--state 'waiting
              notes-lsp--restart-timer
              (run-with-timer (* 0.1 (expt 2 (1- notes-lsp--quick-deaths))) nil
                              #'notes-lsp--start))
        (run-hooks 'notes-lsp--down-hook)
        (notes-lsp--news notes-lsp--failure)))))

(defun notes-lsp--end-process (link)
  "Close LINK's process and its buffers now."
  (let ((process (jsonrpc--process link)))
    (set-process-sentinel process #'ignore)
    (dolist (timer '(notes-lsp-timer notes-lsp-pusher))
      (when (process-get process timer) (cancel-timer (process-get process timer))))
    (delete-process process)
    (dolist (buffer (list (process-buffer process) (jsonrpc-stderr-buffer link)))
      (ignore-errors (kill-buffer buffer)))))

(provide 'notes-lsp-service)
;;; notes-lsp-service.el ends here
