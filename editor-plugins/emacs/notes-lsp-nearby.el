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
(declare-function notes-lsp--visit "notes-lsp-commands" (place))
(declare-function notes-lsp--json-bool "notes-lsp-exchange" (value))
(declare-function notes-lsp--this-note "notes-lsp-commands" ())
(defvar notes-lsp--news-hook)
(defvar notes-lsp-command)

(defun notes-lsp--choose (prompt items label)
  "Ask with PROMPT for one of ITEMS, shown as the function LABEL says."
  (let ((choices (mapcar (lambda (item) (cons (funcall label item) item)) items)))
    (cdr (assoc (completing-read prompt choices nil t nil nil (caar choices)) choices))))

(defun notes-lsp--choose-near (prompt then &optional all)
  "Ask with PROMPT for a person the service knows or hears; give THEN id and name.
With ALL, those who are blocked can be chosen, too."
  (notes-lsp--with-answer (result :notes/peers (notes-lsp--empty)
                                  :waiting "Looking for people nearby…" :what "The list of people")
    (let ((peers (cl-remove-if (lambda (peer) (and (not all) (equal (plist-get peer :state) "blocked")))
                               (append (plist-get result :peers) nil))))
      (unless peers
        (notes-lsp--refuse ":NotesShare makes a ticket to send; no one is nearby"))
      (let ((chosen (notes-lsp--choose
                     prompt peers
                     (lambda (peer)
                       (format "%s (%s, %s)" (notes-lsp--shown (plist-get peer :name)) (plist-get peer :state)
                               (substring (plist-get peer :peer) 0 8))))))
        (funcall then (plist-get chosen :peer) (notes-lsp--shown (plist-get chosen :name)))))))

;;;###autoload
(defun notes-invite (&optional peer)
  "Invite PEER, a peer id or a name, to the note in the current buffer.
Without one, ask whom.  A buffer that is no note becomes one."
  (interactive)
  (if peer (notes-lsp--invite peer)
    (let ((buffer (current-buffer)))
      (notes-lsp--choose-near
       "Invite: "
       (lambda (peer _) (with-current-buffer buffer (notes-lsp--invite peer)))))))

(defun notes-lsp--invite (peer)
  "Invite PEER to the note in the current buffer, which becomes one."
  (let* ((buffer (current-buffer))
         (note (notes-lsp--current))
         (invite (lambda (_)
                   (with-current-buffer buffer
                     (notes-lsp--with-answer
                         (result :notes/invite (notes-lsp--about (notes-lsp--this-note) :peer peer)
                                 :waiting "Inviting… (C-g gives up)" :background t)
                       (notes-lsp--told result))))))
    (if note (funcall invite nil)
      (notes-lsp--become-note :notes/adopt nil invite :waiting "Adopting…" :background t))))

