;;; notes-lsp-commands.el --- What people do with notes  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The commands that make, open, share, rename and delete notes, and those
;; about the service itself.  Lists, people nearby, history and files of
;; other kinds have commands of their own, in the files named for them.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'notes-lsp-definitions)
(require 'notes-lsp-service)
(require 'notes-lsp-stop)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)
(require 'notes-lsp-condition)
(require 'notes-lsp-presence)
(require 'notes-lsp-nearby)

(declare-function notes-lsp--agenda "notes-lsp-screens" (id))
(declare-function notes-lsp--list-note "notes-lsp-screens" ())
(declare-function notes-lsp--row-params "notes-lsp-screens" (row &rest params))
(declare-function notes-lsp--on-news "notes-lsp-list" ())
(declare-function notes-lsp-mode "notes-lsp" (&optional argument))
(declare-function notes-lsp--attach-known "notes-lsp" (listed))
(declare-function notes-lsp--choose-near "notes-lsp-nearby" (prompt then &optional all))

;;; Helpers of the commands

(defun notes-lsp--about (note &rest params)
  "Return a function for `notes-lsp-ask' that returns PARAMS about NOTE.
It sends NOTE's own changes first."
  (lambda ()
    (when (buffer-live-p (notes-lsp--note-buffer note)) (notes-lsp--flush note))
    `(:uri ,(notes-lsp--note-uri note) ,@params)))

(defun notes-lsp--this-note ()
  "Return the current buffer's note or signal a `user-error'."
  (or (notes-lsp--current)
      (notes-lsp--refuse (if (derived-mode-p 'special-mode 'tabulated-list-mode)
                             "Not a note; go to a note first"
                           "Not a note. :NotesAdopt makes it one"))))

(defvar notes-lsp--visiting nil "Non-nil while a command opens a working file.")

(defun notes-lsp--visit (place)
  "Show the note at PLACE, with :id, :uri and :path, in the selected window.
Return its buffer."
  (if (and (plist-get place :folder) (seq-empty-p (plist-get place :items)))
      (notes-lsp--agenda (plist-get place :id))
    (notes-lsp--visit-file place)))

(defun notes-lsp--visit-file (place)
  "Show the file of PLACE, a note's, in the selected window."
  (let* ((path (plist-get place :path))
         (buffer (let ((notes-lsp--visiting t))
                   (or (find-buffer-visiting path) (find-file-noselect path)))))
    (with-current-buffer buffer
      (unless (notes-lsp--current)
        (unless (or (buffer-modified-p) (verify-visited-file-modtime))
          (let ((notes-lsp--visiting t)) (revert-buffer t t t)))
        (notes-lsp--attach (plist-get place :uri) (plist-get place :id)))
      (notes-lsp--opened (notes-lsp--current) place))
    (pop-to-buffer-same-window buffer)
    ;; The service may have opened the note before its buffer was selected.
    (when-let ((note (notes-lsp--current))) (notes-lsp--report-cursor-soon note))
    buffer))

(defun notes-lsp--choices (listed)
  "Return an alist from what tells each of LISTED, notes, to its id."
  (let (choices)
    (cl-loop for note across listed
             for title = (notes-lsp--shown (plist-get note :title))
             do (push (cons (if (assoc title choices)
                                (format "%s <%s>" title (substring (plist-get note :id) 0 6))
                              title)
                            (plist-get note :id))
                      choices))
    (nreverse choices)))

(defun notes-lsp--ensure-open ()
  "Open the current buffer at the service, as whatever it is; return its state."
  (unless buffer-file-name
    (user-error "Notes: C-x C-s first: this buffer has no file yet"))
  (when (buffer-base-buffer) (user-error "Notes: Only regular files can be notes"))
  (or (notes-lsp--current)
      (notes-lsp--attach (notes-lsp--path-uri buffer-file-name))))

(cl-defun notes-lsp--become-note (method params then &rest keys)
  "Open the current buffer and send METHOD with PARAMS, which makes it a note.
Give THEN the result; KEYS are as for `notes-lsp-ask'.  If there is none, a
buffer that was no note is none again."
  (let ((buffer (current-buffer)) (was-note (notes-lsp--current)))
    (unless (or was-note buffer-file-name)
      (user-error "Notes: C-x C-s first: this buffer has no file yet"))
    (apply
     #'notes-lsp-ask method
     (lambda ()
       (with-current-buffer buffer
         (let ((note (notes-lsp--ensure-open)))
           (notes-lsp--flush note)
           `(:uri ,(notes-lsp--note-uri note) ,@params))))
     (lambda (result)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (let ((note (notes-lsp--current)))
             (when note
               (when (plist-get result :id)
                 (setf (notes-lsp--note-id note) (plist-get result :id)))
               (force-mode-line-update)))))
       (funcall then result))
     :else (lambda ()
             (when (and (not was-note) (buffer-live-p buffer))
               (with-current-buffer buffer (notes-lsp-mode -1))))
     keys)))

