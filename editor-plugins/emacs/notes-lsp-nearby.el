;;; notes-lsp-nearby.el --- Inviting people nearby  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Invitations: M-x notes-invite invites a person nearby to the current
;; note, M-x notes-answer answers an invitation.  The first time two people
;; connect, both see six digits; they are equal unless an attacker relays
;; the connection.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)

(declare-function notes-lsp--become-note "notes-lsp-commands" (method params then &rest keys))
(declare-function notes-lsp--about "notes-lsp-commands" (note &rest params))
(declare-function notes-lsp--visit "notes-lsp-commands" (place &optional title))
(declare-function notes-lsp--this-note "notes-lsp-commands" ())
(defvar notes-lsp--news-hook)
(defvar notes-lsp-command)

(defun notes-lsp--spaced (code)
  "Return the six digits CODE as people read them."
  (concat (substring code 0 3) " " (substring code 3)))

(defun notes-lsp--choose (prompt items label)
  "Ask with PROMPT for one of ITEMS, shown as the function LABEL says."
  (let ((choices (mapcar (lambda (item) (cons (funcall label item) item)) items)))
    (cdr (assoc (completing-read prompt choices nil t nil nil (caar choices)) choices))))

(defun notes-lsp--choose-near (prompt then &optional all)
  "Ask with PROMPT for a person the service knows or hears; give THEN the id.
With ALL, those who are blocked can be chosen, too."
  (notes-lsp--with-answer (result :notes/peers (notes-lsp--empty)
                                  :waiting "Looking who is near…" :what "The list of people")
    (let ((peers (cl-remove-if (lambda (peer) (and (not all) (equal (plist-get peer :state) "blocked")))
                               (append (plist-get result :peers) nil))))
      (unless peers
        (notes-lsp--refuse ":NotesShare makes a ticket to send; no one is nearby"))
      (setq notes-lsp--near peers)
      (funcall then
               (plist-get (notes-lsp--choose
                           prompt peers
                           (lambda (peer)
                             (format "%s (%s, %s)" (notes-lsp--shown (plist-get peer :name)) (plist-get peer :state)
                                     (substring (plist-get peer :peer) 0 8))))
                          :peer)))))

;;;###autoload
(defun notes-invite (&optional peer)
  "Invite PEER, a peer id or a name, to the note in the current buffer.
Without one, ask whom.  A buffer that is no note becomes one."
  (interactive)
  (if peer (notes-lsp--invite peer)
    (let ((buffer (current-buffer)))
      (notes-lsp--choose-near
       "Invite: "
       (lambda (peer) (with-current-buffer buffer (notes-lsp--invite peer)))))))

(defvar notes-lsp--near nil "The people nearby, as the service last listed them.")

(defun notes-lsp--peer-name (peer)
  "Return the name of PEER, an id or a name."
  (or (plist-get (cl-find peer notes-lsp--near :test #'equal
                          :key (lambda (known) (plist-get known :peer)))
                 :name)
      peer))

(defun notes-lsp--invite (peer)
  "Invite PEER to the note in the current buffer, which becomes one."
  (let* ((buffer (current-buffer))
         (note (notes-lsp--current))
         (invite (lambda (_)
                   (with-current-buffer buffer
                     (notes-lsp--with-answer
                         (result :notes/invite (notes-lsp--about (notes-lsp--this-note) :peer peer)
                                 :waiting "Inviting… (C-g gives up)" :background t)
                       (notes-lsp--invited (notes-lsp--peer-name peer) result))))))
    (if note (funcall invite nil)
      (notes-lsp--become-note :notes/adopt nil invite :waiting "Adopting…" :background t))))

(defun notes-lsp--invited (name result)
  "Say that the person called NAME was invited, as RESULT says; return that."
  (let ((code (plist-get result :code)))
    (if code
        ;; The digits come first, where no name can stand before them.
        (notes-lsp--say "Code %s: invited %s. :NotesAnswer to confirm"
                        (notes-lsp--spaced code) name)
      (notes-lsp--say "Invited %s" name))
    result))

;;;###autoload
(defun notes-access (&optional peer)
  "Change what PEER, a peer id or a name, may do with the current note."
  (interactive)
  (let ((target (list :uri (notes-lsp--note-uri (notes-lsp--this-note)))))
    (if peer (notes-lsp--set-access-of target peer peer)
      (notes-lsp--choose-near
       "Access of: "
       (lambda (peer) (notes-lsp--set-access-of target peer (notes-lsp--peer-name peer)))))))

