;;; notes-lsp-events.el --- What others have done, or the service  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Reports events and changes of a note's status, and updates the lists.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'notes-lsp-service)
(require 'notes-lsp-capture)
(require 'notes-lsp-condition)
(require 'notes-lsp-presence)

(defun notes-lsp--set-here (note here)
  "Take HERE, an alist from peer to name, for the people in NOTE."
  (unless (equal here (notes-lsp--note-here note))
    (setf (notes-lsp--note-here note) here)
    (with-current-buffer (notes-lsp--note-buffer note) (force-mode-line-update))))

(defun notes-lsp--tell (params)
  "Show the line of the event in PARAMS, as urgent as the service says."
  (let ((line (or (plist-get params :line) (plist-get params :message))))
    (pcase (plist-get params :level)
      ("words" (notes-lsp--urge line))
      ("news" (notes-lsp--news line))
      (_ (notes-lsp--warn line)))))

(defun notes-lsp--on-event (params)
  "Show the event in PARAMS, and keep track of the people in its note."
  (let* ((uri (plist-get params :uri))
         (note (and uri (notes-lsp--find-note uri)))
         (peer (plist-get params :peer)))
    (pcase (plist-get params :kind)
      ("pointed" (notes-lsp--on-pointed params))
      ("joined"
       (when (and note peer)
         (notes-lsp--set-here note (cons (cons peer (or (plist-get params :name) "?"))
                                         (assoc-delete-all peer (copy-alist (notes-lsp--note-here note)))))))
      ((or "left" "offline")
       (dolist (one (if uri (and note (list note)) notes-lsp--notes))
         (notes-lsp--set-here
          one (assoc-delete-all peer (copy-alist (notes-lsp--note-here one)))))))
    (unless (notes-lsp--on-condition params) (notes-lsp--tell params))
    (run-hook-with-args 'notes-lsp--event-hook params)
    ;; A meeting may have a hundred items, and lists show none.
    (unless (and (equal (plist-get params :kind) "created") (plist-get params :item))
      (run-hooks 'notes-lsp--news-hook))))

(defvar notes-lsp--event-hook nil
  "Called with the parameters of each event, when it was dealt with.")

(defun notes-lsp--reachable (status)
  "Return those of STATUS's peers that can be reached."
  (cl-remove-if (lambda (peer) (equal (plist-get peer :state) "unreachable"))
                (plist-get status :peers)))

(defun notes-lsp--on-status (params)
  "Take over the people in the note that PARAMS are about."
  (let ((note (and (plist-get params :uri)
                   (notes-lsp--find-note (plist-get params :uri)))))
    (when note
      (notes-lsp--take-status note params)
      ;; Later versions were not proved while no other person had the note.
      (notes-lsp--prove-soon note)
      (with-current-buffer (notes-lsp--note-buffer note) (force-mode-line-update))
      (notes-lsp--set-here note (mapcar (lambda (peer)
                                          (cons (plist-get peer :peer) (plist-get peer :name)))
                                        (notes-lsp--reachable params)))))
  (run-hooks 'notes-lsp--news-hook))

(defun notes-lsp--on-show-message (params)
  "Show the message in PARAMS."
  (notes-lsp--warn (string-remove-prefix "notes-lsp: " (or (plist-get params :message) ""))))

(notes-lsp--handle 'notes/event #'notes-lsp--on-event)
(notes-lsp--handle 'notes/statusChanged #'notes-lsp--on-status)
(notes-lsp--handle 'window/showMessage #'notes-lsp--on-show-message)

(provide 'notes-lsp-events)
;;; notes-lsp-events.el ends here
