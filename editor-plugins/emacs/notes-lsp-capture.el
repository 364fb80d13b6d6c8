;;; notes-lsp-capture.el --- From changes of a buffer to didChange  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The state of a note buffer, and how its own changes reach the service.
;;
;; `before-change-functions' reads positions while they still mean
;; something; `after-change-functions' completes the pair.  Some commands
;; announce more than they change: then the whole announced region is sent.
;; After any inconsistency (an unpaired call, a wrong size, a modification
;; tick without an announcement) the next message has the full text, which
;; the service compares with what it knows.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'notes-lsp-service)

(defvar quail-overlay)

(defconst notes-lsp--changes-limit 4096
  "More changes than this in one batch are sent as full text.")

(defconst notes-lsp--invalid-character "[^\0-\ud7ff\ue000-\U0010ffff]"
  "Matches what no Unicode text contains: surrogates and raw bytes.")

(cl-defstruct (notes-lsp--note (:constructor notes-lsp--note-make) (:copier nil))
  "What is known about one note buffer."
  (buffer nil :documentation "The buffer.")
  (uri nil :documentation "The working file, as the service names it.")
  (visited nil :documentation "The working file, as Emacs names it.")
  (id nil :documentation "The document id, once known.")
  (open nil :documentation "Non-nil between didOpen and didClose or a death.")
  (version 1 :documentation "didChange batches so far.")
  (rev 0 :documentation "The last edit of the service that was applied.")
  (tick 0 :documentation "`buffer-chars-modified-tick' after the last known change.")
  (size 0 :documentation "`buffer-size' after the last known change.")
  (announced nil :documentation "Vector from before-change, or nil.")
  (changes nil :documentation "Changes not sent yet, latest first.")
  (change-count 0 :documentation "Length of the list of changes.")
  (full nil :documentation "Non-nil if only the full text will do.")
  (anchor nil :documentation "(LINE-START . LINE) known to be right, or nil.")
  (blocked nil :documentation "Position of a character that cannot be sent.")
  (applying nil :documentation "Non-nil while an edit of the service goes in.")
  (busy nil :documentation "Non-nil while the queue is being worked on.")
  (reading nil :documentation "Its last text, while a file's takes its place.")
  (queue nil :documentation "(METHOD . PARAMS) received and not yet dealt with.")
  (timer nil :documentation "Timer that will drain the queue.")
  (peers nil :documentation "What notes/cursors said last, with markers.")
  (peers-pending nil :documentation "A notes/cursors that waits for its edit.")
  (here nil :documentation "Alist from peer to name of the people in the note.")
  (status nil :documentation "What notes/status or notes/statusChanged said last.")
  (access "write" :documentation "What this person may do: \"write\" or \"read\".")
  (proven nil :documentation "The version for which the status was asked.
-1 if an earlier service was asked, nil if none was.")
  (prover nil :documentation "Timer that will ask for the status.")
  (patience 0.3 :documentation "Seconds until the status is asked for again.")
  (read 0 :documentation "The last version that the service has read for certain.")
  (unread nil :documentation "Since when the service has something to read, or nil.")
  (kept nil :documentation "The version whose words were kept in a file, or nil.")
  (unshared nil :documentation "Non-nil if it was shared and is no longer.")
  (shown nil :documentation "What the mode line said when it was last drawn.")
  (overlays nil :documentation "Overlays that show the peers.")
  (had nil :documentation "Of each service that the note was opened at, the last one first:
(RUN VERSION REV), with the version it was opened with and the last edit applied.")
  (opened nil :documentation "The text it was opened with, until a service says something about it.
One that ends before that has left no trace of the note.")
  (file-stamp nil :documentation "By what the file as it is known is known again.")
  (file-hash nil :documentation "The SHA-256 of a file of which the note has all.")
  (following nil :documentation "The peer whose caret is followed.")
  (cursor-sent nil :documentation "What notes/cursor said last.")
  (cursor-time 0.0 :documentation "When notes/cursor was last sent.")
  (cursor-timer nil :documentation "Timer that sends the next notes/cursor."))

(defvar-local notes-lsp--note nil "The state of this note buffer, or nil.")
(put 'notes-lsp--note 'permanent-local t)

(defvar notes-lsp--notes nil "The states of all note buffers.")

(defun notes-lsp--current ()
  "Return the state of the current buffer, if it is a note itself.
An indirect buffer that was cloned from a note is not."
  (and notes-lsp--note
       (eq (notes-lsp--note-buffer notes-lsp--note) (current-buffer))
       notes-lsp--note))

(defmacro notes-lsp--in-note (note &rest body)
  "Evaluate BODY in NOTE's buffer, widened, point and match data kept."
  (declare (indent 1) (debug t))
  `(with-current-buffer (notes-lsp--note-buffer ,note)
     (save-match-data
       (save-excursion
         (save-restriction
           (widen)
           ,@body)))))

;;; Positions

(defun notes-lsp--astral-count (begin end)
  "Count the characters between BEGIN and END that take two UTF-16 units."
  (let ((count 0))
    (save-excursion
      (goto-char begin)
      (while (re-search-forward "[\x10000-\x10ffff]" end t)
        (setq count (1+ count))))
    count))

(defun notes-lsp--position (note position)
  "Return POSITION of NOTE's widened current buffer as a protocol position.
Remember the start of its line, so that the next call counts from there."
  (save-excursion
    (goto-char position)
    (forward-line 0)
    (let* ((start (point))
           (anchor (notes-lsp--note-anchor note))
           (line (cond
                  ((null anchor) (notes-lsp--lines-between (point-min) start))
                  ((>= start (car anchor))
                   (+ (cdr anchor) (notes-lsp--lines-between (car anchor) start)))
                  (t (- (cdr anchor) (notes-lsp--lines-between start (car anchor)))))))
      (setf (notes-lsp--note-anchor note) (cons start line))
      (list :line line
            :character (+ (- position start)
                          (if (equal notes-lsp--encoding "utf-16")
                              (notes-lsp--astral-count start position)
                            0))))))

(defun notes-lsp--lines-between (begin end)
  "Count the newlines between BEGIN and END."
  (save-restriction
    (narrow-to-region begin end)
    (1- (line-number-at-pos end))))

(defun notes-lsp--base (note)
  "Return a new (LINE-START . LINE) of NOTE's widened current buffer."
  (let ((anchor (notes-lsp--note-anchor note)))
    (if anchor (cons (car anchor) (cdr anchor)) (cons (point-min) 0))))

(defun notes-lsp--locate (position &optional base)
  "Return the place of the protocol POSITION in the widened current buffer.
Past the end of a line or of the text means that end.  Lines are counted
from BASE, (LINE-START . LINE), which becomes that of POSITION; nil is the
top.  Move point."
  (let* ((base (or base (cons (point-min) 0)))
         (lines (- (plist-get position :line) (cdr base)))
         (column (plist-get position :character)))
    (goto-char (car base))
    (if (and (/= 0 lines) (or (/= 0 (forward-line lines)) (not (bolp))))
        (goto-char (point-max))
      (setcar base (point))
      (setcdr base (plist-get position :line))
      (let ((end (progn (skip-chars-forward "^\n" (+ (point) column)) (point))))
        (when (equal notes-lsp--encoding "utf-16")
          (goto-char (car base))
          (while (and (> column 0) (< (point) end))
            (setq column (- column (if (> (char-after) #xffff) 2 1)))
            (unless (< column 0) (forward-char))))))
    (point)))

;;; Change hooks

(defun notes-lsp--unseen-p (note)
  "Return non-nil if NOTE's text changed and the hooks were not told.
The size is compared too: reading a file can leave the tick alone."
  (let ((buffer (notes-lsp--note-buffer note)))
    (not (and (= (notes-lsp--note-tick note) (buffer-chars-modified-tick buffer))
              (= (notes-lsp--note-size note) (buffer-size buffer))))))

(defun notes-lsp--before-change (begin end)
  "Note what is about to be replaced between BEGIN and END."
  (let ((note (notes-lsp--current)))
    (when (and note (not (notes-lsp--note-applying note))
               (not (notes-lsp--note-full note)))
      (if (notes-lsp--unseen-p note)
          (setf (notes-lsp--note-full note) t)
        (let ((begin (if (markerp begin) (marker-position begin) begin))
              (end (if (markerp end) (marker-position end) end)))
          (notes-lsp--in-note note
            (let* ((last (notes-lsp--position note end))
                   (first (notes-lsp--position note begin)))
              (setf (notes-lsp--note-announced note)
                    (vector begin end first last (buffer-size))))))))))

(defun notes-lsp--after-change (begin end old-length)
  "Turn the text between BEGIN and END, once OLD-LENGTH long, into a change."
  (let ((note (notes-lsp--current)))
    (when (and note (not (notes-lsp--note-applying note)))
      (let ((announced (notes-lsp--note-announced note))
            (tick (buffer-chars-modified-tick)))
        (setf (notes-lsp--note-announced note) nil)
        ;; The tick of characters does not change when only properties change.
        (unless (and announced (= tick (notes-lsp--note-tick note))
                     (= old-length (- end begin)))
          (unless (notes-lsp--note-full note)
            (notes-lsp--record note announced (+ begin 0) (+ end 0) old-length))
          (setf (notes-lsp--note-tick note) tick
                (notes-lsp--note-size note) (buffer-size))
          (notes-lsp--schedule note))))))

(defun notes-lsp--record (note announced begin end old-length)
  "Add to NOTE the change that ANNOUNCED foretold, or ask for the full text.
BEGIN, END and OLD-LENGTH are what after-change was told."
  (let* ((growth (- end begin old-length))
         (fits (and announced
                    (= (- (buffer-size) (aref announced 4)) growth)
                    (<= (aref announced 0) begin)
                    (<= (+ begin old-length) (aref announced 1))))
         (text (and fits
                    (notes-lsp--in-note note
                      (buffer-substring-no-properties
                       (aref announced 0) (+ (aref announced 1) growth))))))
    (if (or (not fits)
            (>= (notes-lsp--note-change-count note) notes-lsp--changes-limit)
            (save-match-data (string-match-p notes-lsp--invalid-character text)))
        (notes-lsp--want-full-text note)
      (cl-incf (notes-lsp--note-change-count note))
      (push `(:range (:start ,(aref announced 2) :end ,(aref announced 3)) :text ,text)
            (notes-lsp--note-changes note)))))