(defun notes-lsp--told (result)
  "Say what RESULT says that a request has done; return RESULT."
  (run-hooks 'notes-lsp--news-hook)
  (notes-lsp--say "%s" (or (plist-get result :message) ""))
  result)

;;;###autoload
(defun notes-access (&optional peer)
  "Change what PEER, a peer id or a name, may do with the current note."
  (interactive)
  (let ((target (list :uri (notes-lsp--note-uri (notes-lsp--this-note)))))
    (if peer (notes-lsp--set-access-of target peer peer)
      (notes-lsp--choose-near "Access of: " (lambda (peer name) (notes-lsp--set-access-of target peer name))))))

(defun notes-lsp--set-access-of (target peer name)
  "Ask what PEER, who is called NAME, may do with TARGET."
  (let ((access (cdr (assq (car (read-multiple-choice
                                 (format "What may %s do?" name)
                                 '((?e "edit") (?r "read") (?n "nothing: stop sharing"))))
                           '((?e . "write") (?r . "read") (?n . "none"))))))
    (notes-lsp-ask :notes/setAccess (append target (list :peer peer :access access))
                   #'notes-lsp--told :waiting "Changing access…" :background t)))

;;;###autoload
(defun notes-trust (&optional peer)
  "Trust, block or forget PEER, a peer id or a name."
  (interactive)
  (if peer (notes-lsp--trust peer peer)
    (notes-lsp--choose-near "Trust or block: " #'notes-lsp--trust t)))

;;;###autoload
(defun notes-block (&optional peer)
  "Block PEER, a peer id or a name, who can then no longer reach you.
Without one, ask for a person.  \\[notes-trust] takes it back."
  (interactive)
  (if peer (notes-lsp--decide-on peer "blocked")
    (notes-lsp--choose-near "Block: " (lambda (peer _) (notes-lsp--decide-on peer "blocked")))))

(defun notes-lsp--trust (peer name)
  "Ask whether to trust, block or forget PEER, who is called NAME."
  (notes-lsp--decide-on
   peer (cdr (assq (car (read-multiple-choice
                         (format "%s:" name) '((?t "trust") (?b "block") (?f "forget"))))
                   '((?t . "trusted") (?b . "blocked") (?f . "forgotten"))))))

(defun notes-lsp--decide-on (peer state)
  "Let PEER have STATE: trusted, blocked or forgotten."
  (notes-lsp-ask :notes/trust (list :peer peer :state state) #'notes-lsp--told
                 :waiting "Saving…" :background t))

(defun notes-lsp--call (address)
  "Call the service of another person at ADDRESS."
  (notes-lsp--with-answer (_ :notes/connect (list :address address)
                             :waiting "Connecting… (C-g gives up)" :background t)
    (notes-lsp--say "Connected to %s" address)))

(defun notes-lsp--invitations ()
  "Return what waits for an answer of this person, newest last."
  (append (plist-get (notes-lsp-service-request :notes/invitations (notes-lsp--empty)) :open) nil))

(defun notes-lsp--decide (invitation)
  "Ask what to do about INVITATION; return `accept', `decline' or `block'."
  (let ((line (notes-lsp--shown (plist-get invitation :line))))
    (if (= 3 (length (plist-get invitation :choices)))
        (pcase (car (read-multiple-choice
                     line '((?a "accept") (?d "decline") (?b "block" "Block this person"))))
          (?a 'accept) (?d 'decline) (?b 'block))
      (if (y-or-n-p (concat line ".  Same code on both screens? ")) 'accept 'decline))))

(defun notes-lsp--line-of (invitation)
  "Return the line that the service has for INVITATION."
  (notes-lsp--shown (plist-get invitation :line)))

;;;###autoload
(defun notes-answer ()
  "Answer an invitation: accept, decline or block; open the note after a yes."
  (interactive)
  (notes-lsp--with-answer (result :notes/invitations (notes-lsp--empty)
                                  :waiting "Looking for invitations…"
                                  :what "The list of invitations")
    (notes-lsp--forget-news ":NotesAnswer")
    (let ((open (append (plist-get result :open) nil)))
      (unless open (notes-lsp--refuse (plist-get result :message)))
      (let ((invitation (if (cdr open) (notes-lsp--choose "Invitation: " open #'notes-lsp--line-of)
                          (car open))))
        (notes-lsp-answer invitation (notes-lsp--decide invitation))))))

(defun notes-lsp-answer (invitation decision)
  "Answer INVITATION with DECISION: `accept', `decline' or `block'.
The note of one that is accepted opens when the other side has confirmed."
  (let* ((place (cl-position decision '(accept decline block)))
         (choice (elt (plist-get invitation :choices) place))
         (message (plist-get choice :message)))
    (notes-lsp--with-answer
        (result :notes/answer
                (list :invitation (plist-get invitation :invitation)
                      :accept (notes-lsp--json-bool (eq decision 'accept))
                      :block (notes-lsp--json-bool (eq decision 'block)))
                :waiting (if message "Answering…"
                           (concat (notes-lsp--shown (plist-get choice :waiting)) "… (C-g gives up)"))
                :still (unless message (notes-lsp--shown (plist-get choice :still)))
                :background message
                :patience (unless message 0)
                :timeout 150)
      (if (plist-get result :path) (notes-lsp--visit result) (notes-lsp--told choice))
      result)))

;;; Verifying a person later

;;;###autoload
(defun notes-verify (&optional peer)
  "Show the digits that PEER, a peer id or a name, sees too.
They are equal on both screens unless an attacker relays the connection.
Without PEER, ask for a person."
  (interactive)
  (if peer (notes-lsp--verify peer)
    (notes-lsp--choose-near "Verify: " (lambda (peer _) (notes-lsp--verify peer)))))

(defun notes-lsp--verify (peer)
  "Show the digits that PEER sees too."
  (notes-lsp--with-answer (result :notes/verify (list :peer peer)
                                  :waiting "Computing the digits…" :what "The digits")
    (let ((changed (eq t (plist-get result :changed)))
          (lines (append (plist-get result :lines) nil)))
      (with-current-buffer (get-buffer-create "*notes verify*")
        (special-mode)
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert "\n    " (propertize (car lines) 'face 'bold) "\n")
          (dolist (line (cdr lines))
            (insert "    " (if changed (propertize line 'face 'error) line) "\n"))
          (goto-char (point-min))))
      (pop-to-buffer "*notes verify*")
      (when changed (ding))
      result)))

;;; What is wrong

;;;###autoload
(defun notes-doctor ()
  "Check the service and this machine, and say how to fix what is wrong."
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
