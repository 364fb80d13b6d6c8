;;; notes-lsp-history.el --- The past of a note  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Earlier texts of a note, their authors, what is new, and restoring one.

;;; Code:

(require 'cl-lib)
(require 'tabulated-list)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)
(require 'notes-lsp-list)
(require 'notes-lsp-shown)

(declare-function notes-lsp--this-note "notes-lsp-commands" ())
(declare-function notes-lsp--about "notes-lsp-commands" (note &rest params))

(defvar-local notes-lsp--history-uri nil "The URI of the note whose history this is.")

(defvar notes-history-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map tabulated-list-mode-map)
    (define-key map (kbd "RET") #'notes-history-look)
    (define-key map "d" #'notes-history-diff)
    (define-key map "R" #'notes-history-restore)
    map)
  "Keys of a note's history.")

(define-derived-mode notes-history-mode tabulated-list-mode "History"
  "The history of a note, newest first.
\\{notes-history-mode-map}"
  (setq tabulated-list-format
        [("When" 11 nil) ("Who" 16 nil) ("+" 7 nil :right-align t) ("-" 7 nil :right-align t)
         ("What" 0 nil)])
  (tabulated-list-init-header))

;;;###autoload
(defun notes-history ()
  "Show the history of the current note."
  (interactive)
  (let ((note (notes-lsp--this-note)))
    (notes-lsp--with-answer (result :notes/history (notes-lsp--about note)
                                    :waiting "Reading the history…" :what "The history")
      (let ((rows (plist-get result :changes))
            (buffer (get-buffer-create "*notes history*")))
        (when (seq-empty-p rows) (user-error "Notes: No history yet"))
        (with-current-buffer buffer
          (notes-history-mode)
          (setq notes-lsp--history-uri (notes-lsp--note-uri note)
                tabulated-list-entries (mapcar #'notes-lsp--history-row rows))
          (tabulated-list-print))
        (pop-to-buffer buffer)))))

(defun notes-lsp--history-row (row)
  "Return the entry of ROW, an element of the answer to notes/history."
  (list row
        (vector (notes-lsp--time (plist-get row :time))
                (notes-lsp--shown (plist-get row :author))
                (number-to-string (plist-get row :inserted))
                (number-to-string (plist-get row :deleted))
                (notes-lsp--shown (plist-get row :summary)))))

(defun notes-lsp--ask-history (method key then)
  "Send METHOD about the state on this line, named KEY; give THEN the result."
  (let ((row (tabulated-list-get-id)))
    (unless row (user-error "Notes: Move to a line with a state first"))
    (notes-lsp-ask method (list :uri notes-lsp--history-uri key (plist-get row :heads)) then
                   :waiting "Reading the history…" :what "The past of the note")))

(defun notes-history-look ()
  "Show the note as it was at the state on this line."
  (interactive nil notes-history-mode)
  (notes-lsp--ask-history :notes/textAt :heads #'notes-lsp--show-past))

(defun notes-lsp--show-past (result)
  "Show the text in RESULT, an answer to notes/textAt."
  (with-current-buffer (get-buffer-create "*note as it was*")
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (plist-get result :text)))
    (goto-char (point-min))
    (special-mode)
    (notes-lsp--order-text)
    (display-buffer (current-buffer))))

(defun notes-history-diff ()
  "Show what changed since the state on this line."
  (interactive nil notes-history-mode)
  (notes-lsp--ask-history :notes/diff :from #'notes-lsp--show-diff))

(defun notes-history-restore ()
  "Make the note again what it was at the state on this line."
  (interactive nil notes-history-mode)
  (notes-lsp--ask-history
   :notes/restore :heads
   (lambda (_) (notes-lsp--say "Restored (undo takes it back)"))))

;;;###autoload
(defun notes-restore ()
  "Choose a state of the current note to bring back."
  (interactive)
  (if (derived-mode-p 'notes-history-mode) (notes-history-restore) (notes-history)))

;;;###autoload
(defun notes-diff ()
  "Show what is new since the current note was last closed here."
  (interactive)
  (notes-lsp-ask :notes/diff (notes-lsp--about (notes-lsp--this-note)) #'notes-lsp--show-diff
                 :waiting "Comparing…" :what "What is new"))

(defun notes-lsp--show-diff (result)
  "Show the hunks of RESULT, an answer to notes/diff."
  (let ((hunks (plist-get result :hunks)))
    (when (seq-empty-p hunks) (user-error "Notes: Nothing has changed"))
    (with-current-buffer (get-buffer-create "*notes diff*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (cl-loop
         for hunk across hunks
         for start = (plist-get (plist-get hunk :range) :start)
         do (insert (format "@@ line %d @@ %s\n" (1+ (plist-get start :line))
                            (notes-lsp--shown (plist-get hunk :author))))
         (notes-lsp--insert-marked "-" (plist-get hunk :oldText))
         (notes-lsp--insert-marked "+" (plist-get hunk :newText))))
      (goto-char (point-min))
      (diff-mode)
      (notes-lsp--order-text)
      (setq buffer-read-only t)
      (display-buffer (current-buffer)))))

(defun notes-lsp--insert-marked (mark text)
  "Insert the lines of TEXT with MARK before each."
  (unless (string-empty-p text)
    (dolist (line (split-string (string-remove-suffix "\n" text) "\n"))
      (insert mark line "\n"))))

;;;###autoload
(defun notes-blame (begin end)
  "Show who wrote the text between BEGIN and END, by default the current line."
  (interactive (if (use-region-p) (list (region-beginning) (region-end))
                 (list (line-beginning-position) (line-beginning-position 2))))
  (let* ((note (notes-lsp--this-note))
         (range (list :start (notes-lsp--line-position begin 0)
                      :end (notes-lsp--line-position end 1))))
    (notes-lsp-ask :notes/blame (notes-lsp--about note :range range) #'notes-lsp--show-blame
                   :waiting "Asking who wrote it…" :background t)))

(defun notes-lsp--show-blame (result)
  "Say what RESULT, an answer to notes/blame, tells."
  (let ((lines (cl-loop
                for span across (plist-get result :spans)
                for start = (plist-get (plist-get span :range) :start)
                collect (format "line %d: %s, %s" (1+ (plist-get start :line))
                                (notes-lsp--shown (plist-get span :author))
                                (notes-lsp--time (plist-get span :time))))))
    (message "%s" (if lines (string-join (seq-uniq lines) "\n") "Notes: No text here"))))

(defun notes-lsp--line-position (place more)
  "Return the beginning of the line of PLACE, MORE lines down if inside it."
  (save-restriction
    (widen)
    (save-excursion
      (goto-char place)
      (list :line (+ (1- (line-number-at-pos)) (if (bolp) 0 more)) :character 0))))

(provide 'notes-lsp-history)
;;; notes-lsp-history.el ends here
