;;; notes-lsp-buffer.el --- Note buffers: the gate, the queue, life  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; How a buffer becomes a note, is shown to the service, now and after it was
;; started again, and stops being one.

;;; Code:

(require 'cl-lib)
(require 'url-util)
(require 'notes-lsp-service)
(require 'notes-lsp-capture)
(require 'notes-lsp-apply)
(require 'notes-lsp-gate)
(require 'notes-lsp-condition)
(require 'notes-lsp-file)
(require 'notes-lsp-shown)

(defvar notes-lsp-mode)
(defvar global-auto-revert-ignore-buffer)
(declare-function notes-lsp-mode "notes-lsp" (&optional argument))
(declare-function auto-revert-mode "autorevert" (&optional argument))
(declare-function notes-lsp--after-revert "notes-lsp-reread" ())
(declare-function notes-lsp--before-revert "notes-lsp-reread" ())
(declare-function notes-lsp--forget-peers "notes-lsp-presence" (note))
(declare-function notes-lsp--report-cursor-soon "notes-lsp-presence" (note))

;;; Life of a note buffer

(defun notes-lsp--path-uri (path)
  "Return the file URI of PATH."
  (concat "file://" (url-hexify-string (expand-file-name path)
                                       (cons ?/ url-unreserved-chars))))

(defun notes-lsp--language ()
  "Return the language identifier of the current buffer."
  (let ((name (string-remove-suffix "-mode" (symbol-name major-mode))))
    (if (member name '("text" "fundamental" "gfm")) "markdown" name)))

(defun notes-lsp--describe-position (note position)
  "Return a phrase that names POSITION in NOTE."
  (notes-lsp--in-note note
    (goto-char position)
    (format "line %d, column %d" (line-number-at-pos position) (current-column))))

(defun notes-lsp--attach (uri &optional id)
  "Open the current buffer as the note at URI, with ID if known.
Return its state."
  (let ((note (notes-lsp--note-make :buffer (current-buffer) :uri uri   :id id
                                    :visited buffer-file-name))
        (invalid nil))
    (when (notes-lsp--bytes-p)
      (user-error "Notes: C-x C-v RET first: these are bytes, not text"))
    (when (setq invalid (notes-lsp--invalid-position note))
      (user-error "Notes: Not UTF-8: %s is an invalid character"
                  (notes-lsp--describe-position note invalid)))
    (setq notes-lsp--note note notes-lsp--gone nil notes-lsp--gone-id nil)
    (push note notes-lsp--notes)
    (notes-lsp--prepare-buffer)
    (notes-lsp--did-open note nil)
    (notes-lsp-mode 1)
    note))

(defvar notes-lsp--last-version 0
  "The highest version of any note that was closed.
The next one starts above it, so that what was meant for a closed buffer is
never taken for something about its successor.")

(defconst notes-lsp--remembered-services 4
  "How many services a note remembers.
The last one may have ended before it had merged the note.")

(defun notes-lsp--did-open (note reattach)
  "Tell the service that NOTE is open; REATTACH if it had known it before.
By what the note had of the services before, the new one knows which words
are new to it."
  (when (and (notes-lsp--note-had note) (> (notes-lsp--note-rev note) 0))
    (setf (nth 2 (car (notes-lsp--note-had note))) (notes-lsp--note-rev note)))
  (let ((invalid (notes-lsp--invalid-position note)))
    (when (and invalid (not (notes-lsp--note-blocked note)))
      (notes-lsp--warn (format "Not sent: %s is an invalid character"
                              (notes-lsp--describe-position note invalid))))
    (notes-lsp--settle note)
    (setf (notes-lsp--note-version note) (1+ notes-lsp--last-version)
          (notes-lsp--note-read note) 0
          (notes-lsp--note-unread note) nil
          (notes-lsp--note-kept note) nil
          (notes-lsp--note-rev note) 0
          (notes-lsp--note-queue note) nil
          (notes-lsp--note-cursor-sent note) nil
          (notes-lsp--note-blocked note) invalid
          (notes-lsp--note-open note) (and (not invalid) (notes-lsp-service-ready-p))))
  ;; Voids the proof: its version number may have meant another text to the service.
  (when (notes-lsp--note-proven note) (setf (notes-lsp--note-proven note) -1))
  (when (notes-lsp--note-open note)
    (notes-lsp--watch-file note)
    (unless reattach (setf (notes-lsp--note-opened note) (notes-lsp--text note)))
    (notes-lsp-service-notify
     :textDocument/didOpen
     `(:textDocument (:uri ,(notes-lsp--note-uri note)
                      :languageId ,(with-current-buffer (notes-lsp--note-buffer note)
                                     (notes-lsp--language))
                      :version ,(notes-lsp--note-version note)
                      :text ,(notes-lsp--text note))
       ,@(cond
          ((and reattach (or (notes-lsp--note-had note)
                             (not (member (notes-lsp--note-opened note)
                                          (list nil (notes-lsp--text note))))))
           `(:notes (:reattach t
                     ,@(when (notes-lsp--note-had note)
                         (list :run (caar (notes-lsp--note-had note))
                               :had (vconcat (mapcar (pcase-lambda (`(,run ,version ,rev))
                                                       (list :run run :version version :rev rev))
                                                     (notes-lsp--note-had note)))))
                     ,@(when (notes-lsp--note-opened note)
                         (list :opened (notes-lsp--note-opened note))))))
          ((and (or (not reattach) (notes-lsp--note-opened note)) (notes-lsp--note-id note))
           `(:notes (:id ,(notes-lsp--note-id note)))))))
    (unless reattach (setf (notes-lsp--note-had note) nil))
    (let ((run (plist-get notes-lsp--capabilities :run)))
      (when run
        (push (list run (notes-lsp--note-version note) 0) (notes-lsp--note-had note))
        (setf (notes-lsp--note-had note)
              (seq-take (notes-lsp--note-had note) notes-lsp--remembered-services))))
    (notes-lsp--keep-access note)
    (notes-lsp--prove-soon note)
    (notes-lsp--report-cursor-soon note))
  (notes-lsp--choose-auto-save note))

(defun notes-lsp--detach ()
  "Stop treating the current buffer as a note; tell the service."
  (let ((note (notes-lsp--current)))
    (when note
      (notes-lsp--guarded "closing"
        (when (notes-lsp--note-open note)
          (notes-lsp--flush note)
          (notes-lsp--keep-words note)
          (notes-lsp-service-notify :textDocument/didClose
                                    `(:textDocument (:uri ,(notes-lsp--note-uri note))))))
      (setf (notes-lsp--note-open note) nil)
      (notes-lsp--set-access note "write")
      (notes-lsp--unwatch-file note)
      (setq notes-lsp--last-version
            (max notes-lsp--last-version (notes-lsp--note-version note)))
      (notes-lsp--forget-peers note)
      (dolist (timer (list (notes-lsp--note-timer note) (notes-lsp--note-cursor-timer note)
                           (notes-lsp--note-prover note)))
        (when timer (cancel-timer timer)))
      (setq notes-lsp--notes (delq note notes-lsp--notes))
      (notes-lsp--choose-auto-save note)
      (notes-lsp--release-buffer))))

(defconst notes-lsp--local-hooks
  '((kill-buffer-hook . notes-lsp--detach)
    (before-save-hook . notes-lsp--before-save)
    (after-save-hook . notes-lsp--after-save)
    (before-revert-hook . notes-lsp--before-revert)
    (after-revert-hook . notes-lsp--after-revert)
    (after-set-visited-file-name-hook . notes-lsp--after-rename)
    (input-method-after-insert-chunk-hook . notes-lsp--after-composing)
    (clone-indirect-buffer-hook . notes-lsp--release-buffer))
  "Hooks of a note buffer, beside those that watch its text.")

(pcase-dolist (`(,_ . ,function) notes-lsp--local-hooks)
  (put function 'permanent-local-hook t))

(defun notes-lsp--prepare-buffer ()
  "Make the current buffer fit to be a note."
  (notes-lsp--ensure-hooks)
  (notes-lsp--watch-order)
  (pcase-dolist (`(,hook . ,function) notes-lsp--local-hooks)
    (add-hook hook function nil t))
  ;; The service keeps every word: Emacs need not write backups and auto-save files beside the notes.
  (notes-lsp--choose-auto-save (notes-lsp--current))
  (setq-local create-lockfiles nil backup-inhibited t
              ;; A long title would push what the mode line says of the note off the screen.
              mode-line-buffer-identification (list -24 (default-value 'mode-line-buffer-identification))
              global-auto-revert-ignore-buffer t)
  (when (bound-and-true-p auto-revert-mode) (auto-revert-mode -1)))

(defvar-local notes-lsp--auto-saved nil "Non-nil if this buffer was auto-saved before it was a note.")
(put 'notes-lsp--auto-saved 'permanent-local t)

(defvar notes-lsp--asked nil "Non-nil while the service has not answered since an auto-save.")
(defvar notes-lsp--silent nil "Non-nil if it had not answered until the next one.")

(defun notes-lsp--before-auto-save ()
  "Have notes auto-saved, too, while the service runs but does not read."
  (setq notes-lsp--silent (or notes-lsp--asked (notes-lsp--stalled)))
  (mapc #'notes-lsp--choose-auto-save notes-lsp--notes)
  (when (and notes-lsp--notes (not notes-lsp--silent) (notes-lsp-service-ready-p))
    (setq notes-lsp--asked t)
    (let ((answer (lambda (_) (setq notes-lsp--asked nil))))
      (notes-lsp-service-request-async :notes/status (notes-lsp--empty) answer
                                       :error answer :timeout most-positive-fixnum))))

(add-hook 'auto-save-hook #'notes-lsp--before-auto-save)

(defun notes-lsp--choose-auto-save (note)
  "Let Emacs auto-save NOTE, as it did before, if no service keeps its words."
  (when (and note (buffer-live-p (notes-lsp--note-buffer note)))
    (with-current-buffer (notes-lsp--note-buffer note)
      (cond ((or notes-lsp--silent (not (notes-lsp--note-open note)))
             (when (and notes-lsp--auto-saved buffer-file-name (not buffer-auto-save-file-name))
               (auto-save-mode 1)))
            (buffer-auto-save-file-name
             (setq notes-lsp--auto-saved t)
             (delete-auto-save-file-if-necessary) ; only one that this Emacs has written
             (setq buffer-auto-save-file-name nil))))))

(defun notes-lsp--release-buffer ()
  "Undo in the current buffer what `notes-lsp--prepare-buffer' did.
In an indirect buffer that is all there is to do: its changes are noticed
by the base buffer."
  (remove-hook 'before-change-functions #'notes-lsp--before-change t)
  (remove-hook 'after-change-functions #'notes-lsp--after-change t)
  (notes-lsp--unwatch-order)
  (pcase-dolist (`(,hook . ,function) notes-lsp--local-hooks)
    (remove-hook hook function t))
  (mapc #'kill-local-variable
        '(create-lockfiles backup-inhibited global-auto-revert-ignore-buffer notes-lsp--note notes-lsp-mode)))

(defun notes-lsp--after-mode-change ()
  "Make a note fit again after its major mode changed."
  (when (notes-lsp--current) (notes-lsp--prepare-buffer)))

(defvar-local notes-lsp--left nil
  "(PATH URI ID) of the note that this buffer was before it got another name, or showed bytes.")
(put 'notes-lsp--left 'permanent-local t)

(defun notes-lsp--remember-left (note)
  "Let the current buffer become NOTE again when it can."
  (setq notes-lsp--left (list (notes-lsp--note-visited note) (notes-lsp--note-uri note) (notes-lsp--note-id note))))

(defun notes-lsp--after-rename ()
  "Let go of the note if the buffer visits another file now."
  (let ((note (notes-lsp--current)))
    (cond ((null note))
          ;; `write-file' with the name that the file has.
          ((equal buffer-file-name (notes-lsp--note-visited note))
           (notes-lsp--prepare-buffer))
          (t
           (notes-lsp--leave note "renamed")
           (notes-lsp--remember-left note)
           ;; Emacs itself says now that it has written the file.  That may be another note's, or this note's, moved.
           (let ((buffer (current-buffer)))
             (notes-lsp--soon
               (when (buffer-live-p buffer)
                 (with-current-buffer buffer
                   (notes-lsp--on-find-file
                    (lambda ()
                      (notes-lsp--warn (if (file-exists-p buffer-file-name)
                                           "Saved as a plain copy; no longer shared"
                                         "Now a plain copy; no longer shared"))))))))))))

(defun notes-lsp--come-back (&rest _)
  "Make the buffer its note again if it shows the text of the note's file.
It never had what others wrote in between."
  (pcase-let ((`(,path . ,place) notes-lsp--left))
    (when (and path (equal buffer-file-name path) (not (notes-lsp--current))
               (not (notes-lsp--bytes-p)))
      (setq notes-lsp--left nil)
      (apply #'notes-lsp--attach place))))

(add-hook 'after-set-visited-file-name-hook #'notes-lsp--come-back)

(defun notes-lsp--reattach ()
  "Open all notes again: the service is new."
  (dolist (note notes-lsp--notes)
    (let ((buffer (notes-lsp--note-buffer note)))
      ;; One whose file is being read is opened after that.
      (when (and (buffer-live-p buffer) (not (notes-lsp--note-reading note)))
        (notes-lsp--guarded (buffer-name buffer) (notes-lsp--did-open note t)))))
  (force-mode-line-update t))

(defvar notes-lsp--stored nil "Non-nil if Emacs ends and the service has stored everything.")

(defun notes-lsp--offline ()
  "Note that the service does not listen any more."
  (setq notes-lsp--asked nil notes-lsp--silent nil)
  (dolist (note notes-lsp--notes)
    (setf (notes-lsp--note-open note) nil (notes-lsp--note-queue note) nil)
    (unless (notes-lsp-service-restarting-p) (notes-lsp--unwatch-file note))
    (notes-lsp--forget-peers note)
    ;; Emacs auto-saves when it ends, and need not if the service has stored everything.
    (unless notes-lsp--stored (notes-lsp--choose-auto-save note)))
  (force-mode-line-update t))

(defun notes-lsp--flush-all ()
  "Send what all notes have to send."
  (dolist (note notes-lsp--notes)
    (when (buffer-live-p (notes-lsp--note-buffer note)) (notes-lsp--flush note))))

(add-hook 'notes-lsp--ready-hook #'notes-lsp--reattach)
(add-hook 'notes-lsp--down-hook #'notes-lsp--offline)
(add-hook 'notes-lsp--before-stop-hook #'notes-lsp--flush-all)
(add-hook 'after-change-major-mode-hook #'notes-lsp--after-mode-change)

(provide 'notes-lsp-buffer)
;;; notes-lsp-buffer.el ends here
