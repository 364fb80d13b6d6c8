;;; notes-lsp-screens.el --- The lists of notes, people and items  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; M-x notes, notes-people, notes-peers, notes-agenda and notes-deleted, and
;; what the keys in these lists do.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-list)
(require 'notes-lsp-commands)
(require 'notes-lsp-going)
(require 'notes-lsp-exchange)
(require 'notes-lsp-history)
(require 'notes-lsp-ticket)

(defun notes-lsp--list-keys (map &rest keys)
  "Bind in MAP the commands KEYS, alternating with their keys."
  (cl-loop for (key command) on keys by #'cddr do (define-key map (kbd key) command)))

(defun notes-lsp--then-refresh (&rest _)
  "Fill the lists again, after something was changed here."
  (notes-lsp--on-news))

;;; Notes

(defvar-local notes-list--order "changed" "How this list is sorted: changed, or title.")

(define-derived-mode notes-list-mode notes-lsp-list-mode "Notes"
  "Your notes, and those that others share with you, the last changed first.
A star marks what others have changed since you closed the note.
\\{notes-list-mode-map}")

(notes-lsp--list-keys
 notes-list-mode-map
 "RET" #'notes-list-open "o" #'notes-list-open-other-window "+" #'notes-new "M" #'notes-meeting
 "R" #'notes-list-rename "D" #'notes-list-delete "U" #'notes-deleted "S" #'notes-list-share
 "J" #'notes-join "P" #'notes-list-people "H" #'notes-list-history "F" #'notes-find
 "s" #'notes-list-sort)

;;;###autoload
(defun notes ()
  "Show the list of notes."
  (interactive)
  (notes-lsp--show-list "*notes*" 'notes-list-mode :notes/list '(:order "changed")))

(defun notes-list-sort ()
  "Sort this list by title, or by time again."
  (interactive nil notes-list-mode)
  (setq notes-list--order (if (equal notes-list--order "title") "changed" "title")
        notes-lsp--source (list :notes/list :order notes-list--order))
  (notes-lsp--refresh)
  (notes-lsp--say (if (equal notes-list--order "title") "Sorted by title"
                    "Sorted by time, newest first")))

(notes-lsp--define-row-command notes-list-open :id
  "Open the note on this line; a meeting as its agenda."
  (if (equal "meeting" (plist-get row :kind))
      (notes-lsp--agenda (plist-get row :id))
    (notes-lsp--open-row row)))

(notes-lsp--define-row-command notes-list-open-other-window :id
  "Open the note on this line in another window."
  (notes-lsp--with-answer (place :notes/open (list :id (plist-get row :id)) :waiting "Opening…")
    (save-selected-window
      (select-window (split-window-sensibly (selected-window)))
      (notes-lsp--visit place))))

(defun notes-lsp--open-row (row)
  "Open the note, or the item, of ROW."
  (notes-lsp--with-answer (place :notes/open (notes-lsp--row-params row) :waiting "Opening…")
    (notes-lsp--visit place)))

(defun notes-lsp--row-params (row &rest params)
  "Return what names the note or item of ROW in a request, with PARAMS."
  (append (cl-loop for member in '(:id :item)
                   when (plist-get row member) append (list member (plist-get row member)))
          params))

(notes-lsp--define-row-command notes-list-rename :id
  "Give the note, item or meeting on this line another title."
  (let ((title (read-string "New title: " (plist-get row :title))))
    (unless (string-blank-p title) (notes-lsp--carry-out 'NotesRename title row))))

(notes-lsp--define-row-command notes-list-delete :id
  "Delete the note, item or meeting on this line, after a question."
  (let ((item (plist-get row :item)) (title (plist-get row :title)))
    (when (yes-or-no-p (if item (format "Delete item \"%s\" for everyone? " title)
                         (format "Delete \"%s\"? Others keep theirs. " title)))
      (notes-lsp-ask :notes/delete (notes-lsp--row-params row) #'notes-lsp--told
                     :waiting "Deleting…" :background t))))

(notes-lsp--define-row-command notes-list-share :id
  "Make a ticket for the note on this line."
  (notes-lsp--share-id (plist-get row :id)))

(defun notes-lsp--share-id (id &optional params)
  "Make a ticket for the note ID with PARAMS, and show it."
  (notes-lsp--with-answer (result :notes/share
                                  (append (list :id id) (or params (notes-lsp--ticket-params)))
                                  :waiting "Making a ticket…" :background t)
    (notes-lsp--give-ticket result)))

(notes-lsp--define-row-command notes-list-people :id
  "Show the people of the note on this line."
  (notes-lsp--people (plist-get row :id)))

(notes-lsp--define-row-command notes-list-history :id
  "Show the history of the note on this line."
  (notes-lsp--show-history (list :id (plist-get row :id))))

;;; Deleted notes

(define-derived-mode notes-deleted-mode notes-lsp-list-mode "Deleted notes"
  "Notes that were deleted and can be restored.
\\{notes-deleted-mode-map}")

(notes-lsp--list-keys
 notes-deleted-mode-map
 "RET" #'notes-deleted-restore "U" #'notes-deleted-restore "D" #'notes-deleted-purge)

;;;###autoload
(defun notes-deleted ()
  "List the deleted notes, to restore one or to delete it for good."
  (interactive)
  (notes-lsp--show-list "*deleted notes*" 'notes-deleted-mode :notes/list '(:deleted t)))

(notes-lsp--define-row-command notes-deleted-restore :id
  "Restore the note on this line, and open it."
  (notes-lsp--with-answer (place :notes/undelete (list :id (plist-get row :id))
                                 :waiting "Restoring…")
    (notes-lsp--then-refresh)
    (notes-lsp--visit place)))

(notes-lsp--define-row-command notes-deleted-purge :id
  "Delete the note on this line and its history for good, after a question."
  (notes-lsp--purge row))

(defun notes-lsp--purge (note)
  "Delete NOTE, a plist, for good, after a question."
  (let ((title (notes-lsp--shown (plist-get note :title))))
    (when (yes-or-no-p (format "Delete \"%s\" and its history for good? " title))
      (notes-lsp--with-answer (_ :notes/purge (list :id (plist-get note :id))
                                 :waiting "Deleting…" :background t)
        (notes-lsp--then-refresh)
        (notes-lsp--say "\"%s\" is gone for good" title)))))

;;;###autoload
(defun notes-purge ()
  "Choose a deleted note, and delete it for good."
  (interactive)
  (notes-lsp--choose-deleted "Delete for good" nil #'notes-lsp--purge))

;;; People

(define-derived-mode notes-people-mode notes-lsp-list-mode "People"
  "The people of a note, and those who could be invited.
\\{notes-people-mode-map}")

(notes-lsp--list-keys
 notes-people-mode-map
 "RET" #'notes-people-go "i" #'notes-people-invite "a" #'notes-people-access
 "D" #'notes-people-remove "v" #'notes-people-verify "B" #'notes-people-trust
 "S" #'notes-people-share)

;;;###autoload
(defun notes-people ()
  "Show the people of the current note: access, state, and what you can do."
  (interactive)
  (let ((note (notes-lsp--current)))
    (unless note (notes-lsp--refuse "Not a note. :NotesPeers lists all people"))
    (notes-lsp--people (notes-lsp--note-id note))))

(defun notes-lsp--people (id)
  "Show the people of the note ID."
  (notes-lsp--show-list "*notes people*" 'notes-people-mode :notes/people (list :id id) t))

(defun notes-lsp--list-note ()
  "Return the id of the note that this list is about."
  (plist-get (cdr notes-lsp--source) :id))

(notes-lsp--define-row-command notes-people-go :peer
  "Go to the caret of the person on this line."
  (let ((name (plist-get row :name)))
    (quit-window)
    (notes-lsp--go-to-name name)))

(notes-lsp--define-row-command notes-people-invite :peer
  "Invite the person on this line."
  (notes-lsp-ask :notes/invite (list :id (notes-lsp--list-note) :peer (plist-get row :peer))
                 #'notes-lsp--told :waiting "Inviting…" :background t))

(notes-lsp--define-row-command notes-people-access :peer
  "Change what the person on this line may do."
  (notes-lsp--set-access-of (list :id (notes-lsp--list-note)) (plist-get row :peer)
                            (plist-get row :name)))

(notes-lsp--define-row-command notes-people-remove :peer
  "Remove the person on this line; the others go on in a new copy."
  (let ((params (list :id (notes-lsp--list-note) :moveOn t :peer (plist-get row :peer))))
    (notes-lsp--remove-from (lambda () params) nil)))

(notes-lsp--define-row-command notes-people-verify :peer
  "Compare digits with the person on this line."
  (notes-lsp--verify (plist-get row :peer)))

(notes-lsp--define-row-command notes-people-trust :peer
  "Trust, block or forget the person on this line."
  (notes-lsp--trust (plist-get row :peer) (plist-get row :name)))

(defun notes-people-share ()
  "Make a ticket for this note."
  (interactive nil notes-people-mode)
  (notes-lsp--share-id (notes-lsp--list-note)))

(define-derived-mode notes-peers-mode notes-lsp-list-mode "Peers"
  "All people that the service knows or hears.
\\{notes-peers-mode-map}")

(notes-lsp--list-keys
 notes-peers-mode-map "v" #'notes-people-verify "B" #'notes-people-trust)

;;;###autoload
(defun notes-peers ()
  "List all people that the service knows or hears."
  (interactive)
  (notes-lsp--show-list "*notes peers*" 'notes-peers-mode :notes/peers nil t))

;;; Meetings

(define-derived-mode notes-agenda-mode notes-lsp-list-mode "Agenda"
  "The agenda of a meeting: its title, and its items in order.
A star marks what others have changed since you closed the item.
\\{notes-agenda-mode-map}"
  (when buffer-file-name (notes-lsp--guard-document)))

(notes-lsp--list-keys
 notes-agenda-mode-map
 "RET" #'notes-agenda-open "+" #'notes-item "R" #'notes-list-rename "D" #'notes-list-delete
 "J" #'notes-agenda-move-down "K" #'notes-agenda-move-up
 "M-<down>" #'notes-agenda-move-down "M-<up>" #'notes-agenda-move-up
 "d" #'notes-agenda-diff "P" #'notes-agenda-people "S" #'notes-people-share)

;;;###autoload
(defun notes-agenda ()
  "Show the agenda of the current buffer's meeting."
  (interactive)
  (let ((note (notes-lsp--current)))
    (unless note (notes-lsp--refuse "Not a note. :NotesMeeting makes a meeting"))
    (notes-lsp--agenda (notes-lsp--note-id note))))

(defun notes-lsp--agenda (id)
  "Show the agenda of the meeting ID."
  (notes-lsp--show-list "*notes agenda*" 'notes-agenda-mode :notes/items (list :id id)))

(notes-lsp--define-row-command notes-agenda-open :item
  "Open the item on this line."
  (notes-lsp--open-row row))

(defun notes-lsp--move-item (step)
  "Move the item at point by STEP places."
  (let ((row (notes-lsp--row :item))
        ;; The first line is the meeting's.
        (place (+ (line-number-at-pos) -2 step)))
    (when (>= place 0)
      (notes-lsp--with-answer (_ :notes/moveItem (notes-lsp--row-params row :position place)
                                 :waiting "Moving the item…" :background t)
        (notes-lsp--then-refresh)))))

(defun notes-agenda-move-down ()
  "Move the item on this line down."
  (interactive nil notes-agenda-mode)
  (notes-lsp--move-item 1))

(defun notes-agenda-move-up ()
  "Move the item on this line up."
  (interactive nil notes-agenda-mode)
  (notes-lsp--move-item -1))

(notes-lsp--define-row-command notes-agenda-diff :item
  "Show what others have changed in this item since you closed it."
  (notes-lsp-ask :notes/diff (notes-lsp--row-params row :lines t) #'notes-lsp--show-diff
                 :waiting "Comparing…" :what "The changes"))

(defun notes-agenda-people ()
  "Show the people of this meeting."
  (interactive nil notes-agenda-mode)
  (notes-lsp--people (notes-lsp--list-note)))

(provide 'notes-lsp-screens)
;;; notes-lsp-screens.el ends here