(defun notes-lsp--want-full-text (note)
  "Make the next message about NOTE carry its full text."
  (setf (notes-lsp--note-full note) t
        (notes-lsp--note-announced note) nil
        (notes-lsp--note-changes note) nil
        (notes-lsp--note-change-count note) 0
        (notes-lsp--note-anchor note) nil))

(defun notes-lsp--settle (note)
  "Take NOTE's text as it is now for the text that is known."
  (setf (notes-lsp--note-full note) nil
        (notes-lsp--note-announced note) nil
        (notes-lsp--note-changes note) nil
        (notes-lsp--note-change-count note) 0
        (notes-lsp--note-anchor note) nil)
  (with-current-buffer (notes-lsp--note-buffer note)
    (setf (notes-lsp--note-tick note) (buffer-chars-modified-tick)
          (notes-lsp--note-size note) (buffer-size))))

;;; Sending

(defun notes-lsp--composing-p ()
  "Return non-nil while an input method keeps its draft in this buffer."
  (and (bound-and-true-p quail-overlay)
       (overlayp quail-overlay)
       (eq (overlay-buffer quail-overlay) (current-buffer))))

(defun notes-lsp--after-composing ()
  "Forget that an input method's draft came and went."
  (let ((note (notes-lsp--current)))
    (when (and note (= (notes-lsp--note-size note) (buffer-size)))
      (setf (notes-lsp--note-tick note) (buffer-chars-modified-tick)))))

