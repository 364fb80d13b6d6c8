;;; notes-lsp-condition-test.el --- What a note buffer says it is  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The mode line and the messages of a buffer in each of its conditions, with
;; what the service says put into the handlers.

;;; Code:

(require 'ert)
(require 'notes-lsp-test)

(defvar notes-test-told nil "What the echo area was told, last first.")

(defmacro notes-test-told (&rest body)
  "Evaluate BODY with nothing to be read; `notes-test-told' has what is said."
  (declare (indent 0) (debug t))
  `(let (notes-test-told notes-lsp--waiting-news notes-lsp--unread notes-lsp--urgent notes-lsp--said
         notes-lsp--news-pause)
     (cl-letf (((symbol-function 'message)
                (lambda (format &rest arguments)
                  (push (apply #'format format arguments) notes-test-told))))
       ,@body)))

(defun notes-test-in-sync (peers)
  "Return what the service says of PEERS who are in sync."
  (and peers
       (vconcat (list (list :text "synced with " :whenLater "sending to "))
                (cdr (mapcan (lambda (peer)
                               (list (list :text ", ")
                                     (list :text (plist-get peer :name) :name (plist-get peer :name))))
                             peers)))))

(defun notes-test-status (peers &rest more)
  "Let the service say that PEERS have the note, by default in sync, and MORE."
  (notes-lsp--on-status
   (append more (list :uri (notes-lsp--note-uri notes-test-note) :stored t :network "on"
                      :peers (vconcat peers) :company (notes-test-in-sync peers)))))

(defun notes-test-prove ()
  "Note that the status is that of the text as it is."
  (setf (notes-lsp--note-proven notes-test-note) (notes-lsp--note-version notes-test-note)
        (notes-lsp--note-id notes-test-note) "id"))

(defun notes-test-event (kind &rest more)
  "Let the service tell the event KIND with MORE."
  (notes-lsp--on-event (append (list :uri (notes-lsp--note-uri notes-test-note) :kind kind) more)))

(ert-deftest notes-test-a-percent-sign-in-a-name-is-no-construct-of-the-mode-line ()
  "`%b' in a name is not the buffer's name, and one `%' hides nothing."
  (notes-test-with "x\n"
    (notes-test-prove)
    (notes-test-status '((:peer "a" :name "%b 100%" :inSync t :pending 0 :state "inSync")))
    (should (equal (notes-lsp--lighter) " Note[synced with %%b 100%%]"))
    (notes-test-status '((:peer "a" :name "Ana" :inSync t :pending 0 :state "inSync")))
    (should (equal (notes-lsp--lighter) " Note[synced with Ana]"))))

(ert-deftest notes-test-the-mode-line-says-how-far-the-others-are ()
  (notes-test-with "x\n"
    (let ((ana '(:peer "a" :name "Ana" :inSync t :pending 0 :state "inSync")))
      (progn
        (should (equal (notes-lsp--lighter) " Note"))
        (notes-test-prove)
        ;; In the service's words and order, with what is behind a name.
        (notes-test-status
         (list ana) :company
         [(:text "receiving from ") (:text "Cy" :name "Cy") (:text " (34%)")
          (:text "; 3 changes not yet sent to ") (:text "Bo" :name "Bo") (:text ", ") (:text "Di" :name "Di")
          (:text "; ") (:text "Theodora Longna…" :name "Theodora Longname") (:text " unreachable")])
        (should (equal (notes-lsp--lighter)
                       (concat " Note[receiving from Cy (34%%); 3 changes not yet sent to Bo, Di; "
                               "Theodora Longna… unreachable]")))
        (notes-test-status (list ana) :company
                           [(:text "synced with " :whenLater "sending to ") (:text "5 people")])
        (should (equal (notes-lsp--lighter) " Note[synced with 5 people]"))
        ;; Names are not mode-line constructs: they read as they are written.
        (notes-test-status nil :company [(:text "no network: %b%-")])
        (should (equal (notes-lsp--lighter) " Note[no network: %%b%%-]"))))))

(ert-deftest notes-test-synced-is-said-only-of-a-text-that-was-proved ()
  (notes-test-with "x\n"
    (notes-test-prove)
    (notes-test-status '((:peer "a" :name "Ana" :inSync t :state "inSync")))
    (should (equal (notes-lsp--lighter) " Note[synced with Ana]"))
    (insert "y")
    (should (equal (notes-lsp--lighter) " Note[sending to Ana]"))
    (notes-lsp--flush notes-test-note)
    (should (equal (notes-lsp--lighter) " Note[sending to Ana]"))
    (notes-lsp--proved notes-test-note (notes-lsp--note-version notes-test-note)
                       (list :stored t :network "on" :peers [(:peer "a" :name "Ana" :inSync t)]
                             :company (notes-test-in-sync '((:name "Ana")))))
    (should (equal (notes-lsp--lighter) " Note[synced with Ana]"))))

(ert-deftest notes-test-the-mode-line-is-drawn-anew-when-the-queue-is-empty ()
  (notes-test-with "x\n"
    (notes-test-prove)
    ;; Both come in one breath, and Emacs draws before it works on the queue.
    (notes-lsp--enqueue 'notes/check (list :uri (notes-lsp--note-uri notes-test-note) :version 0 :rev 0))
    (notes-test-status '((:peer "a" :name "Ana" :inSync t :state "inSync")))
    (should (equal (notes-lsp--lighter) " Note[sending to Ana]"))
    (let ((drawn 0))
      (cl-letf (((symbol-function 'force-mode-line-update) (lambda (&rest _) (cl-incf drawn))))
        (notes-lsp--drain notes-test-note)
        (should (= drawn 1))
        (should (equal (notes-lsp--lighter) " Note[synced with Ana]"))
        (notes-lsp--drain notes-test-note)
        (should (= drawn 1))))))

(ert-deftest notes-test-what-an-earlier-service-proved-is-not-claimed ()
  (notes-test-with "x\n"
    (notes-test-prove)
    (notes-test-status '((:peer "a" :name "Ana" :inSync t :state "inSync")))
    (let ((version (notes-lsp--note-version notes-test-note)))
      (insert "y")
      (notes-lsp--did-open notes-test-note t)
      (should (equal version (notes-lsp--note-version notes-test-note)))
      (should (equal (notes-lsp--lighter) " Note[sending to Ana]"))
      (notes-lsp--proved notes-test-note version
                         (list :stored t :network "on" :peers [(:peer "a" :name "Ana" :inSync t)]
                             :company (notes-test-in-sync '((:name "Ana")))))
      (should (equal (notes-lsp--lighter) " Note[synced with Ana]")))))

(ert-deftest notes-test-the-status-says-once-why-a-note-is-not-stored ()
  (notes-test-with "x\n"
    (notes-test-told
      (dolist (case '(([(:text "not stored: the disk is full")] "Notes: Not stored: the disk is full")
                      ([] "Notes: Not stored yet; not shared")))
        (cl-letf (((symbol-function 'notes-lsp-ask)
                   (lambda (_method _params act &rest _)
                     (funcall act (list :stored :json-false :company (car case))))))
          (notes-status)
          (should (equal (car notes-test-told) (cadr case))))))))

(ert-deftest notes-test-a-read-only-note-is-read-only-and-follows-the-host ()
  (notes-test-with "x\n"
    (notes-test-told
      (notes-lsp--opened notes-test-note '(:access "read"))
      (should (equal notes-test-told '("Notes: Read-only. M-x notes-copy makes a copy to edit")))
      (should buffer-read-only)
      (notes-test-status nil :access "read" :company [(:text "read-only")])
      (should (equal (notes-lsp--lighter) " Note[read-only]"))
      (should-error (notes-lsp-undo) :type 'user-error)
      (set-buffer-modified-p nil)
      (should (notes-test-receive (notes-test-edit '((0 0 0 0 "by Ana ")))))
      (should (equal (notes-test-text) "by Ana x\n"))
      (should-not (buffer-modified-p))
      (notes-lsp--news-read)
      (notes-test-event "access" :access "write" :message "Ben lets you edit \"X\"")
      (should (equal (car notes-test-told) "Notes: Ben lets you edit \"X\""))
      (should-not buffer-read-only)
      (notes-test-event "access" :access "read" :message "Ben made \"X\" read-only")
      (should buffer-read-only)
      (notes-lsp--explain-read-only #'ignore '(buffer-read-only))
      (should (string-match-p "M-x notes-copy" (car notes-test-told))))))

(ert-deftest notes-test-a-note-that-is-one-no-longer-is-a-plain-file ()
  (pcase-dolist (`(,reason ,word) '(("deleted" "deleted")
                                    ("deletedForEveryone" "deleted for everyone")
                                    ("itemDeleted" "item deleted") ("purged" "removed for good")))
    (notes-test-with "kept\n"
      (notes-test-told
        (notes-lsp--set-access notes-test-note "read")
        (notes-test-event "detached" :reason reason :message "Ana deleted \"X\"; undelete restores it"
                          :line "Ana deleted \"X\"; :NotesUndelete restores it")
        (should (equal (car notes-test-told)
                       "Notes: Ana deleted \"X\"; M-x notes-undelete restores it"))
        (should (notes-lsp--wait 5 (lambda () notes-lsp--gone)))
        (should (equal notes-lsp--gone word))
        (should-not (notes-lsp--current))
        (should-not buffer-read-only)
        (should (equal (notes-test-text) "kept\n"))
        (notes-status)
        (should (equal (car notes-test-told)
                       (format "Notes: Not a note any more: %s. Service stopped" word)))))))

