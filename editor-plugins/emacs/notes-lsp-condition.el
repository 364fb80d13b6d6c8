;;; notes-lsp-condition.el --- What a note buffer is at every moment  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A note, read-only, offline, or no longer a note: the mode line and the
;; messages say which, in the same words as Vim's plugin.  They say "synced"
;; only if the service has proved it for the exact text of the buffer.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-capture)
(require 'notes-lsp-unsent)

(declare-function notes-lsp-mode "notes-lsp" (&optional argument))
(declare-function notes-lsp--find-note "notes-lsp-gate" (uri))
(declare-function notes-lsp--forget-peers "notes-lsp-presence" (note))
(declare-function notes-lsp--arrow "notes-lsp-presence" (note name))
(declare-function notes-lsp--short-name "notes-lsp-presence" (peer))
(declare-function notes-lsp--visit "notes-lsp-commands" (place))
(declare-function notes-lsp--tell "notes-lsp-events" (params))

(defconst notes-lsp--first-question 0.3
  "Seconds after a change until the service is asked whether all have it.")
(defconst notes-lsp--rarest-question 5 "Seconds between two questions at most.")
(defconst notes-lsp--maximum-names 3 "More people than this are counted.")

(defvar-local notes-lsp--gone nil "Why this buffer is no note any more, or nil.")
(put 'notes-lsp--gone 'permanent-local t)
(defvar-local notes-lsp--gone-id nil "The note that this buffer was, or nil.")
(put 'notes-lsp--gone-id 'permanent-local t)
(add-to-list 'minor-mode-alist
             '(notes-lsp--gone (" Not a note[" notes-lsp--gone "]")) t)

(defconst notes-lsp--read-only-line "Read-only. :NotesCopy makes a copy to edit")

(defun notes-lsp--read-only-p (note)
  "Return non-nil if this person may only read NOTE."
  (equal "read" (notes-lsp--note-access note)))

;;; Changes of condition

(defun notes-lsp--set-access (note access)
  "Let this person do ACCESS, \"read\" or \"write\", in NOTE."
  (unless (equal access (notes-lsp--note-access note))
    (setf (notes-lsp--note-access note) access)
    (notes-lsp--keep-access note t)))

(defun notes-lsp--keep-access (note &optional changed)
  "Make NOTE's buffer read-only if NOTE is; CHANGED if it may be so no longer."
  (when (and (buffer-live-p (notes-lsp--note-buffer note))
             (or changed (notes-lsp--read-only-p note)))
    (with-current-buffer (notes-lsp--note-buffer note)
      (setq buffer-read-only (notes-lsp--read-only-p note))
      (force-mode-line-update))))

(defun notes-lsp--opened (note place)
  "Take from PLACE, which opened NOTE, what this person may do."
  (when (and (equal "read" (plist-get place :access)) (not (notes-lsp--read-only-p note)))
    (notes-lsp--set-access note "read")
    (notes-lsp--warn notes-lsp--read-only-line)))

(defun notes-lsp--leave (note reason)
  "Make NOTE's buffer a plain file's for REASON, and its mode line say so."
  (when (buffer-live-p (notes-lsp--note-buffer note))
    (with-current-buffer (notes-lsp--note-buffer note)
      (notes-lsp-mode -1)
      ;; The file will soon be removed.  The note has merged what another
      ;; program wrote there just before, so Emacs need not ask about it.
      (when (and buffer-file-name
                 (member reason '("deleted" "deletedForEveryone" "itemDeleted" "purged")))
        (set-visited-file-modtime 0))
      (setq notes-lsp--gone-id (notes-lsp--note-id note))
      (notes-lsp--set-gone reason))))

(defun notes-lsp--set-gone (reason)
  "Let the mode line say that the current buffer is no note any more, for REASON."
  (setq notes-lsp--gone
        (pcase reason
          ("deletedForEveryone" "deleted for everyone") ("itemDeleted" "item deleted")
          ("textDeleted" "text deleted")
          ("purged" "removed for good") ("notFound" "not found")
          ("notOpened" "cannot be opened") ("renamed" "plain copy") ("bytes" "shown as bytes") (_ reason)))
  ;; The text may exist nowhere else, so Emacs asks before it kills the buffer.
  (when (equal reason "purged") (set-buffer-modified-p t))
  (force-mode-line-update))

(defun notes-lsp--last-of-p (params)
  "Let the buffers left of a deleted note show that it is permanently removed.
PARAMS is the event.  Return non-nil if there are any."
  (let (found)
    (dolist (buffer (buffer-list) found)
      (with-current-buffer buffer
        (when (and (equal "purged" (plist-get params :reason)) notes-lsp--gone notes-lsp--gone-id
                   (equal notes-lsp--gone-id (plist-get params :id)))
          (setq found t)
          (notes-lsp--set-gone "purged"))))))

(defun notes-lsp--on-condition (params)
  "Do what the event PARAMS says of a buffer; return non-nil if it is such.
Called from a message handler."
  (let ((kind (plist-get params :kind)))
    (when (member kind '("access" "refused" "unshared" "detached" "moved"))
      (let ((note (notes-lsp--find-note (or (plist-get params :uri) ""))))
        ;; Words of a note that no buffer shows now.  Everything else without a note was reported already, in the answer
        ;; to what this person did; but a note can be moved without one of its people while it is not open.
        (when (and (not note)
                   (or (equal kind "refused")
                       (and (equal kind "detached")
                            (or (member (plist-get params :reason) '("itemDeleted" "textDeleted"))
                                (notes-lsp--last-of-p params)))))
          (notes-lsp--warn (or (plist-get params :message) "")))
        (when note
          (pcase kind
            ("access" (notes-lsp--set-access note (or (plist-get params :access) "write")))
            ("refused" (notes-lsp--keep-access note))
            ("unshared"
             (notes-lsp--set-access note (or (plist-get params :access) "write"))
             (setf (notes-lsp--note-unshared note) t
                   (notes-lsp--note-status note)
                   (plist-put (copy-sequence (notes-lsp--note-status note)) :company nil)
                   (notes-lsp--note-status note)
                   (plist-put (notes-lsp--note-status note) :peers nil))
             (notes-lsp--forget-peers note))
            ("moved" (setf (notes-lsp--note-id note)
                           (or (plist-get params :id) (notes-lsp--note-id note))))
            ("detached"
             (when (buffer-live-p (notes-lsp--note-buffer note))
               (with-current-buffer (notes-lsp--note-buffer note)
                 (setq notes-lsp--gone-id (notes-lsp--note-id note))))
             (notes-lsp--soon (notes-lsp--leave note (or (plist-get params :reason) "deleted")))))
          (notes-lsp--tell params)
          (force-mode-line-update t))
        (and (or note (not (equal kind "moved"))) t)))))

;;; Proof

(defun notes-lsp--take-status (note told)
  "Take over what the service has TOLD about NOTE, without sending."
  (setf (notes-lsp--note-status note) told)
  (let ((access (plist-get told :access)))
    (when access
      (when (and (equal access "read") (not (notes-lsp--read-only-p note))
                 (null (notes-lsp--note-proven note)))
        (notes-lsp--warn notes-lsp--read-only-line))
      (notes-lsp--set-access note access)))
  (unless (seq-empty-p (plist-get told :peers))
    (setf (notes-lsp--note-unshared note) nil))
  (force-mode-line-update t))

(defun notes-lsp--prove-soon (note)
  "Ask the service soon whether all have what NOTE has, if that is not known."
  (let ((proven (notes-lsp--note-proven note)))
    (when (and (null (notes-lsp--note-prover note)) (notes-lsp--note-open note)
               (not (notes-lsp--stalled))
               (notes-lsp--note-id note)
               (not (eql proven (notes-lsp--note-version note)))
               (or (null proven)
                   (not (seq-empty-p (plist-get (notes-lsp--note-status note) :peers)))))
      (setf (notes-lsp--note-prover note)
            (run-with-timer (if proven (notes-lsp--note-patience note) 0) nil
                            #'notes-lsp--prove note)))))

(defun notes-lsp--prove (note)
  "Ask the service whether all have what NOTE has."
  (setf (notes-lsp--note-prover note) nil)
  (when (and (notes-lsp--note-open note) (notes-lsp-service-ready-p) (memq note notes-lsp--notes))
    (let ((version (notes-lsp--note-version note)))
      (notes-lsp-service-request-async
       :notes/status `(:uri ,(notes-lsp--note-uri note))
       (lambda (told) (notes-lsp--proved note version told))
       :error (lambda (_) (notes-lsp--proved note version '(:documents t)))))))

(defun notes-lsp--proved (note version told)
  "Note that the service has TOLD how NOTE with VERSION is."
  ;; While the note is being opened, the answer is about the service.
  (if (not (plist-get told :documents))
      (progn (notes-lsp--take-status note told)
             (notes-lsp--has-read note version)
             (setf (notes-lsp--note-proven note) version
                   (notes-lsp--note-patience note) notes-lsp--first-question))
    (setf (notes-lsp--note-patience note)
          (min (* 2 (notes-lsp--note-patience note)) notes-lsp--rarest-question))
    (unless (or (notes-lsp--note-proven note) (notes-lsp--note-prover note))
      (setf (notes-lsp--note-prover note)
            (run-with-timer (notes-lsp--note-patience note) nil #'notes-lsp--prove note))))
  (notes-lsp--prove-soon note))

;;; Words

(defun notes-lsp--lighter ()
  "Return what the mode line says about this note."
  (let* ((note (notes-lsp--current))
         (words (if note (notes-lsp--words note) "")))
    (when note (setf (notes-lsp--note-shown note) words))
    ;; A mode line takes % for the beginning of a construct, in names too.
    (string-replace "%" "%%"
                    (if (string-empty-p words) " Note" (concat " Note[" words "]")))))

(defun notes-lsp--show-words (note)
  "Have NOTE's mode line drawn anew if it says what is no longer so.
What the service proved while something waited in the queue becomes true of
the buffer when the queue is empty, and nothing else draws the line then."
  (unless (equal (notes-lsp--note-shown note) (notes-lsp--words note))
    (force-mode-line-update t)))

(defun notes-lsp--service-word ()
  "Return the state of the service as people read it."
  (pcase notes-lsp--state
    ('waiting "restarting")
    ('ready (if (notes-lsp-service-ready-p) "running" "restarting"))
    (state (symbol-name state))))

(defun notes-lsp--words (note)
  "Return what is to be known about NOTE, the most urgent first, or \"\"."
  (cond
   ((notes-lsp--note-blocked note) "not sent: invalid character")
   ((not (and (notes-lsp--note-open note) (notes-lsp-service-ready-p)))
    (format "offline (%s)" (notes-lsp--service-word)))
   ((plist-get (notes-lsp--note-status note) :waiting)
    (concat "waiting for " (plist-get (notes-lsp--note-status note) :waiting)))
   (t
    (let* ((status (notes-lsp--note-status note))
           (since (delq nil (list (notes-lsp--note-unread note)
                                  (and (notes-lsp--pending-p note) (notes-lsp--stalled))))))
      (string-join
       (append
        (and since (>= (- (float-time) (apply #'min since)) notes-lsp--storing-seconds) '("not stored"))
        (notes-lsp--company note status)
        (and (notes-lsp--note-unshared note) '("no longer shared")))
       "; ")))))

(defun notes-lsp--company (note status)
  "Return a list of strings that say how NOTE and its copies are, by STATUS.
The service words that.  Of a text that was not proved they say that it is
being sent."
  (let* ((proven (and (eql (notes-lsp--note-proven note) (notes-lsp--note-version note))
                      (notes-lsp--synced-p note)))
         (listed (mapcar (lambda (peer) (plist-get peer :name)) (plist-get status :peers)))
         ;; People whose carets arrive through other peers.
         (others (cl-remove-if (lambda (peer) (member (plist-get peer :name) listed))
                               (notes-lsp--note-peers note))))
    (append
     (and (< 0 (length (plist-get status :company)))
          (list (mapconcat (lambda (piece)
                             (concat (or (and (not proven) (plist-get piece :whenLater)) (plist-get piece :text))
                                     (and (plist-get piece :name)
                                          (notes-lsp--arrow note (plist-get piece :name)))))
                           (plist-get status :company) "")))
     (and others
          (list (concat "with " (notes-lsp--join-names (mapcar #'notes-lsp--short-name others))))))))

(defun notes-lsp--join-names (names)
  "Return NAMES in order, or how many they are."
  (if (> (length names) notes-lsp--maximum-names) (format "%d people" (length names))
    (string-join (sort (seq-uniq names) #'string<) ", ")))

;;; Commands

;;;###autoload
(defun notes-status ()
  "Show what the current buffer is, whether it is stored, and which people have it."
  (interactive)
  (let ((note (notes-lsp--current)))
    (cond
     ((null note)
      (notes-lsp--say "%s. Service %s"
                      (if notes-lsp--gone (concat "Not a note any more: " notes-lsp--gone)
                        "Not a note (:NotesAdopt makes it one)")
                      (notes-lsp--service-word)))
     ((not (notes-lsp-service-ready-p))
      (notes-lsp--say "Offline: service %s; typing is kept. :NotesRestart"
                      (notes-lsp--service-word)))
     (t
      (notes-lsp--with-answer (status :notes/status `(:uri ,(notes-lsp--note-uri note))
                                      :waiting "Asking the service…" :background t)
        (let* ((discovery (plist-get status :discovery))
               (known (progn (notes-lsp--take-status note status) (notes-lsp--words note)))
               (words (if (string-empty-p known) "not shared" known)))
          (notes-lsp--say "%s%s"
                          ;; The words begin with the reason why it is not stored, if there is one.
                          (cond ((eq t (plist-get status :stored)) (concat "Stored; " words))
                                ((string-prefix-p "not stored" words) (concat "N" (substring words 1)))
                                (t (concat "Not stored yet; " words)))
                          (if (member discovery '("on" "off" nil)) "" (concat "; " discovery)))))))))

;;;###autoload
(defun notes-copy (title)
  "Make a note of your own, called TITLE, with the text of this buffer; open it."
  (interactive
   (list (let ((default (concat (file-name-base (or buffer-file-name (buffer-name))) " copy")))
           (read-string (format "Title of the copy (%s): " default) nil nil default))))
  (let ((note (notes-lsp--current)))
    (notes-lsp--with-answer
        (place (if note :notes/copy :notes/create)
               (if note `(:title ,title :uri ,(notes-lsp--note-uri note))
                 `(:title ,title
                   :text ,(save-restriction
                            (widen)
                            (buffer-substring-no-properties (point-min) (point-max)))))
               :waiting "Copying…")
      (notes-lsp--visit place)
      (notes-lsp--say "Copied to \"%s\", which is yours alone" title))))

;;; Typing in read-only notes

(defun notes-lsp--explain-read-only (report data &rest arguments)
  "Call REPORT with DATA and ARGUMENTS, or say why this note is read-only."
  (let ((note (notes-lsp--current)))
    (if (and note (eq (car-safe data) 'buffer-read-only) (notes-lsp--read-only-p note))
        (progn (ding t)
               (setq notes-lsp--unread t)
               (message "%s" (notes-lsp--line notes-lsp--read-only-line)))
      (apply report data arguments))))
(add-function :around command-error-function #'notes-lsp--explain-read-only)

(provide 'notes-lsp-condition)
;;; notes-lsp-condition.el ends here
