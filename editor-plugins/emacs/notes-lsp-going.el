;;; notes-lsp-going.el --- Where the other people are  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Going to another person, following them, and pointing out a place to them.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)
(require 'notes-lsp-presence)
(require 'notes-lsp-commands)

(defun notes-lsp--read-peer (prompt)
  "Ask with PROMPT for one of the people whose carets are in this note."
  (let ((choices (mapcar (lambda (peer) (cons (notes-lsp--shown (plist-get peer :name)) (plist-get peer :peer)))
                         (notes-lsp--note-peers (notes-lsp--this-note)))))
    (cond ((null choices) (user-error "Notes: No one else is in this note"))
          ((null (cdr choices)) (cdar choices))
          (t (cdr (assoc (completing-read prompt choices nil t) choices))))))

;;;###autoload
(defun notes-go (&optional peer)
  "Go to the caret of PEER, a peer id, or to where they have just pointed.
If no one else is in this note, go to one who is in another."
  (interactive (list (let ((note (notes-lsp--current)))
                       (and note (notes-lsp--note-peers note) (notes-lsp--read-peer "Go to: ")))))
  (let* ((note (notes-lsp--current))
         (place (and peer note (or (notes-lsp--pointed-place note peer)
                                   (notes-lsp--caret-of note peer)))))
    (cond (place (push-mark) (goto-char place))
          ;; In another item of this meeting.
          (peer (notes-lsp--go-elsewhere
                 (plist-get (cl-find peer (notes-lsp--note-peers note) :test #'equal
                                     :key (lambda (it) (plist-get it :peer)))
                            :name)))
          (t (notes-lsp--go-elsewhere nil)))))

(defun notes-lsp--go-to-name (name)
  "Go to the caret of the person called NAME, in whichever note it is."
  (let* ((note (notes-lsp--current))
         (found (and note (cl-find name (notes-lsp--note-peers note) :test #'equal
                                   :key (lambda (peer) (plist-get peer :name))))))
    (if found (notes-go (plist-get found :peer)) (notes-lsp--go-elsewhere name))))

(defun notes-lsp--go-elsewhere (name)
  "Open a note that the person NAME, or any person, has open, and go there."
  (notes-lsp--with-answer (place :notes/open (list :near (or name ""))
                                 :waiting "Finding where they are…" :what "Where they are")
    (setq notes-lsp--going-to (cons (plist-get place :near) notes-lsp--commands-begun))
    (notes-lsp--visit place)
    (notes-lsp--say "%s is in this note" (car notes-lsp--going-to))))

;;;###autoload
(defun notes-follow (peer)
  "Follow the caret of PEER, a peer id, until you do anything else."
  (interactive (list (unless (notes-lsp--note-following (notes-lsp--this-note))
                       (notes-lsp--read-peer "Follow: "))))
  (let ((note (notes-lsp--this-note)))
    (if (null peer) (notes-lsp--stop-following note)
      (unless (notes-lsp--caret-of note peer) (user-error "Notes: That person is not in this note"))
      (notes-go peer)
      (setf (notes-lsp--note-following note) peer)
      (notes-lsp--say "Following %s; moving or typing stops it" (notes-lsp--followed-name note)))))

;;;###autoload
(defun notes-point (&optional text)
  "Show the others in the note this place, or the region, with TEXT.
Interactively, ask for TEXT with a prefix argument."
  (interactive (list (and current-prefix-arg (read-string "Say: "))))
  (let* ((note (notes-lsp--this-note))
         (range (notes-lsp--in-note note
                  (list :start (notes-lsp--position
                                note (if (use-region-p) (region-beginning) (point)))
                        :end (notes-lsp--position
                              note (if (use-region-p) (region-end) (point)))))))
    (notes-lsp--flush note)
    (notes-lsp-ask :notes/point
                   (list :uri (notes-lsp--note-uri note)
                         :version (notes-lsp--note-version note)
                         :rev (notes-lsp--note-rev note)
                         :range range :text (or text ""))
                   #'notes-lsp--told :waiting "Pointing…" :background t)))

(provide 'notes-lsp-going)
;;; notes-lsp-going.el ends here
