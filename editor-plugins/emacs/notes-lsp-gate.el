;;; notes-lsp-gate.el --- When a note's buffer may be changed  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Messages about a note wait in the note's queue until the editor is in a
;; state in which the buffer can safely be changed.  Then the buffer's own
;; changes are sent first.  An edit made for another version of the text is
;; dropped, because the service sends it again.  Any other is applied from
;; the bottom up, and does not count as a change of this user.

;;; Code:

(require 'cl-lib)
(require 'url-util)
(require 'notes-lsp-service)
(require 'notes-lsp-capture)
(require 'notes-lsp-apply)
(require 'notes-lsp-condition)
(require 'notes-lsp-file)

(declare-function notes-lsp--did-open "notes-lsp-buffer" (note reattach))
(declare-function notes-lsp--show-peers "notes-lsp-presence" (note))
(declare-function notes-lsp--report-cursor "notes-lsp-presence" (note))

(defconst notes-lsp--retry-seconds 0.2
  "How long to wait before looking again whether the queue may be worked on.")

;;; The gate

(defconst notes-lsp--tidy-seconds 0.004
  "How long after an edit garbage is collected: its letter is on the screen then.")
(defconst notes-lsp--burst-seconds 0.06 "Edits that come so close together are a burst.")
(defconst notes-lsp--burst-memory 16000001 "So many bytes of garbage a burst may make.")
(defvar notes-lsp--usual-memory nil "The user's `gc-cons-threshold', during a burst.")
(defvar notes-lsp--edited-at 0 "When the last edit came, in seconds.")
(defvar notes-lsp--tidy-timer nil "Timer that collects garbage.")

(defun notes-lsp--tidy-soon ()
  "Collect garbage when no edit is on its way, if half of it has come together.
Else Emacs would do it while a letter is, for ten milliseconds and more."
  (let ((burst (< (- (float-time) notes-lsp--edited-at) notes-lsp--burst-seconds)))
    (setq notes-lsp--edited-at (float-time))
    (when (and burst (< gc-cons-threshold notes-lsp--burst-memory))
      (setq notes-lsp--usual-memory gc-cons-threshold
            gc-cons-threshold notes-lsp--burst-memory))
    (when notes-lsp--tidy-timer (cancel-timer notes-lsp--tidy-timer))
    (setq notes-lsp--tidy-timer
          (run-with-timer (if burst notes-lsp--burst-seconds notes-lsp--tidy-seconds) nil #'notes-lsp--tidy))))

(defun notes-lsp--tidy ()
  "Collect garbage if half of it has come together; a burst is over."
  (when (= gc-cons-threshold notes-lsp--burst-memory)
    (setq gc-cons-threshold notes-lsp--usual-memory))
  (garbage-collect-maybe 2))

(defvar notes-lsp--running nil
  "The recursion depths at which a command runs, innermost first.
The variable `this-command' would not do: a timer may leave it set.")

(defun notes-lsp--before-command ()
  "Note that a command runs."
  (push (recursion-depth) notes-lsp--running))

(defun notes-lsp--command-over ()
  "Note that the command at this recursion depth, and any deeper one, is over.
Runs after commands that failed, too."
  (while (and notes-lsp--running (>= (car notes-lsp--running) (recursion-depth)))
    (pop notes-lsp--running)))

(defun notes-lsp--command-runs-p ()
  "Return non-nil if a command runs.
One that has left a minibuffer which a timer opened was never said to be
over: only a command at its depth or above would say so."
  (while (and notes-lsp--running (> (car notes-lsp--running) (recursion-depth)))
    (pop notes-lsp--running))
  notes-lsp--running)

(defvar notes-lsp--safe nil "Non-nil while the command that runs waits for an edit.")

(defun notes-lsp--unsafe-p ()
  "Return non-nil while something relies on the current buffer not changing.
That is a command that runs or waits for input, a minibuffer or another
recursive edit, a keyboard macro, or an input method's draft."
  (unless notes-lsp--safe
    (or (notes-lsp--command-runs-p)
        (> (recursion-depth) 0)
        executing-kbd-macro
        (notes-lsp--composing-p))))

(defun notes-lsp--schedule (note &optional seconds)
  "Drain NOTE's queue SECONDS (default 0) from now."
  (unless (notes-lsp--note-timer note)
    (setf (notes-lsp--note-timer note)
          (run-with-timer (or seconds 0) nil #'notes-lsp--on-timer note))))

(defun notes-lsp--on-timer (note)
  "Drain NOTE's queue, if its buffer still lives."
  (setf (notes-lsp--note-timer note) nil)
  (when (buffer-live-p (notes-lsp--note-buffer note))
    (notes-lsp--guarded (buffer-name (notes-lsp--note-buffer note))
      (notes-lsp--drain note))
    (notes-lsp--hear-quit)))

(defun notes-lsp--flush-unless-stalled (note)
  "Send NOTE's own changes, if the service reads.
Return non-nil if nothing is left to send.  Meanwhile they come together."
  (if (and (notes-lsp--stalled) (notes-lsp--pending-p note))
      nil
    (notes-lsp--flush note)))

(defun notes-lsp--drain (note)
  "Send NOTE's own changes, then do what its queue says, as far as is safe."
  (when (and (notes-lsp--note-blocked note) (not (notes-lsp--note-open note))
             (not (notes-lsp--note-reading note)) (notes-lsp-service-ready-p))
    (notes-lsp--did-open note t))
  (unless (notes-lsp--note-busy note)
    (setf (notes-lsp--note-busy note) t)
    (unwind-protect
        (with-current-buffer (notes-lsp--note-buffer note)
          (let ((clean (notes-lsp--flush-unless-stalled note))
                (deadline (+ (float-time) notes-lsp--slice-seconds))
                (over nil))
            (if (and (notes-lsp--note-queue note) (notes-lsp--unsafe-p))
                (notes-lsp--schedule note notes-lsp--retry-seconds)
              ;; C-g takes effect between two slices of time.
              (while (and clean (not over) (notes-lsp--note-queue note))
                (notes-lsp--obey note (pop (notes-lsp--note-queue note)))
                (notes-lsp--hear-quit)
                (setq clean (notes-lsp--flush-unless-stalled note)
                      over (> (float-time) deadline)))
              (when (and clean (notes-lsp--note-queue note)) (notes-lsp--schedule note))
              (when clean (notes-lsp--show-peers note))
              (notes-lsp--tidy-soon))
            (notes-lsp--prove-soon note)
            (notes-lsp--show-words note)))
      (setf (notes-lsp--note-busy note) nil))
    (when (and (notes-lsp--note-open note)
               (or (notes-lsp--note-queue note)
                   (and (notes-lsp--pending-p note) (not (notes-lsp--note-blocked note)))))
      (notes-lsp--schedule note notes-lsp--retry-seconds))))

(defun notes-lsp--obey (note item)
  "Do for NOTE what ITEM of its queue says, unless it came too late."
  (pcase-let ((`(,method . ,params) item))
    (let ((current (eql (plist-get params :version) (notes-lsp--note-version note))))
      (pcase method
        ('notes/edit (when current (notes-lsp--apply note params)))
        ('notes/file (notes-lsp--file-known note params))
        ('notes/check
         (when (and current (eql (plist-get params :rev) (notes-lsp--note-rev note)))
           (notes-lsp--check note params)))))))

(defvar-local notes-lsp--tick nil "The buffer's tick when a macro's last command was over.")

(defun notes-lsp--changed-p ()
  "Return non-nil if the macro's last command changed the buffer.
What it typed in one place is sent when it moves on, as one step of undo."
  (not (eql notes-lsp--tick (setq notes-lsp--tick (buffer-chars-modified-tick)))))

(defun notes-lsp--after-command ()
  "Send what the command did; leave the queue to a timer, when it is over."
  (notes-lsp--command-over)
  (dolist (note notes-lsp--notes)
    (let ((buffer (notes-lsp--note-buffer note)))
      (when (and (buffer-live-p buffer) (notes-lsp--note-open note))
        (notes-lsp--guarded (buffer-name buffer)
          (when (notes-lsp--pending-p note)
            (if (or (and executing-kbd-macro (notes-lsp--changed-p)) (notes-lsp--note-busy note)
                    (notes-lsp--note-blocked note) (notes-lsp--stalled))
                (notes-lsp--schedule note)
              (notes-lsp--flush note)
              (notes-lsp--prove-soon note)))
          (when (notes-lsp--note-queue note) (notes-lsp--schedule note))
          (when (eq buffer (current-buffer)) (notes-lsp--report-cursor note)))))))

;;; What the service says

(defun notes-lsp--find-note (uri)
  "Return the note whose working file is URI, or nil."
  (or (cl-find uri notes-lsp--notes :key #'notes-lsp--note-uri :test #'equal)
      (let ((plain (url-unhex-string uri)))
        (cl-find plain notes-lsp--notes :test #'equal
                 :key (lambda (note) (url-unhex-string (notes-lsp--note-uri note)))))))

(defun notes-lsp--enqueue (method params)
  "Put METHOD with PARAMS into the queue of the note it is about."
  (let ((note (notes-lsp--find-note (plist-get params :uri))))
    (when (and note (notes-lsp--note-open note))
      (notes-lsp--has-read note (or (plist-get params :version) 0))
      (setf (notes-lsp--note-opened note) nil
            (notes-lsp--note-queue note)
            (nconc (notes-lsp--note-queue note) (list (cons method params))))
      (notes-lsp--hurry note))))

(defun notes-lsp--hurry (note)
  "Drain NOTE's queue as soon as possible, whatever was planned."
  (when (notes-lsp--note-timer note)
    (cancel-timer (notes-lsp--note-timer note))
    (setf (notes-lsp--note-timer note) nil))
  (notes-lsp--schedule note))

(defun notes-lsp--on-resync (params)
  "Send the full text of the note that PARAMS name."
  (let ((note (notes-lsp--find-note (plist-get params :uri))))
    (when note
      (notes-lsp--repair note (or (plist-get params :reason) "the service asked for it"))
      (notes-lsp--hurry note))))

(notes-lsp--handle 'notes/edit (apply-partially #'notes-lsp--enqueue 'notes/edit))
(notes-lsp--handle 'notes/check (apply-partially #'notes-lsp--enqueue 'notes/check))
(notes-lsp--handle 'notes/resync #'notes-lsp--on-resync)

(add-hook 'pre-command-hook #'notes-lsp--before-command)
(add-hook 'post-command-hook #'notes-lsp--after-command)

(provide 'notes-lsp-gate)
;;; notes-lsp-gate.el ends here
