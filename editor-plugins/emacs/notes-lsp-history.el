;;; notes-lsp-history.el --- The past of a note  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Earlier texts of a note, their authors, what is new, and restoring one.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)
(require 'notes-lsp-list)
(require 'notes-lsp-shown)

(declare-function notes-lsp--this-note "notes-lsp-commands" ())
(declare-function notes-lsp--about "notes-lsp-commands" (note &rest params))

(define-derived-mode notes-history-mode notes-lsp-list-mode "History"
  "The history of a note, newest first.
\\{notes-history-mode-map}")

(let ((map notes-history-mode-map))
  (define-key map (kbd "RET") #'notes-history-look)
  (define-key map "d" #'notes-history-row-diff)
  (define-key map "D" #'notes-history-diff)
  (define-key map "R" #'notes-history-restore)
  (define-key map "q" #'notes-history-quit))

(defvar-local notes-lsp--history-part nil
  "The range of the note that is to go back to a state, or nil for all of it.")

;;;###autoload
(defun notes-history ()
  "Show the history of the current note."
  (interactive)
  (notes-lsp--show-history (funcall (notes-lsp--about (notes-lsp--this-note)))))

(defun notes-lsp--show-history (target &optional part)
  "Show the history of TARGET, (:uri URI) or (:id ID).
What is restored from there is only PART, a range, if given."
  (when (notes-lsp--show-list "*notes history*" 'notes-history-mode :notes/history target t)
    (notes-lsp--say "RET shows it, d its changes, D since then, R restores"))
  (let ((buffer (get-buffer "*notes history*")))
    (when buffer (with-current-buffer buffer (setq notes-lsp--history-part part)))))

(defun notes-lsp--ask-history (method params then)
  "Send METHOD with PARAMS about the note whose history this is.
PARAMS is called with the row on this line; give THEN the result."
  (let ((row (notes-lsp--row :heads)))
    (notes-lsp-ask method (append (cdr notes-lsp--source) (funcall params row))
                   (lambda (result) (funcall then result row))
                   :waiting "Reading the history…" :what "The past of the note")))

(defun notes-history-look ()
  "Show the note as it was at the state on this line."
  (interactive nil notes-history-mode)
  (notes-lsp--ask-history :notes/textAt (lambda (row) (list :heads (plist-get row :heads)))
                          #'notes-lsp--show-past))

(defun notes-lsp--show-past (result row)
  "Show the text in RESULT, an answer to notes/textAt for ROW."
  (with-current-buffer (get-buffer-create "*note as it was*")
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (plist-get result :text)))
    (goto-char (point-min))
    (special-mode)
    (notes-lsp--order-text)
    (display-buffer (current-buffer)))
  (notes-lsp--say "%s, after %s" (plist-get row :when) (plist-get row :author)))

(defun notes-history-row-diff ()
  "Show what the state on this line changed."
  (interactive nil notes-history-mode)
  (notes-lsp--ask-history
   :notes/diff (lambda (row) (list :from (plist-get row :before) :to (plist-get row :heads)
                                   :author (plist-get row :author) :lines t))
   #'notes-lsp--show-diff))

(defun notes-history-diff ()
  "Show what changed since the state on this line."
  (interactive nil notes-history-mode)
  (notes-lsp--ask-history :notes/diff (lambda (row) (list :from (plist-get row :heads) :lines t))
                          #'notes-lsp--show-diff))

(defun notes-history-quit ()
  "Put the history away, and what it shows of the note's past."
  (interactive nil notes-history-mode)
  (dolist (name '("*notes diff*" "*note as it was*"))
    (let ((window (get-buffer-window name)))
      (when window (quit-window nil window))))
  (quit-window))

(defun notes-history-restore ()
  "Restore the note to the state on this line."
  (interactive nil notes-history-mode)
  (let ((part notes-lsp--history-part))
    (setq notes-lsp--history-part nil)
    (notes-lsp--ask-history
     :notes/restore
     (lambda (row) (append (list :heads (plist-get row :heads))
                           (and part (list :range (notes-lsp--part-range part)))))
     (lambda (_ row)
       (notes-lsp--on-news)
       (notes-lsp--say "Restored %s to %s (undo takes it back)"
                       (if part "those lines" "the note") (plist-get row :when))))))

;;;###autoload
(defun notes-restore (&optional begin end)
  "Choose a state of the current note to bring back.
With an active region, only the lines from BEGIN to END go back to it."
  (interactive (and (use-region-p) (list (region-beginning) (region-end))))
  (if (derived-mode-p 'notes-history-mode) (notes-history-restore)
    (notes-lsp--show-history
     (funcall (notes-lsp--about (notes-lsp--this-note)))
     (and begin (cons (copy-marker begin) (copy-marker end t))))))

(defun notes-lsp--part-range (part)
  "Return the lines where PART, a pair of markers, is now."
  (pcase-let ((`(,begin . ,end) part))
    (unless (marker-buffer begin) (user-error "Notes: The lines are not open any more"))
    (with-current-buffer (marker-buffer begin)
      (list :start (notes-lsp--line-position begin 0) :end (notes-lsp--line-position end 1)))))

;;;###autoload
(defun notes-diff ()
  "Show what is new since the current note was last closed here."
  (interactive)
  (notes-lsp-ask :notes/diff (notes-lsp--about (notes-lsp--this-note) :lines t) #'notes-lsp--show-diff
                 :waiting "Comparing…" :what "What is new"))

(defun notes-lsp--show-diff (result &rest _)
  "Show the lines of RESULT, an answer to notes/diff."
  (when (seq-empty-p (plist-get result :lines)) (user-error "Notes: Nothing has changed"))
  (with-current-buffer (get-buffer-create "*notes diff*")
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (string-join (plist-get result :lines) "\n") "\n"))
    (goto-char (point-min))
    (diff-mode)
    (notes-lsp--order-text)
    (setq buffer-read-only t)
    (display-buffer (current-buffer))))

(defconst notes-lsp--blame-width 22 "Columns of the labels beside the lines.")
(defvar-local notes-lsp--blame nil "The overlays with the labels, if they are shown.")
(defvar-local notes-lsp--blame-timer nil "Timer that asks again after a change.")

;;;###autoload
(defun notes-blame ()
  "Show beside each line who last wrote it and when, or hide that again."
  (interactive)
  (if notes-lsp--blame (notes-lsp--end-blame)
    (let ((note (notes-lsp--this-note)))
      (notes-lsp-ask :notes/blame (notes-lsp--blame-params note)
                     (lambda (result)
                       (notes-lsp--show-labels note result)
                       (notes-lsp--show-margin note)
                       (notes-lsp--say ":NotesBlame again hides the names"))
                     :waiting "Asking who wrote it…" :background t))))

(defun notes-lsp--blame-params (note)
  "Return what to ask about the authors of NOTE."
  (notes-lsp--in-note note
    (notes-lsp--about note :width notes-lsp--blame-width
                      :range (list :start '(:line 0 :character 0)
                                   :end (notes-lsp--line-position (point-max) 1)))))

(defun notes-lsp--blame-changed (&rest _)
  "Ask again soon who wrote the text, which has changed."
  (unless notes-lsp--blame-timer
    (setq notes-lsp--blame-timer
          (run-with-timer 0.5 nil #'notes-lsp--blame-again (current-buffer)))))

(defun notes-lsp--blame-again (buffer)
  "Show in BUFFER who wrote the text as it is now, if that is still wanted."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq notes-lsp--blame-timer nil)
      (let ((note (notes-lsp--current)))
        (when (and note notes-lsp--blame (notes-lsp-service-ready-p))
          (notes-lsp-service-request-async
           :notes/blame (funcall (notes-lsp--blame-params note))
           (lambda (result)
             (notes-lsp--soon
               (when (and (buffer-live-p buffer) (buffer-local-value 'notes-lsp--blame buffer))
                 (notes-lsp--show-labels note result))))))))))

(defun notes-lsp--show-labels (note result)
  "Show the labels of RESULT, an answer to notes/blame, beside the lines of NOTE."
  (notes-lsp--in-note note
    (mapc #'delete-overlay notes-lsp--blame)
    (setq notes-lsp--blame nil)
    (goto-char (point-min))
    (cl-loop
     for label across (plist-get result :labels)
     for color across (plist-get result :colors)
     for overlay = (make-overlay (point) (point))
     do (push overlay notes-lsp--blame)
     (overlay-put overlay 'before-string
                  (propertize " " 'display
                              `((margin left-margin)
                                ,(propertize (notes-lsp--shown label) 'face
                                             (if (< color 0) 'shadow
                                               (notes-lsp--face 'name color))))))
     (forward-line 1))
    (unless notes-lsp--blame (push (make-overlay (point) (point)) notes-lsp--blame))
    (add-hook 'after-change-functions #'notes-lsp--blame-changed nil t)
    (setq left-margin-width (1+ notes-lsp--blame-width))))

(defun notes-lsp--show-margin (note)
  "Let the windows of NOTE have the margin that its buffer wants."
  (dolist (window (get-buffer-window-list (notes-lsp--note-buffer note) nil t))
    (set-window-buffer window (notes-lsp--note-buffer note) t)
    (set-window-margins window (buffer-local-value 'left-margin-width
                                                   (notes-lsp--note-buffer note)))))

(defun notes-lsp--end-blame ()
  "Take the labels away from the current buffer."
  (when notes-lsp--blame
    (mapc #'delete-overlay notes-lsp--blame)
    (remove-hook 'after-change-functions #'notes-lsp--blame-changed t)
    (when notes-lsp--blame-timer (cancel-timer notes-lsp--blame-timer))
    (setq notes-lsp--blame nil notes-lsp--blame-timer nil left-margin-width 0)
    (when (notes-lsp--current) (notes-lsp--show-margin (notes-lsp--current)))))

(defun notes-lsp--line-position (place more)
  "Return the beginning of the line of PLACE, MORE lines down if inside it."
  (save-restriction
    (widen)
    (save-excursion
      (goto-char place)
      (list :line (+ (1- (line-number-at-pos)) (if (bolp) 0 more)) :character 0))))

(provide 'notes-lsp-history)
;;; notes-lsp-history.el ends here
