;;; control.el --- Lets a test drive this Emacs over a socket  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; With NOTES_TEST_PORT set, loading this file connects to that port of
;; 127.0.0.1.  Each line received is ["expr", "<Lisp>", id]; the answer is
;; the line [id, result], or [id, {"error": "…"}].  Lisp is evaluated in the
;; selected window's buffer, from a timer, after all keys that were pushed
;; before have been dealt with by the real command loop.

;;; Code:

(require 'cl-lib)
(require 'json)
(when load-file-name
  (let ((here (file-name-directory load-file-name)))
    (add-to-list 'load-path (expand-file-name ".." here))
    (add-to-list 'load-path here)))

(require 'notes-lsp)
(require 'random-commands)

(defvar notes-test--received "" "What was received of a line.")
(defvar notes-test--requests nil "Lines not dealt with yet.")

(defun notes-test--on-text (process text)
  "Collect TEXT from PROCESS, and deal with whole lines later."
  (setq notes-test--received (concat notes-test--received text))
  (while (string-match "\n" notes-test--received)
    (setq notes-test--requests
          (nconc notes-test--requests
                 (list (substring notes-test--received 0 (match-beginning 0))))
          notes-test--received (substring notes-test--received (match-end 0))))
  (notes-test--soon process 0))

(defun notes-test--soon (process seconds)
  "Deal with the lines from PROCESS in SECONDS."
  (run-with-timer seconds nil #'notes-test--work process))

(defun notes-test--work (process)
  "Deal with one line from PROCESS, unless keys are waiting."
  (cond
   ((null notes-test--requests) nil)
   ((or unread-command-events notes-lsp--running executing-kbd-macro)
    (notes-test--soon process 0.002))
   (t
    (let ((line (pop notes-test--requests)))
      (when notes-test--requests (notes-test--soon process 0))
      (notes-test--answer process line)))))

(defun notes-test--answer (process line)
  "Evaluate what LINE says and answer PROCESS."
  (let* ((this-command this-command)
         (request (json-parse-string line))
         (result (condition-case problem
                     (with-current-buffer (window-buffer (selected-window))
                       (eval (car (read-from-string (aref request 1))) t))
                   ((error quit) `((error . ,(error-message-string problem)))))))
    (process-send-string
     process
     (concat (encode-coding-string
              (condition-case nil
                  (json-encode (vector (aref request 2) result))
                (error (json-encode (vector (aref request 2) (format "%S" result)))))
              'utf-8-unix)
             "\n"))))

(defun notes-test-state (&optional buffer)
  "Return an alist about the note in BUFFER: text, version, rev, synced, queue."
  (with-current-buffer (or buffer (window-buffer (selected-window)))
    (let ((info (notes-lsp-buffer-info)) (note (notes-lsp--current)))
      `((text . ,(save-restriction
                   (widen) (buffer-substring-no-properties (point-min) (point-max))))
        (version . ,(plist-get info :version))
        (rev . ,(plist-get info :rev))
        (synced . ,(if (and (plist-get info :synced) (null unread-command-events)) t :json-false))
        (queue . ,(if note (length (notes-lsp--note-queue note)) 0))
        (peers . ,(vconcat (plist-get info :peers)))
        (id . ,(plist-get info :id))))))

(defun notes-test-random-command (number)
  "Do the random command NUMBER; keys go through the real command loop."
  (let ((keys (notes-test-random-command-of number)))
    (when keys (notes-test-push-keys keys))
    t))

(defun notes-test-push-keys (keys)
  "Give KEYS, a vector, to the command loop.
A terminal decodes the first event that is pushed while it waits as if it
were a byte, so that one does nothing."
  (setq unread-command-events
        (append unread-command-events '(notes-test-nothing) keys nil)))

(global-set-key [notes-test-nothing] #'ignore)

(defun notes-test-connect (port)
  "Take orders from PORT of this machine."
  (make-network-process :name "notes-test" :host "127.0.0.1" :service port
                        :coding 'utf-8-unix :noquery t :filter #'notes-test--on-text))

(when (getenv "NOTES_TEST_PORT")
  (notes-test-connect (string-to-number (getenv "NOTES_TEST_PORT"))))

(provide 'control)
;;; control.el ends here
