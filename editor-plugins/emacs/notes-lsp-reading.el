;;; notes-lsp-reading.el --- What the notes-lsp process says is read in slices  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The process filter, which C-g cannot interrupt, only stores what the process
;; sends; timers read it, for a few milliseconds at a time.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'notes-lsp-news)

(defconst notes-lsp--slice-seconds 0.008
  "How long the process is listened to before keys are looked at again.")

(defconst notes-lsp--piece-length 4096 "How much of what the process said is read at a time.")

(defmacro notes-lsp--guarded (what &rest body)
  "Evaluate BODY; an error becomes one line that names WHAT."
  (declare (indent 1) (debug t))
  `(condition-case problem
       (progn ,@body)
     (error (notes-lsp--warn (format "%s: %s" ,what (error-message-string problem))))))

(defmacro notes-lsp--soon (&rest body)
  "Evaluate BODY from a zero-delay timer."
  (declare (indent 0) (debug t))
  `(run-with-timer 0 nil (lambda () (notes-lsp--guarded "later" ,@body))))

;;; Quitting

(defvar notes-lsp--running)

(defun notes-lsp--hear-quit ()
  "Turn a quit that came while quitting is inhibited into a key typed next.
Timers call this every few milliseconds.  Were the quit left pending, a
second one would bring up the emergency prompt of Emacs.  One that is
meant for a command that waits meanwhile is left to it."
  (when (and quit-flag (not (eql (car (bound-and-true-p notes-lsp--running)) (recursion-depth))))
    (setq quit-flag nil)
    (unless (memq ?\C-g unread-command-events)
      (setq unread-command-events (append unread-command-events (list ?\C-g))))))

;;; What the process says

(defun notes-lsp--on-output (process text)
  "Put TEXT from PROCESS aside, to be read by a timer."
  (cl-loop for start from 0 below (length text) by notes-lsp--piece-length
           for piece = (substring text start (min (length text) (+ start notes-lsp--piece-length)))
           do (push piece (process-get process 'notes-lsp-unread)))
  (notes-lsp--read-soon process))

(defun notes-lsp--read-soon (process)
  "Read what PROCESS said as soon as nothing else is to be done."
  (unless (process-get process 'notes-lsp-timer)
    (process-put process 'notes-lsp-timer
                 (run-with-timer 0 nil #'notes-lsp--read-slice process))))

(defun notes-lsp--read-slice (process &optional everything)
  "Read what PROCESS said, for a slice of time, or EVERYTHING."
  (when (process-get process 'notes-lsp-timer)
    (cancel-timer (process-get process 'notes-lsp-timer))
    (process-put process 'notes-lsp-timer nil))
  ;; A handler may let time pass, and so call this again.
  (unless (process-get process 'notes-lsp-reading)
    (process-put process 'notes-lsp-reading t)
    (let ((deadline (+ (float-time) notes-lsp--slice-seconds))
          (texts (nreverse (process-get process 'notes-lsp-unread))))
      (process-put process 'notes-lsp-unread nil)
      (unwind-protect
          (while (and texts (or everything (< (float-time) deadline)))
            (jsonrpc--process-filter process (pop texts))
            (notes-lsp--hear-quit))
        (process-put process 'notes-lsp-unread
                     (nconc (process-get process 'notes-lsp-unread) (nreverse texts)))
        (process-put process 'notes-lsp-reading nil)))
    (when (process-get process 'notes-lsp-unread) (notes-lsp--read-soon process))))

(defun notes-lsp--on-process-change (process change)
  "Deal with CHANGE of PROCESS, after all that it has said."
  (unless (process-live-p process)
    (notes-lsp--guarded "reading" (notes-lsp--read-slice process t)))
  (jsonrpc--process-sentinel process change))

(provide 'notes-lsp-reading)
;;; notes-lsp-reading.el ends here
