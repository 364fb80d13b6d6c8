;;; notes-lsp-nearby.el --- Asking people in who are near  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Invitations: M-x notes-invite asks somebody near to the current note,
;; M-x notes-answer answers those who ask.  On a first meeting both people
;; see six digits; they are equal unless somebody stands in between.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-service)
(require 'notes-lsp-buffer)

(declare-function notes-lsp--become-note "notes-lsp-commands" (method &rest params))
(declare-function notes-lsp--visit "notes-lsp-commands" (place &optional title))
(declare-function notes-lsp--request-for "notes-lsp-commands" (note method &rest params))
(defvar notes-lsp-command)

(defun notes-lsp--known-peers ()
  "Return those whom the service knows or hears, without the blocked ones."
  (cl-remove-if (lambda (peer) (equal (plist-get peer :state) "blocked"))
                (append (plist-get (notes-lsp-service-request :notes/peers (notes-lsp--empty)) :peers)
                        nil)))

(defun notes-lsp--spaced (code)
  "Return the six digits CODE as people read them."
  (concat (substring code 0 3) " " (substring code 3)))

(defun notes-lsp--choose (prompt items label)
  "Ask with PROMPT for one of ITEMS, shown as the function LABEL says."
  (let ((choices (mapcar (lambda (item) (cons (funcall label item) item)) items)))
    (cdr (assoc (completing-read prompt choices nil t nil nil (caar choices)) choices))))

(defun notes-lsp--read-near ()
  "Ask for somebody near; return a peer id."
  (let ((peers (notes-lsp--known-peers)))
    (unless peers
      (user-error "Notes: nobody is near (M-x notes-share makes a ticket that you can send)"))
    (plist-get (notes-lsp--choose "Invite: " peers
                                  (lambda (peer)
                                    (format "%s (%s, %s)" (plist-get peer :name) (plist-get peer :state)
                                            (substring (plist-get peer :peer) 0 8))))
               :peer)))

;;;###autoload
(defun notes-invite (peer)
  "Invite PEER, a peer id or a name, to the note in the current buffer.
A buffer that is no note becomes one."
  (interactive (progn (notes-lsp-service-ensure) (list (notes-lsp--read-near))))
  (let* ((result (notes-lsp--become-note :notes/invite :peer peer :confirm t))
         (code (plist-get result :code)))
    (if code
        (notes-lsp--say "asked; the other should see the digits %s; M-x notes-answer after the yes"
                        (notes-lsp--spaced code))
      (notes-lsp--say "asked"))
    result))

(defun notes-lsp--invitations ()
  "Return what waits for an answer of this person, newest last."
  (let ((result (notes-lsp-service-request :notes/invitations (notes-lsp--empty))))
    (append (plist-get result :invitations)
            (cl-remove-if-not (lambda (sent) (eq t (plist-get sent :awaitsConfirmation)))
                              (plist-get result :sent))
            nil)))

(defun notes-lsp--describe-invitation (invitation)
  "Return a line that says what INVITATION is about."
  (let ((code (plist-get invitation :code))
        (from (plist-get invitation :from))
        (title (or (plist-get invitation :title) "a note")))
    (concat (if from (format "%s invites you to \"%s\"" (plist-get from :name) title)
              (format "%s accepts \"%s\"" (plist-get (plist-get invitation :to) :name) title))
            (if (equal (plist-get invitation :access) "read") " (read only)" "")
            (if code (concat ", digits " (notes-lsp--spaced code)) ""))))

(defun notes-lsp--decide (invitation)
  "Ask what to do about INVITATION; return `accept', `decline' or `block'."
  (let ((line (notes-lsp--describe-invitation invitation)))
    (if (plist-get invitation :from)
        (pcase (car (read-multiple-choice
                     line '((?a "accept") (?d "decline") (?b "block" "Never hear of them again"))))
          (?a 'accept) (?d 'decline) (?b 'block))
      (if (y-or-n-p (concat line ".  Does the other see the same digits? ")) 'accept 'decline))))

;;;###autoload
(defun notes-answer ()
  "Answer an invitation: accept, decline or block; open the note after a yes."
  (interactive)
  (notes-lsp-service-ensure)
  (let ((open (notes-lsp--invitations)))
    (unless open (user-error "Notes: there are no invitations"))
    (let* ((invitation (if (cdr open)
                           (notes-lsp--choose "Invitation: " open #'notes-lsp--describe-invitation)
                         (car open)))
           (decision (notes-lsp--decide invitation)))
      (notes-lsp-answer invitation decision))))

(defun notes-lsp-answer (invitation decision)
  "Answer INVITATION with DECISION: `accept', `decline' or `block'."
  (when (and (eq decision 'accept) (plist-get invitation :from))
    (notes-lsp--say "waiting for %s…" (plist-get (plist-get invitation :from) :name)))
  (let ((result (notes-lsp-service-request
                 :notes/answer
                 (list :invitation (plist-get invitation :invitation)
                       :accept (if (eq decision 'accept) t :json-false)
                       :block (if (eq decision 'block) t :json-false))
                 90)))
    (if (plist-get result :path)
        (notes-lsp--visit result (plist-get invitation :title))
      (notes-lsp--say "%s" (pcase decision ('accept "shared") ('block "blocked") (_ "declined"))))
    result))

;;; What is wrong

;;;###autoload
(defun notes-doctor ()
  "Show how the service and this machine are, and what to do about it."
  (interactive)
  (let ((buffer (get-buffer-create "*notes doctor*"))
        (program (car notes-lsp-command))
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
            (insert "The service is not installed, or not on the PATH.\n")))
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
