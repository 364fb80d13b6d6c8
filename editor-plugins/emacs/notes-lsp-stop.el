;;; notes-lsp-stop.el --- How the notes-lsp process is stopped  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The service is asked to store everything before it ends, by a command or
;; when Emacs ends.

;;; Code:

(require 'notes-lsp-service)
(require 'notes-lsp-unsent)

(defvar notes-lsp--stored)

(defun notes-lsp--dead-p (process)
  "Return non-nil if PROCESS is dead, be it reported or not."
  (or (not (process-live-p process))
      (equal "Z" (alist-get 'state (process-attributes (process-id process))))))

(defun notes-lsp--await-last (process done-p)
  "Wait two seconds at most until DONE-P or PROCESS is dead.
Inside a signal handler Emacs waits forever for output of a process that
dies meanwhile, as its death is not reported; but timers run."
  (let ((watch (run-with-timer 0.05 0.05
                               (lambda ()
                                 (when (notes-lsp--dead-p process) (delete-process process))))))
    (unwind-protect
        (with-timeout (2.5)
          (notes-lsp--wait 2 (lambda () (or (funcall done-p) (not (process-live-p process))))))
      (cancel-timer watch))))

(defun notes-lsp-service-stop (&optional leaving)
  "Ask the service to store everything and end; wait at most four seconds.
LEAVING means that Emacs itself ends, maybe inside a signal handler; then
the answer of the service, by which everything is stored, must do."
  (when notes-lsp--restart-timer (cancel-timer notes-lsp--restart-timer))
  (setq notes-lsp--restart-timer nil)
  (let ((link notes-lsp--link) (notes-lsp--stored nil))
    (when (notes-lsp-service-ready-p)
      (notes-lsp--guarded "stopping"
        (run-hooks 'notes-lsp--before-stop-hook)
        (notes-lsp--keep-all-words)
        (when leaving                   ; The service brings the files of closed buffers up to date.
          (dolist (note notes-lsp--notes)
            (notes-lsp-service-notify :textDocument/didClose `(:textDocument (:uri ,(notes-lsp--note-uri note))))))
        (let ((process (jsonrpc--process link)) answered)
          (jsonrpc-async-request link :shutdown nil :timeout 3
                                 :success-fn (lambda (_) (setq answered t notes-lsp--stored leaving)
                                               (notes-lsp--forget-unsent))
                                 :error-fn (lambda (_) (setq answered t)) :timeout-fn #'ignore)
          (set-process-sentinel process #'ignore)
          (notes-lsp--await-last process (lambda () answered))
          (when (process-live-p process)
            (jsonrpc-notify link :exit (notes-lsp--empty))
            (unless leaving (notes-lsp--await-last process #'ignore))))))
    (setq notes-lsp--state 'stopped notes-lsp--link nil)
    ;; One that did not answer may still read what is in its pipe, and store that.
    (when (and link (eq leaving notes-lsp--stored)) (notes-lsp--end-process link))
    (run-hooks 'notes-lsp--down-hook)
    (notes-lsp--release-queue "the service was stopped")))

(defun notes-lsp--stop-then (then)
  "Stop the service as `notes-lsp-service-stop' does, without waiting; call THEN."
  (let ((link notes-lsp--link))
    (if (not (notes-lsp-service-ready-p))
        (progn (notes-lsp-service-stop) (funcall then))
      (notes-lsp--guarded "stopping"
        (run-hooks 'notes-lsp--before-stop-hook)
        (notes-lsp--keep-all-words))
      ;; From here on this process is sent nothing but `shutdown' and `exit'.
      (setq notes-lsp--state 'stopped notes-lsp--link nil)
      (run-hooks 'notes-lsp--down-hook)
      (let ((exit (lambda (&rest _)
                    (notes-lsp--soon (jsonrpc-notify link :exit (notes-lsp--empty))))))
        ;; Emacs refuses to write to a suspended process; that one is killed at the deadline.
        (ignore-errors
          (jsonrpc-async-request link :shutdown nil :timeout 3
                                 :success-fn (lambda (_) (notes-lsp--forget-unsent) (funcall exit))
                                 :error-fn exit :timeout-fn #'ignore)))
      (notes-lsp--await-end link (+ (float-time) 4) then))))

(defun notes-lsp--await-end (link deadline then)
  "Call THEN when LINK's process has ended, which it must by DEADLINE."
  (if (and (process-live-p (jsonrpc--process link)) (< (float-time) deadline))
      (run-with-timer 0.05 nil #'notes-lsp--await-end link deadline then)
    (notes-lsp--end-process link)
    (notes-lsp--guarded "stopping" (funcall then))))

;;;###autoload
(defun notes-restart ()
  "End the service and start it again; the notes stay open."
  (interactive)
  (notes-lsp--stop-then
   (lambda ()
     (notes-lsp--when-ready
      (lambda () (notes-lsp--say "Service running"))
      (lambda (reason) (notes-lsp--say "%s" reason))))))

;;;###autoload
(defun notes-stop ()
  "Stop the service; the notes stay open, and it merges them when it restarts."
  (interactive)
  (notes-lsp--stop-then (lambda () (notes-lsp--say "Service stopped; typing is kept. :NotesRestart"))))

(defun notes-lsp--offer-to-save ()
  "Offer to save the notes whose last words the service does not read; return t.
When a file is opened again, the service merges what was saved in it."
  (let ((left (cl-remove-if-not #'buffer-modified-p (mapcar #'notes-lsp--note-buffer notes-lsp--notes)))
        (has-read nil))
    (notes-lsp--guarded "leaving"
      (when left
        (when (notes-lsp--wait 2 (lambda () (not (notes-lsp--stalled))))
          (run-hooks 'notes-lsp--before-stop-hook)
          (notes-lsp-service-request-async :notes/status (notes-lsp--empty) (lambda (_) (setq has-read t)))
          (notes-lsp--wait 2 (lambda () (or has-read (not (notes-lsp-service-ready-p))))))
        (unless (or has-read
                    (not (y-or-n-p (format "Notes: The service has not read the last words.  Save %s? "
                                           (mapconcat #'buffer-name left ", ")))))
          (save-some-buffers t (lambda () (memq (current-buffer) left))))))
    t))

(add-hook 'kill-emacs-query-functions #'notes-lsp--offer-to-save)

(defun notes-lsp--on-kill-emacs ()
  "Leave properly when Emacs ends."
  (notes-lsp--guarded "leaving" (notes-lsp-service-stop 'leaving)))

(add-hook 'kill-emacs-hook #'notes-lsp--on-kill-emacs)

(provide 'notes-lsp-stop)
;;; notes-lsp-stop.el ends here
