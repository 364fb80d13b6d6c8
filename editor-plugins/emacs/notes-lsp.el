;;; notes-lsp.el --- Notes that several people edit at once  -*- lexical-binding: t -*-

;; Author: The notes-lsp authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: comm, files, hypermedia
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Notes are plain text files that `notes-lsp', a small service started by
;; this package, keeps the same on every machine they are shared with, also
;; while several people type into them from Vim and Emacs.
;;
;;     (add-to-list 'load-path ".../editor-plugins/emacs")
;;     (require 'notes-lsp)
;;
;; M-x notes lists the notes, M-x notes-new makes one, M-x notes-share gives
;; a ticket that M-x notes-join takes on another machine.
;;
;; See README.md for how the parts work together.

;;; Code:

(require 'cl-lib)
(require 'easymenu)
(require 'subr-x)

(defgroup notes-lsp nil
  "Notes that several people edit at once."
  :group 'communication :prefix "notes-lsp-")

(defcustom notes-lsp-command '("notes-lsp")
  "The program that is the service, and its arguments.
If `notes-lsp' is not on the PATH, Emacs uses the program that was
installed together with this package."
  :type '(repeat string))

(defcustom notes-lsp-name nil
  "The name that others see; nil leaves it as it is.
It is stored and used in all your editors; the last one given counts."
  :type '(choice (const :tag "As it is" nil) string))

(defcustom notes-lsp-color nil
  "Your preferred colour, 0 to 11; nil lets the service choose."
  :type '(choice (const :tag "Any" nil) (integer :tag "Number")))

(defcustom notes-lsp-map-undo t
  "Non-nil means undo commands in notes take back only what you did.
Emacs's own undo reaches back to the last edit of another person, never
further."
  :type 'boolean)

(require 'notes-lsp-definitions)
(require 'notes-lsp-shown)
(require 'notes-lsp-service)
(require 'notes-lsp-stop)
(require 'notes-lsp-ask)
(require 'notes-lsp-capture)
(require 'notes-lsp-buffer)
(require 'notes-lsp-reread)
(require 'notes-lsp-condition)
(require 'notes-lsp-presence)
(require 'notes-lsp-events)
(require 'notes-lsp-ticket)
(require 'notes-lsp-list)
(require 'notes-lsp-nearby)
(require 'notes-lsp-server)
(require 'notes-lsp-history)
(require 'notes-lsp-exchange)
(require 'notes-lsp-commands)
(require 'notes-lsp-going)
(require 'notes-lsp-screens)
(require 'notes-lsp-introduction)
(require 'notes-lsp-inert)

;;; The mode

(defvar notes-lsp-mode-map
  (let ((map (make-sparse-keymap)))
    (dolist (command '(undo undo-only advertised-undo undo-tree-undo undo-fu-only-undo evil-undo))
      (define-key map (vector 'remap command) #'notes-lsp-undo))
    (dolist (command '(undo-redo undo-tree-redo undo-fu-only-redo evil-redo))
      (define-key map (vector 'remap command) #'notes-lsp-redo))
    (dolist (command '(vundo undo-tree-visualize))
      (define-key map (vector 'remap command) #'notes-lsp-no-undo-tree))
    map)
  "Keys of note buffers.")

(defvar notes-lsp-command-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command) notes-lsp--keys) (define-key map key command))
    map)
  "Commands of notes by one key; after \\[notes-lsp-command-map] in notes.")
(fset 'notes-lsp-command-map notes-lsp-command-map)
(define-key notes-lsp-mode-map (kbd "C-c ,") 'notes-lsp-command-map)

(easy-menu-define notes-lsp-menu notes-lsp-mode-map "Menu of notes." notes-lsp--menu-items)

(define-minor-mode notes-lsp-mode
  "Minor mode of buffers that are notes.
It is turned on by the commands that open, make, adopt, share or join a
note; turning it off closes the note, the file stays."
  :lighter (:eval (notes-lsp--lighter))
  (cond
   ((not notes-lsp-mode) (notes-lsp--detach))
   ((not (notes-lsp--current))
    (setq notes-lsp-mode nil)
    (notes-lsp--refuse "Not a note. :NotesAdopt makes it one"))))
(put 'notes-lsp-mode 'permanent-local t)

(defun notes-lsp-buffer-info (&optional buffer)
  "Return a plist about the note in BUFFER (default current), nil if it is none.
:id, :rev and :version are the protocol's; :synced is non-nil if the service
has been told everything and nothing it said is waiting; :peers are names."
  (with-current-buffer (or buffer (current-buffer))
    (let ((note (notes-lsp--current)))
      (when note
        (list :id (notes-lsp--note-id note)
              :rev (notes-lsp--note-rev note)
              :version (notes-lsp--note-version note)
              :synced (notes-lsp--synced-p note)
              :peers (notes-lsp-peer-names note))))))

(defun notes-lsp-undo (&optional count)
  "Take back what you did last, COUNT times, whatever others did since.
While the service is away: as far back as the last edit of another person."
  (interactive "p")
  (cond
   ((notes-lsp--read-only-p (notes-lsp--current))
    (notes-lsp--refuse notes-lsp--read-only-line))
   ((and notes-lsp-map-undo (notes-lsp--undo-by-service-p))
    ;; Emacs would undo in the region, and the service undoes in the note.
    (when (use-region-p) (user-error "Notes: No undo in a region here; press C-g, then undo"))
    (notes-lsp--ask-to-undo :notes/undo count))
   ((and notes-lsp-map-undo (null buffer-undo-list) (not (eq last-command 'undo)))
    (user-error "Notes: Offline: no more to undo until the service is back"))
   (t (call-interactively #'undo))))

(defun notes-lsp-redo (&optional count)
  "Do again what you took back last, COUNT times."
  (interactive "p")
  (when (notes-lsp--read-only-p (notes-lsp--current))
    (notes-lsp--refuse notes-lsp--read-only-line))
  (if (and notes-lsp-map-undo (notes-lsp--undo-by-service-p))
      (notes-lsp--ask-to-undo :notes/redo count)
    (call-interactively 'undo-redo)))

(defun notes-lsp-no-undo-tree ()
  "Say where earlier states of a note are: its undo has no branches."
  (interactive)
  (user-error "Notes: no undo tree here; see M-x notes-history"))

(defun notes-lsp--undo-by-service-p ()
  "Return non-nil if the service can undo in the current note now."
  (let ((note (notes-lsp--current)))
    (and note (notes-lsp--note-open note)
         (notes-lsp-service-ready-p)
         (notes-lsp-service-capable-p :undo))))

(defconst notes-lsp--undo-seconds 1
  "How long an undo may block Emacs; a slower one comes later.")

(defun notes-lsp--ask-to-undo (method count)
  "Send METHOD for the current note, for COUNT steps; the text comes as an edit."
  (barf-if-buffer-read-only)
  (let ((note (notes-lsp--current)))
    (notes-lsp--flush note)
    (setq notes-lsp--undo-awaited t)
    (notes-lsp-service-request-async
     method
     `(:uri ,(notes-lsp--note-uri note)
       :version ,(notes-lsp--note-version note)
       :rev ,(notes-lsp--note-rev note)
       :count ,(max 1 (prefix-numeric-value count)))
     (lambda (result) (notes-lsp--not-undone (plist-get result :message)))
     :error #'notes-lsp--not-undone)
    ;; What comes next in a macro, or was typed ahead, is meant for the text after it.
    (notes-lsp--wait notes-lsp--undo-seconds
                     (lambda ()
                       (let ((notes-lsp--safe t)) (notes-lsp--drain note))
                       (not notes-lsp--undo-awaited)))))

(defun notes-lsp--not-undone (line)
  "Say LINE, if it is one: why nothing was undone."
  (when line
    (setq notes-lsp--undo-awaited nil)
    (notes-lsp--say "%s" line)))

;;; Notes opened as files

(defun notes-lsp--on-find-file (&optional otherwise)
  "Open the file that was just visited as the note it is; else call OTHERWISE.
Only for a file in the notes directory is the service asked; of notes
elsewhere it keeps a list."
  (when (and buffer-file-name (not notes-lsp--visiting) (not noninteractive)
             (not (notes-lsp--current)) (not (notes-lsp--bytes-p)))
    (let ((buffer (current-buffer))
          (path (notes-lsp--note-path buffer-file-name)))
      (if (not path)
          (when otherwise (funcall otherwise))
        ;; Before it is shown for the first time.
        (notes-lsp--watch-order)
        (notes-lsp--guarded "opening"
          (notes-lsp--with-answer (result :notes/list (list :file path) :background t)
            (when (buffer-live-p buffer)
              (with-current-buffer buffer
                (unless (or (notes-lsp--current) (null buffer-file-name) (notes-lsp--bytes-p))
                  (unless (or (notes-lsp--attach-known (plist-get result :notes) path) (null otherwise))
                    (funcall otherwise)))))))))))

(cl-defun notes-lsp--attach-known (listed &optional path)
  "Open the current buffer as the one of LISTED whose file it visits, if any.
PATH is how the service knows that file, if not by the buffer's name."
  (let ((path (or path (expand-file-name buffer-file-name))))
    (cl-loop for note across listed
             do (cl-loop for place in (cons note (append (plist-get note :items) nil))
                         when (equal path (plist-get place :path))
                         do (cl-return-from notes-lsp--attach-known
                              (notes-lsp--attach (plist-get place :uri) (plist-get note :id)))))))

(defun notes-lsp--on-placed (params)
  "Make buffers of the file that a note has got, as PARAMS say, that note.
They were opened as plain files before the service knew it."
  (let ((path (plist-get params :path)))
    (when (and path (member (plist-get params :kind) '("created" "renamed" "restored")))
      (notes-lsp--soon
        (dolist (buffer (buffer-list))
          (with-current-buffer buffer
            (when (and buffer-file-name (not (buffer-base-buffer)) (not (notes-lsp--current))
                       (not (notes-lsp--bytes-p))
                       (or (equal (expand-file-name buffer-file-name) path)
                           (equal buffer-file-truename (abbreviate-file-name (file-truename path)))))
              (notes-lsp--watch-order)
              (notes-lsp--attach (plist-get params :uri) (plist-get params :id)))))))))

(defvar notes-lsp--has-been-ready nil "Non-nil if a service has been ready before.")

(defun notes-lsp--look-again ()
  "Open as notes the files that have become ones while no service was there."
  (when notes-lsp--has-been-ready
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (notes-lsp--on-find-file))))
  (setq notes-lsp--has-been-ready t))

(defun notes-lsp--be-seen ()
  "Start the service if the person chose to be seen on this network.
The service keeps a file that says so.  Others then see the person without a
note being open."
  (when (file-exists-p (expand-file-name ".seen" (notes-lsp--directory)))
    (notes-lsp--guarded "starting" (notes-lsp--begin))))

;; The manual, where `make install' or a tarball has put it: C-h i m notes-lsp.
(defvar Info-additional-directory-list)
(let ((folder (and load-file-name
                   (expand-file-name "../../../share/info" (file-name-directory load-file-name)))))
  (when (and folder (file-exists-p (expand-file-name "notes-lsp.info" folder)))
    (setq Info-additional-directory-list
          (cons folder (bound-and-true-p Info-additional-directory-list)))))

(unless noninteractive (run-with-timer 2 nil #'notes-lsp--be-seen))
(add-hook 'find-file-hook #'notes-lsp--on-find-file)
(add-hook 'notes-lsp--event-hook #'notes-lsp--on-placed)
(add-hook 'notes-lsp--event-hook #'notes-lsp--tickets-revoked)
(add-hook 'notes-lsp--ready-hook #'notes-lsp--look-again)

(provide 'notes-lsp)
;;; notes-lsp.el ends here