(defun notes-lsp--text (note)
  "Return the whole text of NOTE."
  (notes-lsp--in-note note
    (buffer-substring-no-properties (point-min) (point-max))))

(defun notes-lsp--invalid-position (note)
  "Return where NOTE has a character that no Unicode text contains, or nil."
  (notes-lsp--in-note note
    (let ((raw (unencodable-char-position (point-min) (point-max) 'utf-8)))
      (goto-char (point-min))
      (if (re-search-forward "[\ud800-\udfff]" raw t)
          (match-beginning 0)
        raw))))

(defun notes-lsp--pending-p (note)
  "Return non-nil if NOTE has text the service has not been told."
  (or (notes-lsp--note-full note)
      (notes-lsp--note-changes note)
      (notes-lsp--unseen-p note)))

(defun notes-lsp--synced-p (note)
  "Return non-nil if nothing of NOTE waits here or on the way to the service."
  (and (notes-lsp--note-open note)
       (notes-lsp-service-ready-p)
       (null (notes-lsp--note-queue note))
       (not (notes-lsp--pending-p note))))

(defun notes-lsp--flush (note)
  "Send NOTE's own changes.  Return non-nil if nothing is left to send."
  (with-current-buffer (notes-lsp--note-buffer note)
    (cond
     ((or (notes-lsp--note-reading note) (not (notes-lsp--note-open note)) (not (notes-lsp-service-ready-p))) nil)
     ((not (notes-lsp--pending-p note)) t)
     ((notes-lsp--composing-p) nil)
     (t
      (notes-lsp--ensure-hooks)
      (when (notes-lsp--unseen-p note) (notes-lsp--want-full-text note))
      (if (notes-lsp--note-full note)
          (notes-lsp--flush-full note)
        (let ((changes (vconcat (nreverse (notes-lsp--note-changes note)))))
          (setf (notes-lsp--note-changes note) nil
                (notes-lsp--note-change-count note) 0)
          (notes-lsp--send note changes)))))))

(defun notes-lsp--flush-full (note)
  "Send the full text of NOTE, unless it cannot be sent."
  (let ((invalid (notes-lsp--invalid-position note)))
    (setf (notes-lsp--note-tick note) (buffer-chars-modified-tick)
          (notes-lsp--note-size note) (buffer-size))
    (cond
     (invalid
      (setf (notes-lsp--note-queue note) nil)
      (unless (notes-lsp--note-blocked note)
        (notes-lsp--say "Not sent: %s is an invalid character"
                        (notes-lsp--describe-position note invalid)))
      (setf (notes-lsp--note-blocked note) invalid)
      nil)
     (t
      (setf (notes-lsp--note-blocked note) nil)
      (notes-lsp--settle note)
      (notes-lsp--send note (vector `(:text ,(notes-lsp--text note))))))))

(defun notes-lsp--send (note changes)
  "Send CHANGES, a vector, as NOTE's next version.  Return t.
The state is already that of a note without changes: sending may let other
processes speak, and so change the buffer again."
  (cl-incf (notes-lsp--note-version note))
  (unless (notes-lsp--note-unread note) (notes-lsp--await-reading note))
  (notes-lsp-service-notify
   :textDocument/didChange
   `(:textDocument (:uri ,(notes-lsp--note-uri note)
                    :version ,(notes-lsp--note-version note))
     :contentChanges ,changes
     :notes (:rev ,(notes-lsp--note-rev note))))
  (not (notes-lsp--pending-p note)))

(defun notes-lsp--ensure-hooks ()
  "Put the change hooks into the current buffer, if something removed them."
  (unless (and (memq #'notes-lsp--before-change before-change-functions)
               (memq #'notes-lsp--after-change after-change-functions))
    (add-hook 'before-change-functions #'notes-lsp--before-change nil t)
    (add-hook 'after-change-functions #'notes-lsp--after-change nil t)))

(dolist (function '(notes-lsp--before-change notes-lsp--after-change))
  (put function 'permanent-local-hook t))

(declare-function notes-lsp--schedule "notes-lsp-gate" (note))
(declare-function notes-lsp--describe-position "notes-lsp-buffer" (note position))
(declare-function notes-lsp--await-reading "notes-lsp-unsent" (note))

(provide 'notes-lsp-capture)
;;; notes-lsp-capture.el ends here