(defun notes-lsp--set-access-of (target peer name)
  "Ask what PEER, who is called NAME, may do with TARGET."
  (pcase-let ((`(,_ ,_ ,access ,words)
               (assq (car (read-multiple-choice
                           (format "What may %s do?" name)
                           '((?e "edit") (?r "read") (?n "nothing: stop sharing"))))
                     '((?e nil "write" "can edit") (?r nil "read" "can read")
                       (?n nil "none" "no longer has")))))
    (notes-lsp--with-answer (_ :notes/setAccess (append target (list :peer peer :access access))
                               :waiting "Changing access…" :background t)
      (run-hooks 'notes-lsp--news-hook)
      (notes-lsp--say "%s %s this note" name words))))

;;;###autoload
(defun notes-trust (&optional peer)
  "Trust, block or forget PEER, a peer id or a name."
  (interactive)
  (if peer (notes-lsp--trust peer peer)
    (notes-lsp--choose-near
     "Trust or block: " (lambda (peer) (notes-lsp--trust peer (notes-lsp--peer-name peer))) t)))

;;;###autoload
(defun notes-block (&optional peer)
  "Block PEER, a peer id or a name, who can then no longer reach you.
Without one, ask for a person.  \\[notes-trust] takes it back."
  (interactive)
  (if peer (notes-lsp--decide-on peer peer ?b)
    (notes-lsp--choose-near
     "Block: " (lambda (peer) (notes-lsp--decide-on peer (notes-lsp--peer-name peer) ?b)))))

(defun notes-lsp--trust (peer name)
  "Ask whether to trust, block or forget PEER, who is called NAME."
  (notes-lsp--decide-on peer name
                        (car (read-multiple-choice
                              (format "%s:" name) '((?t "trust") (?b "block") (?f "forget"))))))

(defun notes-lsp--decide-on (peer name choice)
  "Trust, block or forget PEER, who is called NAME, as CHOICE says."
  (pcase-let ((`(,_ ,state ,words)
               (assq choice '((?t "trusted" "You trust %s") (?b "blocked" "Blocked %s")
                              (?f "forgotten" "Forgot %s")))))
    (notes-lsp--with-answer (_ :notes/trust (list :peer peer :state state)
                               :waiting "Storing that…" :background t)
      (run-hooks 'notes-lsp--news-hook)
      (notes-lsp--say words name))))

(defun notes-lsp--call (address)
  "Call the service of another person at ADDRESS."
  (notes-lsp--with-answer (_ :notes/connect (list :address address)
                             :waiting "Connecting… (C-g gives up)" :background t)
    (notes-lsp--say "Connected to %s" address)))

(defun notes-lsp--invitations ()
  "Return what waits for an answer of this person, newest last."
  (notes-lsp--unanswered (notes-lsp-service-request :notes/invitations (notes-lsp--empty))))

(defun notes-lsp--unanswered (result)
  "Return what in RESULT waits for an answer of this person, newest last."
  (append (plist-get result :invitations)
          (cl-remove-if-not (lambda (sent) (eq t (plist-get sent :awaitsConfirmation)))
                            (plist-get result :sent))
          nil))

(defun notes-lsp--describe-invitation (invitation)
  "Return a line that says what INVITATION is about."
  (let ((code (plist-get invitation :code))
        (from (plist-get invitation :from))
        (title (notes-lsp--shown (or (plist-get invitation :title) "a note"))))
    ;; The digits come first: other people write what follows them.
    (concat (if code (concat (notes-lsp--spaced code) "  ") "")
            (cond ((null from) (format "%s accepted \"%s\"" (notes-lsp--shown (plist-get (plist-get invitation :to) :name)) title))
                  ((eq t (plist-get from :changed))
                   (format "WARNING: %s is not who you met" (notes-lsp--shown (plist-get from :name))))
                  (t (format "%s invites you to \"%s\"%s" (notes-lsp--shown (plist-get from :name)) title
                             (if (equal (plist-get invitation :access) "read") " (read-only)" "")))))))

