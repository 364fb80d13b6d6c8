;;; notes-lsp-introduction.el --- Who you are to others  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The first start asks once for the name that others see, and whether to be
;; seen on this network; one who types meanwhile is only told of the question,
;; which would take what is typed.  M-x notes-name changes both.

;;; Code:

(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)

(defvar notes-lsp--introduced nil "Non-nil if the person was asked since `notes-name' began.")

(defun notes-lsp--introduce (name)
  "Ask who this person is, by default NAME, or say that this is to be asked."
  (if (and (= notes-lsp--commands-begun notes-lsp--commands-at-start)
           (null unread-command-events) (not (input-pending-p)))
      (notes-lsp--ask-who name)
    (notes-lsp--warn "Say which name others see: :NotesName")))

(defun notes-lsp--ask-who (name)
  "Ask who this person is, by default NAME, and tell the service.
A quit leaves the name, and the person unseen."
  (setq notes-lsp--introduced t)
  ;; Waiting requests do not belong to a command; a command left at a prompt never ends.
  (let* ((notes-lsp--commands-begun notes-lsp--commands-begun)
         (notes-lsp--running notes-lsp--running)
         (inhibit-quit nil)
         (answer (condition-case nil
                     (cons (string-trim (read-string (format-prompt "Notes: Name that others see" name)
                                                     nil nil name))
                           (y-or-n-p "Notes: May people on this network see you? "))
                   (quit nil)))
         (chosen (if (or (null answer) (string-blank-p (car answer))) name (car answer))))
    (notes-lsp-service-request-async
     :notes/setName (list :name chosen :visible (if (cdr answer) t :json-false))
     (lambda (_) (notes-lsp--news (format "Others see you as %s. :NotesName changes it" chosen)))
     :error #'notes-lsp--warn)))

;;;###autoload
(defun notes-name (&optional name)
  "Change the NAME that others see.
Without one, ask for it, and whether to be seen on this network."
  (interactive)
  (setq notes-lsp--introduced nil)
  (if name
      (notes-lsp--with-answer (_ :notes/setName (list :name name)
                                 :waiting "Storing your name…" :background t)
        (notes-lsp--say "Others see you as %s now" name))
    (notes-lsp--with-answer (result :notes/peers (notes-lsp--empty)
                                    :waiting "Asking the service…" :what "Your name")
      ;; At the first start the person was asked before this was answered.
      (unless notes-lsp--introduced
        (notes-lsp--ask-who (plist-get (plist-get result :self) :name))))))

(provide 'notes-lsp-introduction)
;;; notes-lsp-introduction.el ends here
