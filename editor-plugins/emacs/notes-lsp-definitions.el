;;; notes-lsp-definitions.el --- Keys, menu and colours of notes  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Generated from editor-plugins/description.json by generate.py; change
;; those.

;;; Code:

(defconst notes-lsp--keys
  '(("l" . notes)
    ("n" . notes-new)
    ("s" . notes-share)
    ("t" . notes-ticket)
    ("j" . notes-join)
    ("i" . notes-invite)
    ("a" . notes-answer)
    ("p" . notes-people)
    ("/" . notes-find)
    ("m" . notes-agenda)
    ("g" . notes-go)
    ("f" . notes-follow)
    ("." . notes-point)
    ("h" . notes-history)
    ("d" . notes-diff)
    ("b" . notes-blame)
    ("L" . notes-log)
    ("?" . notes-status))
  "Keys behind the prefix of notes, and their commands.")

(defconst notes-lsp--menu-items
  '("Notes"
    ["All notes" notes]
    ["New note..." notes-new]
    ["Find words..." notes-find]
    ["Tutorial" notes-tutorial]
    "--"
    ["Share by ticket" notes-share]
    ["Show the ticket again" notes-ticket]
    ["Invite..." notes-invite]
    ["Answer an invitation" notes-answer]
    ["Join..." notes-join]
    ["People" notes-people]
    "--"
    ["Go to a person" notes-go]
    ["Follow a person" notes-follow]
    ["Point here" notes-point]
    "--"
    ["History" notes-history]
    ["What is new" notes-diff]
    ["Who wrote it" notes-blame]
    ["Agenda" notes-agenda]
    "--"
    ["Rename..." notes-rename]
    ["Delete..." notes-delete]
    ["Deleted notes" notes-deleted]
    ["Status" notes-status]
    ["Log" notes-log])
  "The menu of notes, as for `easy-menu-define'.")

(defconst notes-lsp--palette
  '(("#d70000" "#ff5f5f" "red")
    ("#005fff" "#5fafff" "blue")
    ("#008700" "#5fd75f" "green")
    ("#d75f00" "#ffaf5f" "yellow")
    ("#8700af" "#af87ff" "magenta")
    ("#008787" "#5fd7d7" "cyan")
    ("#d70087" "#ff87d7" "magenta")
    ("#875f00" "#d7af5f" "yellow")
    ("#5f5f87" "#afafd7" "blue")
    ("#5f8700" "#afd75f" "green")
    ("#af005f" "#ff5faf" "red")
    ("#005f87" "#87d7ff" "cyan"))
  "For each colour number: on a light background, on a dark one, with 8 colours.")

(defconst notes-lsp--flows
  '((NotesTutorial
     :method :notes/tutorial
     :params (:keys "emacs")
     :opens t
     :waiting "Making the note…")
    (NotesNew
     :method :notes/create
     :argument :title
     :opens t
     :waiting "Making the note…")
    (NotesRename
     :method :notes/rename
     :argument :title
     :about note
     :say "Renamed to \"{}\" (file follows on close)"
     :waiting "Renaming…")
    (NotesDelete
     :method :notes/delete
     :about note
     :confirm "Delete your copy? Others keep theirs."
     :confirmItem "Delete this item for everyone?"
     :waiting "Deleting…")
    (NotesDeleteForEveryone
     :method :notes/delete
     :about note
     :params (:forEveryone t)
     :confirm "Delete for everyone who has it?"
     :waiting "Deleting…")
    (NotesMerge
     :method :notes/merge
     :argument :path
     :about note
     :isFile t
     :waiting "Merging…")
    (NotesMeeting
     :method :notes/create
     :argument :title
     :params (:kind "meeting")
     :opens t
     :waiting "Making the meeting…")
    (NotesItem
     :method :notes/addItem
     :argument :title
     :about list
     :first :notes/items
     :prompt "Title of the item: "
     :opens t
     :waiting "Adding the item…"))
  "What the commands below that make one request send and say.")

(declare-function notes-lsp--carry-out "notes-lsp-commands" (name &optional argument row sure))

;;;###autoload
(defun notes-tutorial ()
  "Make a practice note in which a robot types as another person would."
  (interactive)
  (notes-lsp--carry-out 'NotesTutorial))

;;;###autoload
(defun notes-new (title)
  "Make a note called TITLE and open it."
  (interactive "sTitle: ")
  (notes-lsp--carry-out 'NotesNew title))

;;;###autoload
(defun notes-rename (title)
  "Give the current note another TITLE; its file follows when it is closed."
  (interactive (list (read-string "New title: " (plist-get (notes-lsp--note-status (notes-lsp--this-note)) :title))))
  (notes-lsp--carry-out 'NotesRename title))

;;;###autoload
(defun notes-delete (&optional sure)
  "Delete the current note and its file, asking first unless SURE.
The buffer stays.  For 30 days `notes-undelete' can restore the note."
  (interactive "P")
  (notes-lsp--carry-out 'NotesDelete nil nil sure))

;;;###autoload
(defun notes-delete-for-everyone (&optional sure)
  "Delete the current note for everyone who has it.
Ask first unless SURE.  Each of them can restore it for 30 days."
  (interactive "P")
  (notes-lsp--carry-out 'NotesDeleteForEveryone nil nil sure))

;;;###autoload
(defun notes-merge (file)
  "Merge FILE, another copy of the current note."
  (interactive "fMerge: ")
  (notes-lsp--carry-out 'NotesMerge file))

;;;###autoload
(defun notes-meeting (title)
  "Make a meeting called TITLE, and show its agenda."
  (interactive "sTitle of the meeting: ")
  (notes-lsp--carry-out 'NotesMeeting title))

;;;###autoload
(defun notes-item (&optional title)
  "Add an item called TITLE to the current buffer's meeting; open it."
  (interactive)
  (notes-lsp--carry-out 'NotesItem title))

(provide 'notes-lsp-definitions)
;;; notes-lsp-definitions.el ends here