(defun notes-lsp--decide (invitation)
  "Ask what to do about INVITATION; return `accept', `decline' or `block'."
  (let ((line (notes-lsp--describe-invitation invitation)))
    (if (plist-get invitation :from)
        (pcase (car (read-multiple-choice
                     line '((?a "accept") (?d "decline") (?b "block" "Never hear of them again"))))
          (?a 'accept) (?d 'decline) (?b 'block))
      (if (y-or-n-p (concat line ".  Same code on both screens? ")) 'accept 'decline))))

(defun notes-lsp--not-yet (sent)
  "Return what to say of the invitations SENT, of which none has an answer."
  (let* ((invitation (car (last sent)))
         (code (plist-get invitation :code)))
    (if (null invitation) "No invitations"
      (format "%s%s has not accepted yet"
              (if code (format "Code %s: " (notes-lsp--spaced code)) "")
              (notes-lsp--shown (plist-get (plist-get invitation :to) :name))))))

;;;###autoload
(defun notes-answer ()
  "Answer an invitation: accept, decline or block; open the note after a yes."
  (interactive)
  (notes-lsp--with-answer (result :notes/invitations (notes-lsp--empty)
                                  :waiting "Looking for invitations…"
                                  :what "The list of invitations")
    (notes-lsp--forget-news "notes-answer")
    (let ((open (notes-lsp--unanswered result)))
      (unless open (notes-lsp--refuse (notes-lsp--not-yet (append (plist-get result :sent) nil))))
      (let* ((invitation (if (cdr open)
                             (notes-lsp--choose "Invitation: " open #'notes-lsp--describe-invitation)
                           (car open)))
             (decision (notes-lsp--decide invitation)))
        (notes-lsp-answer invitation decision)))))

(defun notes-lsp-answer (invitation decision)
  "Answer INVITATION with DECISION: `accept', `decline' or `block'.
The note of one that is accepted opens when the other side has confirmed."
  (let* ((name (plist-get (plist-get invitation :from) :name))
         (waits (and name (eq decision 'accept))))
    (notes-lsp--with-answer
        (result :notes/answer
                (list :invitation (plist-get invitation :invitation)
                      :accept (if (eq decision 'accept) t :json-false)
                      :block (if (eq decision 'block) t :json-false))
                :waiting (if waits (format "Waiting for %s… (C-g gives up)" name) "Answering…")
                :still (and waits
                            (format "No answer yet; the note opens when %s confirms" name))
                :background (not waits)
                :patience (and waits 0)
                :timeout 150)
      (if (plist-get result :path)
          (notes-lsp--visit result (plist-get invitation :title))
        (notes-lsp--say "%s" (pcase decision ('accept "Shared") ('block "Blocked") (_ "Declined"))))
      result)))

;;; Verifying a person later

;;;###autoload
(defun notes-verify (&optional peer)
  "Show the digits that PEER, a peer id or a name, sees too.
They are equal on both screens unless an attacker relays the connection.
Without PEER, ask for a person."
  (interactive)
  (if peer (notes-lsp--verify peer) (notes-lsp--choose-near "Verify: " #'notes-lsp--verify)))

(defun notes-lsp--verify (peer)
  "Show the digits that PEER sees too."
  (notes-lsp--with-answer (result :notes/verify (list :peer peer)
                                  :waiting "Computing the digits…" :what "The digits")
    (let ((code (plist-get result :code))
          (name (notes-lsp--shown (plist-get result :name)))
          (changed (eq t (plist-get result :changed))))
      (with-current-buffer (get-buffer-create "*notes verify*")
        (special-mode)
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert "\n    " (propertize (string-join (seq-partition code 5) " ") 'face 'bold)
                  (format "\n\n    %s must see the same digits.\n" name))
          (when changed
            (insert (propertize (concat "\n    WARNING: the key has changed, or another key uses this name.\n"
                                        "    Someone may pretend to be the person you met.\n")
                                'face 'error)))
          (goto-char (point-min))))
      (pop-to-buffer "*notes verify*")
      (when changed (ding))
      result)))

;;; What is wrong

;;;###autoload
(defun notes-doctor ()
  "Show how the service and this machine are, and what to do about it."
  (interactive)
  (let ((buffer (get-buffer-create "*notes doctor*"))
        (program (notes-lsp--program))
        (options (cl-loop for option in '("--home" "--notes")
                          for given = (cadr (member option notes-lsp-command))
                          when given append (list option given))))
    (with-current-buffer buffer
      (special-mode)
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert (format "Emacs          %s\ncommand        %s\nservice        %s\n\n"
                        emacs-version (string-join notes-lsp-command " ") notes-lsp--state))))
    (if (not (executable-find program))
        (with-current-buffer buffer
          (let ((inhibit-read-only t))
            (insert "Not installed, or not on the PATH.\n")))
      (make-process :name "notes-doctor" :buffer buffer :noquery t
                    :command `(,program "doctor" ,@options)
                    :sentinel #'ignore
                    :filter (lambda (process text)
                              (when (buffer-live-p (process-buffer process))
                                (with-current-buffer (process-buffer process)
                                  (let ((inhibit-read-only t))
                                    (goto-char (point-max))
                                    (insert text)))))))
    (pop-to-buffer buffer)))

(provide 'notes-lsp-nearby)
;;; notes-lsp-nearby.el ends here