;;; Commands

;; The simplest ones are generated; definitions.el has them.

(defun notes-lsp--carry-out (name &optional argument row sure)
  "Make the request of the command NAME, a symbol, with ARGUMENT.
It is about ROW of a list if given, else about the current note.  If the
command asks first, do so unless SURE.  Open what the answer names, if the
command does so, and say what came of it."
  (let* ((flow (alist-get name notes-lsp--flows))
         (first (plist-get flow :first)))
    (if (or argument (null first)) (notes-lsp--make-request flow argument row sure)
      ;; What cannot be is said before anything is asked for.
      (notes-lsp-ask first (notes-lsp--flow-params flow row nil)
                     (lambda (_)
                       (notes-lsp--make-request flow (read-string (plist-get flow :prompt)) row sure))
                     :waiting (plist-get flow :waiting)))))

(defun notes-lsp--flow-params (flow row params)
  "Return PARAMS with what FLOW is about: ROW of a list, or the current note."
  (let ((about (plist-get flow :about)))
    (cond ((null about) params)
          (row (apply #'notes-lsp--row-params row params))
          ((and (eq about 'list) (derived-mode-p 'notes-agenda-mode))
           (append (list :id (notes-lsp--list-note)) params))
          (t (apply #'notes-lsp--about (notes-lsp--this-note) params)))))

(defun notes-lsp--flow-question (flow row)
  "Return what FLOW asks first, about ROW or the current note."
  (let ((note (and (not row) (notes-lsp--current))))
    (or (and note (plist-get (notes-lsp--note-status note) :item) (plist-get flow :confirmItem))
        (plist-get flow :confirm))))

(defun notes-lsp--make-request (flow argument row sure)
  "Make the request of FLOW with ARGUMENT, about ROW or the current note.
If it asks first, do so unless SURE."
  (let* ((member (plist-get flow :argument))
         (value (if (plist-get flow :isFile) (directory-file-name (expand-file-name argument)) argument))
         (params (append (and member (list member value)) (plist-get flow :params))))
    (when (and member (string-blank-p argument)) (user-error "Notes: A title is needed"))
    (when (eq (plist-get flow :about) 'note) (or row (notes-lsp--this-note)))
    (when (or sure (not (plist-get flow :confirm))
              (yes-or-no-p (concat (notes-lsp--flow-question flow row) " ")))
      (notes-lsp--with-answer
          (result (plist-get flow :method) (notes-lsp--flow-params flow row params)
                  :waiting (plist-get flow :waiting) :background (not (plist-get flow :opens))
                  :timeout 150)
        (when (plist-get flow :opens) (notes-lsp--visit result))
        (notes-lsp--on-news)
        (let ((say (plist-get flow :say)))
          (notes-lsp--say "%s" (if say (string-replace "{}" argument say)
                                 (or (plist-get result :message) ""))))))))

;;;###autoload
(defun notes-open (&optional note)
  "Open NOTE, an id or a title; without one, ask which."
  (interactive)
  (notes-lsp--with-answer (result :notes/list (notes-lsp--empty)
                                  :waiting "Fetching the list of notes…" :what "The list of notes")
    (let* ((listed (plist-get result :notes))
           (choices (notes-lsp--choices listed))
           (note (or note
                     (if choices (cdr (assoc (completing-read "Note: " choices nil t) choices))
                       (notes-lsp--refuse "No notes yet. :NotesNew makes one"))))
           (entry (cl-some (lambda (key)
                             (cl-find note listed :test #'equal
                                      :key (lambda (entry) (plist-get entry key))))
                           '(:id :title))))
      (notes-lsp--open-entry entry note))))

(defun notes-lsp--open-entry (entry title)
  "Open the note of ENTRY, from the list of notes, or nil; then by its TITLE."
  (notes-lsp--with-answer (place :notes/open
                                 (if entry `(:id ,(plist-get entry :id)) `(:title ,title))
                                 :waiting "Opening…")
    (notes-lsp--visit place)))

;;;###autoload
(defun notes-adopt ()
  "Make the current buffer, which visits a file, a note."
  (interactive)
  (when (notes-lsp--current) (user-error "Notes: Already a note"))
  (unless buffer-file-name (user-error "Notes: C-x C-s first: this buffer has no file yet"))
  (let ((buffer (current-buffer)))
    (notes-lsp--with-answer (result :notes/list (notes-lsp--empty)
                                    :waiting "Adopting…" :background t)
      (when (buffer-live-p buffer)
        (with-current-buffer buffer
          (if (notes-lsp--attach-known (plist-get result :notes))
              (notes-lsp--say "%s is a note now" (buffer-name))
            (notes-lsp--become-note
             :notes/adopt nil
             (lambda (_) (notes-lsp--say "%s is a note now" (buffer-name buffer)))
             :waiting "Adopting…" :background t)))))))

;;;###autoload
(defun notes-join (ticket)
  "Join a note with TICKET, and open it when it has arrived.
Without a ticket, answer an invitation from a person nearby."
  (interactive (list (read-string "Ticket or words (RET: answer an invitation): ")))
  (if (string-blank-p ticket)
      (notes-answer)
    (notes-lsp--join (string-trim ticket) nil)))

(defun notes-lsp--join (ticket text)
  "Join a note with TICKET, with its TEXT if given, and open it."
  (notes-lsp--with-answer (place :notes/join `(:ticket ,ticket ,@(and text (list :text text)))
                                 :waiting "Joining… (C-g gives up)" :what "A choice of texts"
                                 :patience 0 :timeout 150 :choosing t)
    (if-let ((chosen (notes-lsp--text-chosen place)))
        (notes-lsp--join ticket chosen)
      (notes-lsp--visit place)
      (if (seq-empty-p (plist-get place :items))
          (notes-lsp--say "Opened \"%s\"" (file-name-base (plist-get place :path)))
        (notes-lsp--say "The first item of \"%s\". :NotesAgenda shows all"
                        (file-name-nondirectory (plist-get place :folder)))))))

;;;###autoload
(defun notes-unshare (&optional peer)
  "Stop sharing the current note, with PEER, an id or a name, only if given.
With a prefix argument, ask for one."
  (interactive)
  (let ((note (notes-lsp--this-note)))
    (if (and current-prefix-arg (called-interactively-p 'any))
        (notes-lsp--choose-near "Stop sharing with: " (lambda (peer _) (notes-lsp--unshare note peer)))
      (notes-lsp--unshare note peer))))

(defun notes-lsp--unshare (note peer)
  "Stop sharing NOTE, with PEER only unless that is nil."
  (notes-lsp--with-answer (result :notes/unshare
                                  (apply #'notes-lsp--about note (and peer (list :peer peer)))
                                  :waiting "Stopping sharing…" :background t)
    (unless peer (setf (notes-lsp--note-unshared note) t))
    (force-mode-line-update t)
    (notes-lsp--say "%s" (or (plist-get result :message) "No longer shared"))))

;;;###autoload
(defun notes-remove (&optional peer sure)
  "Remove PEER, an id or a name, from the current note for good.
The others go on in a new copy, with the same text and history, and so do
you; PEER keeps what it has.  Without PEER, ask for one.  Ask first unless
SURE."
  (interactive)
  (let ((note (notes-lsp--this-note)))
    (if (null peer)
        (notes-lsp--choose-near "Remove: " (lambda (peer _) (notes-lsp--remove note peer nil)))
      (notes-lsp--remove note peer sure))))

(defun notes-lsp--remove (note peer sure)
  "Remove PEER from NOTE, and ask first unless SURE."
  (notes-lsp--remove-from (notes-lsp--about note :peer peer :moveOn t) sure))

(defun notes-lsp--remove-from (params sure)
  "Send notes/remove with what the function PARAMS returns; ask first unless SURE.
Whether the note is shared with that person is found out before that."
  (if sure
      ;; The service reports the result as an event.
      (notes-lsp--with-answer (_ :notes/remove params :waiting "Removing…" :background t :timeout 150)
        (force-mode-line-update t)
        (notes-lsp--on-news))
    (notes-lsp--with-answer (result :notes/remove (lambda () `(,@(funcall params) :check t))
                                    :waiting "Looking for that person…" :what "A question")
      (when (yes-or-no-p (format "Remove %s (a copy stays with them)? "
                                 (notes-lsp--shown (plist-get result :name))))
        (notes-lsp--remove-from params t)))))

;;;###autoload
(defun notes-undelete (&optional title)
  "Bring back the note with TITLE that was deleted last, and open it.
Without TITLE, ask for one."
  (interactive)
  (notes-lsp--choose-deleted
   "Restore" title
   (lambda (note)
     (notes-lsp--with-answer (place :notes/undelete `(:id ,(plist-get note :id))
                                    :waiting "Restoring…")
       (notes-lsp--visit place)))))

(defun notes-lsp--choose-deleted (prompt title then)
  "Give THEN the deleted note with TITLE.
Without one, ask with PROMPT, and offer what was deleted last."
  (notes-lsp--with-answer (result :notes/list '(:deleted t)
                                  :waiting "Fetching the deleted notes…" :what "The list of deleted notes")
    (let* ((deleted (append (plist-get result :notes) nil))
           (titles (mapcar (lambda (note) (notes-lsp--shown (plist-get note :title))) deleted))
           (last (car titles))
           (title (or title (if titles (completing-read (format-prompt prompt last) titles nil t nil nil last)
                              (user-error "Notes: No deleted notes"))))
           (found (cl-find title deleted :test #'equal
                           :key (lambda (note) (notes-lsp--shown (plist-get note :title))))))
      (unless found (user-error "Notes: No deleted note is called \"%s\"" title))
      (funcall then found))))

;;;###autoload
(defun notes-recovered ()
  "Show texts that an overwrite would have lost; each can be visited."
  (interactive)
  (notes-lsp--with-answer (result :notes/recovered (notes-lsp--empty)
                                  :waiting "Looking for recovered texts…"
                                  :what "The list of recovered texts")
    (let ((texts (append (plist-get result :texts) nil)))
      (if (null texts)
          (notes-lsp--say "No recovered text")
        (let ((choices (mapcar (lambda (text)
                                 (cons (format "%s, %s: %s" (notes-lsp--shown (plist-get text :title))
                                               (format-time-string
                                                "%c" (/ (plist-get text :time) 1000))
                                               (plist-get text :reason))
                                       (plist-get text :path)))
                               texts)))
          (find-file-other-window
           (cdr (assoc (completing-read "Recovered: " choices nil t) choices))))))))

(provide 'notes-lsp-commands)
;;; notes-lsp-commands.el ends here
