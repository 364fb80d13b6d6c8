;;; notes-lsp-sending.el --- Sending does not wait for the notes-lsp process  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A process that is stopped, or busy, does not read.  When its pipe is full,
;; Emacs waits in `process-send-string' until all is written, and C-g cannot
;; end that, since half a message must never be sent.  But it is safe to
;; leave that wait: Emacs keeps the rest, and writes it before the next
;; message.  So no send waits longer than a moment.  From then until the rest
;; is written the process is stalled: notes hold their changes back.
;; To a suspended process Emacs refuses to write: messages to it wait.

;;; Code:

(require 'timer)

(defconst notes-lsp--send-seconds 0.1 "How long a process may take to read a message.")

(defconst notes-lsp--push-seconds 0.01 "How long a process that is stalled may take at a time.")

(defconst notes-lsp--push-pause 0.05 "Seconds until more of the rest is written.")

(defun notes-lsp--stalled-since (process)
  "Return since when PROCESS has not read all that it was sent, or nil.
Emacs refuses to write to one that is suspended."
  (when (eq 'stop (process-status process)) (notes-lsp--push-later process))
  (process-get process 'notes-lsp-stalled))

(defvar notes-lsp--sends nil "A tag for each message that waits, the innermost first.")

(defun notes-lsp--send-within-moment (process send)
  "Call SEND, which writes to PROCESS, but do not wait long until all is read.
While PROCESS is suspended, SEND waits, and so does what comes after it."
  (if (not (or (process-get process 'notes-lsp-held) (eq 'stop (process-status process))))
      (notes-lsp--send-now process send)
    (process-put process 'notes-lsp-held (append (process-get process 'notes-lsp-held) (list send)))
    (notes-lsp--push-later process)))

(defun notes-lsp--send-now (process send)
  "Call SEND, which writes to PROCESS, but do not wait long until all is read."
  (let* ((tag (make-symbol "late"))
         (depth (recursion-depth))
         (notes-lsp--sends (cons tag notes-lsp--sends))
         ;; Leave this wait only, not what a timer does in it, like sending.
         (late (lambda ()
                 (when (and (eq tag (car notes-lsp--sends)) (= depth (recursion-depth)))
                   (throw tag nil))))
         (timer (run-with-timer (if (notes-lsp--stalled-since process) notes-lsp--push-seconds
                                  notes-lsp--send-seconds)
                                notes-lsp--push-seconds late)))
    (if (catch tag
          (unwind-protect (progn (funcall send) t)
            (cancel-timer timer)
            ;; One that has just died is reported by its sentinel, which a warning would keep from being shown.
            (unless (process-live-p process) (throw tag t))))
        (process-put process 'notes-lsp-stalled nil)
      (notes-lsp--push-later process))))

(defun notes-lsp--push-later (process)
  "Write soon what PROCESS has not read."
  (unless (process-get process 'notes-lsp-stalled)
    (process-put process 'notes-lsp-stalled (float-time)))
  (unless (process-get process 'notes-lsp-pusher)
    (process-put process 'notes-lsp-pusher
                 (run-with-timer notes-lsp--push-pause nil #'notes-lsp--push-on process))))

(defun notes-lsp--push-on (process)
  "Write more of what PROCESS has not read."
  (process-put process 'notes-lsp-pusher nil)
  (when (process-live-p process)
    (if (eq 'stop (process-status process))
        (notes-lsp--push-later process)
      (let ((held (process-get process 'notes-lsp-held)))
        (process-put process 'notes-lsp-held nil)
        (dolist (send (or held (list (lambda () (process-send-string process "")))))
          (ignore-errors (notes-lsp--send-within-moment process send)))))))

(provide 'notes-lsp-sending)
;;; notes-lsp-sending.el ends here
