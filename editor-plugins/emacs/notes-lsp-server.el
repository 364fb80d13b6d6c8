;;; notes-lsp-server.el --- Servers that are always on  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; M-x notes-connect connects the service to a server, now and after each
;; start, and offers to publish the current note there.  Other people who
;; are connected to it join the note with its URL: M-x notes-join.

;;; Code:

(require 'notes-lsp-service)
(require 'notes-lsp-ask)
(require 'notes-lsp-buffer)

(declare-function notes-lsp--this-note "notes-lsp-commands" ())
(declare-function notes-lsp--call "notes-lsp-nearby" (address))

(defvar notes-lsp--servers nil "The servers that this person has named, newest first.")

;;;###autoload
(defun notes-connect (url &optional token)
  "Connect to the server at URL, with TOKEN if it needs one, and remember it.
In a note, offer to publish the note there.  An address host:port is
another person's service."
  (interactive (let ((url (read-string "Server (wss://host/): " nil 'notes-lsp--servers)))
                 (list url (and (notes-lsp--server-p url) (read-passwd "Token (RET: none): ")))))
  (if (notes-lsp--server-p url) (notes-lsp--connect-server url token) (notes-lsp--call url)))

(defun notes-lsp--server-p (url)
  "Return whether URL is a server's, rather than the address of a person."
  (string-match-p "\\`wss?://" url))

(defun notes-lsp--connect-server (url token)
  "Connect to the server at URL with TOKEN, and offer to publish the note."
  (let ((buffer (current-buffer))
        (asks (not noninteractive))
        (params (if (string-empty-p (or token "")) (list :url url) (list :url url :token token))))
    (notes-lsp--with-answer (result :notes/connect params
                                    :waiting (format "Connecting to %s…" url)
                                    :what (format "The connection to %s" url))
      (notes-lsp--say "%s" (if (equal (plist-get result :state) "connected")
                               (format "Connected to %s" (plist-get result :url))
                             (format "Not connected yet: %s" (or (plist-get result :message) "no answer"))))
      (when (buffer-live-p buffer)
        (with-current-buffer buffer
          (when (and asks (notes-lsp--current)
                     (y-or-n-p (format "Publish this note on %s? " (plist-get result :url))))
            (notes-publish (plist-get result :url)))))
      result)))

;;;###autoload
(defun notes-publish (url)
  "Publish the current note on the server at URL; copy a ticket for others."
  (interactive (list (read-string "Server: " (car notes-lsp--servers) 'notes-lsp--servers)))
  (let ((note (notes-lsp--this-note)))
    (notes-lsp--with-answer (result :notes/publish (notes-lsp--about note :url url)
                                    :waiting "Publishing…" :background t)
      (kill-new (plist-get result :ticket))
      (setf (notes-lsp--note-unshared note) nil)
      (force-mode-line-update t)
      (notes-lsp--say "%s" (or (plist-get result :message) "Published; you can yank the ticket for others"))
      result)))

;;;###autoload
(defun notes-disconnect (url)
  "Forget the server at URL and what is published there."
  (interactive (list (read-string "Server: " (car notes-lsp--servers) 'notes-lsp--servers)))
  (notes-lsp--with-answer (_ :notes/disconnect (list :url url)
                             :waiting "Disconnecting…" :background t)
    (notes-lsp--say "Disconnected from %s" url)))

(provide 'notes-lsp-server)
;;; notes-lsp-server.el ends here
