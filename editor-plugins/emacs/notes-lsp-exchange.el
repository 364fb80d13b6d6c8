;;; notes-lsp-exchange.el --- Notes in and out of files, meetings, searching  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Commands that make notes of files and files of notes, that work on the
;; agenda of a meeting, and that find words in all notes.

;;; Code:

(require 'cl-lib)
(require 'grep)
(require 'subr-x)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)

(declare-function notes-lsp--about "notes-lsp-commands" (note &rest params))
(declare-function notes-lsp--show-list "notes-lsp-list" (name mode method params &optional other-window))
(declare-function notes-lsp--this-note "notes-lsp-commands" ())
(declare-function notes-lsp--visit "notes-lsp-commands" (place))

(defun notes-lsp--json-bool (value)
  "Return VALUE as JSON's true or false."
  (if value t :json-false))

;;;###autoload
(defun notes-export (file &optional replace)
  "Write the current note to FILE, in the format of its ending.
Into a directory it goes in automerge-repo's layout.  A file that is there
is replaced only if REPLACE is non-nil, which it is with a prefix argument."
  (interactive "FExport to: \nP")
  (let ((path (directory-file-name (expand-file-name file))))
    (notes-lsp--with-answer
        (result :notes/export
                (apply #'notes-lsp--about (notes-lsp--this-note)
                       :path path :replace (notes-lsp--json-bool replace)
                       (notes-lsp--export-format file path))
                :waiting "Exporting…" :background t :timeout 150)
      (notes-lsp--say "Exported to %s" (abbreviate-file-name (plist-get result :path))))))

(defun notes-lsp--export-format (file path)
  "Return (:format FORMAT) for FILE, which is PATH; ask where the name says none."
  (cond ((or (file-directory-p path) (directory-name-p file)) '(:format "automerge-repo"))
        ((member (downcase (or (file-name-extension path) ""))
                 '("automerge" "meetingnotes" "md" "markdown" "txt" "json"))
         nil)
        (t (list :format (completing-read
                          (format "Export %s as: " (file-name-nondirectory path))
                          '("markdown" "automerge" "automerge-repo" "json" "meetingnotes")
                          nil t)))))

;;;###autoload
(defun notes-import (file &optional text)
  "Make a note of FILE and open it.
It is one of .automerge, .meetingnotes, .md and .json, or a directory in
automerge-repo's layout.  A document that is here already is merged.
Of a document that another program has made, TEXT is the path of the text
to edit, as \".chapters.[0].body\".  Where it is needed you are asked for it; a
prefix argument asks in any case."
  (interactive "fImport: ")
  (if (and current-prefix-arg (not text) (called-interactively-p 'any))
      (notes-lsp--import-choosing file)
    (notes-lsp--import file text)))

(defun notes-lsp--import-choosing (file)
  "Import FILE with one of its texts, for which the person is asked."
  (notes-lsp--with-answer
      (result :notes/texts `(:path ,(expand-file-name file)) :waiting "Reading… (C-g gives up)")
    (notes-lsp--import file (notes-lsp--choose-text (plist-get result :texts)))))

(defun notes-lsp--import (file text)
  "Import FILE with its TEXT, and open the note."
  (notes-lsp--with-answer
      (result :notes/import `( :path ,(directory-file-name (expand-file-name file))
                               ,@(and text (list :text text)))
              :waiting "Importing… (C-g gives up)" :timeout 600 :choosing t)
    (if-let ((chosen (notes-lsp--text-chosen result)))
        (notes-lsp--import file chosen)
      (notes-lsp--visit result)
      (notes-lsp--say "%s" (or (plist-get result :message) ""))
      (dolist (one (append (plist-get result :failed) nil))
        (notes-lsp--log-line (format "%s: %s" (plist-get one :path) (plist-get one :message))))
      (notes-lsp--warn (plist-get result :warning)))))

;;; Files that hold a whole document, as MeetingNotes saves it

;;;###autoload
(defun notes-document-mode ()
  "Show the agenda of the meeting in the file that this buffer visits.
The service keeps file and meeting equal, so there is nothing to save."
  (interactive)
  (let ((buffer (current-buffer)))
    (let ((inhibit-read-only t)) (erase-buffer))
    (set-buffer-multibyte t)
    (set-buffer-modified-p nil)
    (special-mode)
    (notes-lsp--guard-document)
    (if (file-exists-p buffer-file-name)
        (notes-lsp--with-answer (place :notes/open (list :path (expand-file-name buffer-file-name))
                                       :waiting "Opening…" :background t)
          (when (buffer-live-p buffer) (notes-lsp--show-document buffer place)))
      ;; Marked as modified, because saving creates the file.
      (set-buffer-modified-p t)
      (notes-lsp--say "%s is new: C-x C-s makes a meeting in it"
                      (file-name-nondirectory buffer-file-name)))))

(defun notes-lsp--show-document (buffer place)
  "Show what is in the file that BUFFER visits, whose note is at PLACE."
  (if (plist-get place :folder)
      (notes-lsp--show-list (buffer-name buffer) 'notes-agenda-mode
                            :notes/items (list :id (plist-get place :id)))
    (notes-lsp--visit place)
    (kill-buffer buffer)))

(defun notes-lsp--guard-document ()
  "Let the service write the file that this buffer visits, and no one else."
  (add-hook 'write-contents-functions #'notes-lsp--save-document nil t)
  (clear-visited-file-modtime))

(defun notes-lsp--save-document ()
  "Have the service write the file that this buffer visits; return t.
A file that does not exist yet is made, with a new meeting."
  (let ((buffer (current-buffer))
        (newp (not (file-exists-p buffer-file-name))))
    (notes-lsp--with-answer (place :notes/open (list :path (expand-file-name buffer-file-name)
                                                     :create t)
                                   :waiting "Saving…" :background t)
      (when (and newp (buffer-live-p buffer)) (notes-lsp--show-document buffer place))
      (notes-lsp--say "Saved")))
  (set-buffer-modified-p nil)
  t)

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.meetingnotes\\'" . notes-document-mode))

;;;###autoload
(defun notes-find (words)
  "List the notes that contain all of WORDS, in a buffer like that of `grep'."
  (interactive "sFind in notes: ")
  (notes-lsp--with-answer (result :notes/list `(:query ,words)
                                  :waiting "Searching… (C-g gives up)" :what "What was found")
    (notes-lsp--show-found words (append (plist-get result :notes) nil))))

(defun notes-lsp--show-found (words notes)
  "Show NOTES, in which WORDS were found."
  (let ((buffer (get-buffer-create "*notes-find*")))
    (if (null notes)
        (notes-lsp--say "No note contains \"%s\"" words)
      (with-current-buffer buffer
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert (format "Notes with \"%s\":\n\n" words))
          (dolist (note notes)
            (let ((match (plist-get note :match)))
              (cond (match (insert (format "%s:%d:%s\n" (plist-get match :path)
                                           (1+ (plist-get match :line))
                                           (notes-lsp--shown (plist-get match :text)))))
                    ((plist-get note :path)
                     (insert (format "%s:1:%s\n" (plist-get note :path)
                                     (notes-lsp--shown (plist-get note :title)))))))))
        (grep-mode)
        (goto-char (point-min)))
      (pop-to-buffer buffer))))

(defun notes-lsp--in-meeting (then)
  "Call THEN, which asks for something, if the current buffer is of a meeting.
If not, that is said before anything is asked for."
  (notes-lsp-ask :notes/items (notes-lsp--about (notes-lsp--this-note)) (lambda (_) (funcall then))
                 :waiting "Fetching the agenda…" :what "The agenda"))

;;;###autoload
(defun notes-move-item (&optional place)
  "Put the current buffer's item at PLACE of the agenda, counted from 1."
  (interactive)
  (if (null place)
      (notes-lsp--in-meeting
       (lambda () (notes-move-item (read-number "Place in the agenda, from 1: "))))
    (notes-lsp--move-to place)))

(defun notes-lsp--move-to (place)
  "Put the current buffer's item at PLACE of the agenda, counted from 1."
  (when (< place 1) (user-error "Notes: Count places from 1"))
  (notes-lsp--with-answer (result :notes/moveItem
                                  (notes-lsp--about (notes-lsp--this-note) :position (1- place))
                                  :waiting "Moving the item…" :background t)
    (notes-lsp--say "%s" (or (plist-get result :message) ""))))

(provide 'notes-lsp-exchange)
;;; notes-lsp-exchange.el ends here