;; The buffer went while the service was keeping its text.
(ert-deftest notes-test-an-items-text-that-was-kept-after-its-buffer-is-told ()
  (notes-test-told
    (notes-lsp--on-condition '(:kind "detached" :uri "file:///gone/Drinks.md" :reason "deleted" :message "Not told"))
    (should-not notes-test-told)
    (notes-lsp--on-condition
     '(:kind "detached" :uri "file:///gone/Drinks.md" :reason "itemDeleted" :message "Kept as recovered"))
    (should (equal (car notes-test-told) "Notes: Kept as recovered"))))

(ert-deftest notes-test-where-the-words-are-is-not-replaced-by-a-commands-result ()
  (notes-test-told
    (notes-lsp--news-read)
    (notes-lsp--urge ":NotesRecovered has your words")
    (notes-lsp--say "Service running")
    (should (equal (car notes-test-told) "Notes: M-x notes-recovered has your words"))
    (notes-lsp--news-read)
    (notes-lsp--show-news)
    (should (equal (car notes-test-told) "Notes: Service running"))))

(ert-deftest notes-test-where-the-words-are-is-shown-though-a-result-hides-what-is-unread ()
  (notes-test-told
    (notes-lsp--news-read)
    (notes-lsp--warn "The service stopped")
    (notes-lsp--say "Service running")
    (cl-letf (((symbol-function 'current-message) (lambda () (car notes-test-told))))
      (notes-lsp--urge ":NotesRecovered has your words"))
    (should (equal (car notes-test-told) "Notes: M-x notes-recovered has your words"))
    (notes-lsp--news-read)
    (notes-lsp--end-news-pause)
    (should (equal (car notes-test-told) "Notes: The service stopped"))))

(ert-deftest notes-test-what-one-is-asked-to-do-is-not-said-once-one-does-it ()
  (notes-test-told
    (notes-lsp--news-read)
    (notes-lsp--warn "Connected")
    (notes-lsp--warn "Ana invites you to \"Tea\". M-x notes-answer to reply")
    (notes-lsp--news "Ben opened \"Tea\"")
    (notes-lsp--forget-news "notes-answer")
    (notes-lsp--news-read)
    (notes-lsp--show-news)
    (should (equal (car notes-test-told) "Notes: Ben opened \"Tea\""))))

(ert-deftest notes-test-the-file-of-a-deleted-note-is-no-question ()
  (notes-test-with "kept\n"
    (notes-test-told
      (should buffer-file-name)
      (set-buffer-modified-p nil)
      (write-region "written by another program\n" nil buffer-file-name nil 'silent)
      (set-file-times buffer-file-name (time-add nil 100))
      (notes-test-event "detached" :reason "deleted" :message "Ana deleted \"X\"")
      (should (notes-lsp--wait 5 (lambda () notes-lsp--gone)))
      (goto-char (point-min))
      (insert "typed ")
      (should (equal (notes-test-text) "typed kept\n")))))

(ert-deftest notes-test-a-note-that-is-shared-no-longer-says-so ()
  (notes-test-with "x\n"
    (notes-test-told
      (notes-test-status '((:peer "b" :name "Ben" :inSync t)))
      (notes-test-event "unshared" :message "Ben stopped sharing \"X\"; your copy stays")
      (should (equal (notes-lsp--lighter) " Note[no longer shared]"))
      (should (equal (car notes-test-told) "Notes: Ben stopped sharing \"X\"; your copy stays")))))

(ert-deftest notes-test-refused-words-are-told ()
  (notes-test-with "x\n"
    (notes-test-told
      (notes-test-event "refused" :message "Read-only: \"X\" stays" :recovered "/tmp/x.md"
                        :line ":NotesRecovered has your words; this note is read-only" :level "words")
      (should (equal notes-test-told
                     '("Notes: M-x notes-recovered has your words; this note is read-only")))
      ;; Also of a note that no buffer shows.
      (notes-lsp--news-read)
      (notes-lsp--on-event '(:uri "file:///closed.md" :kind "refused" :message "Read-only: \"Closed\" stays"))
      (should (equal (car notes-test-told) "Notes: Read-only: \"Closed\" stays")))))

(ert-deftest notes-test-offline-says-why-and-that-typing-is-kept ()
  (notes-test-with "x\n"
    (cl-letf (((symbol-function 'notes-lsp-service-ready-p) #'ignore) (notes-lsp--state 'stopped))
      (should (equal (notes-lsp--lighter) " Note[offline (stopped)]"))
      (notes-test-told
        (notes-status)
        (should (equal (car notes-test-told)
                       "Notes: Offline: service stopped; typing is kept. M-x notes-restart"))))))

(ert-deftest notes-test-a-plain-buffer-is-said-to-be-one ()
  (with-temp-buffer
    (notes-test-told
      (let ((notes-lsp--state 'stopped))
        (notes-status)
        (should (equal notes-test-told
                       '("Notes: Not a note (M-x notes-adopt makes it one). Service stopped")))))))

(ert-deftest notes-test-news-wait-until-an-error-is-read ()
  (notes-test-told
    (notes-lsp--news-after-error '(error "x"))
    (notes-lsp--news "Ben is online")
    (notes-lsp--news "")
    (notes-lsp--news nil)
    (notes-lsp--say "")
    (should-not notes-test-told)
    (notes-lsp--news-read)
    (let ((notes-lsp--running '(0)))
      (notes-lsp--show-news)
      (should-not notes-test-told))
    (notes-lsp--show-news)
    (should (equal notes-test-told '("Notes: Ben is online")))
    (notes-lsp--warn "must be read")
    (notes-lsp--news "later")
    (should (equal (car notes-test-told) "Notes: must be read"))
    (notes-lsp--news-read)
    (notes-lsp--show-news)
    (should (equal (car notes-test-told) "Notes: later"))))

(ert-deftest notes-test-saving-puts-no-newline-into-the-word-of-another ()
  (pcase-dolist (`(,peers ,here ,text)
                 '(([] nil "one\ntwo\n")
                   ([(:name "Ben" :state "unreachable")] nil "one\ntwo\n")
                   ([(:name "Ben" :state "inSync")] nil "one\ntwo")
                   ([] (("b" . "Ben")) "one\ntwo")))
    (notes-test-with "one\ntwo"
      (setq-local require-final-newline t)
      (setf (notes-lsp--note-status notes-test-note) (list :peers peers)
            (notes-lsp--note-here notes-test-note) here)
      (set-buffer-modified-p t)
      (basic-save-buffer)
      (should (equal text (buffer-string)))
      (should-not (buffer-modified-p))
      (should (eq t require-final-newline)))))

(provide 'notes-lsp-condition-test)
;;; notes-lsp-condition-test.el ends here
