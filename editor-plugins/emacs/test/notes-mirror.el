;;; notes-mirror.el --- A note buffer and what its messages make  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Stands for the service in tests: every didChange is applied to a text
;; that must always equal the buffer.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'notes-lsp)

(defvar notes-lsp--last-version)
(defvar notes-test-mirror "" "The text that the sent messages make.")
(defvar notes-test-sent nil "(METHOD . PARAMS) sent, latest first.")
(defvar notes-test-note nil "The note under test.")

(defun notes-test-offset (position)
  "Return the offset in the current buffer of the protocol POSITION.
Signal an error if there is no such place: nothing may need clamping."
  (goto-char (point-min))
  (let ((line (plist-get position :line)) (column (plist-get position :character)))
    (dotimes (_ line) (search-forward "\n"))
    (dotimes (_ column)
      (when (eq (char-after) ?\n) (error "Column %d is off line %d" column line))
      (forward-char))
    (point)))

(defun notes-test-replace (text edits)
  "Return TEXT after EDITS, (RANGE . NEW-TEXT) to be applied in order."
  (with-temp-buffer
    (insert text)
    (pcase-dolist (`(,range . ,new) edits)
      (if (null range) (erase-buffer)
        (let ((end (notes-test-offset (plist-get range :end))))
          (delete-region (notes-test-offset (plist-get range :start)) end)))
      (insert new))
    (buffer-string)))

(defun notes-test-notify (method params)
  "Note that METHOD with PARAMS was sent."
  (should (json-serialize params :null-object nil :false-object :json-false))
  (push (cons method params) notes-test-sent)
  (pcase method
    (:textDocument/didOpen
     (setq notes-test-mirror (plist-get (plist-get params :textDocument) :text)))
    (:textDocument/didChange
     (setq notes-test-mirror
           (notes-test-replace
            notes-test-mirror
            (mapcar (lambda (change) (cons (plist-get change :range) (plist-get change :text)))
                    (plist-get params :contentChanges)))))))

(defmacro notes-test-with (text &rest body)
  "Evaluate BODY in a note buffer that holds TEXT, without a service."
  (declare (indent 1) (debug t))
  `(let ((file (make-temp-file "notes-test" nil ".txt"))
         (notes-lsp--encoding "utf-32")
         (inhibit-message t) (make-backup-files nil) (vc-handled-backends nil)
         (notes-test-sent nil) (notes-lsp--last-version 0))
     (let ((coding-system-for-write 'utf-8-unix)) (write-region ,text nil file))
     (cl-letf (((symbol-function 'notes-lsp-service-ready-p) #'always)
               (notes-lsp--capabilities nil)
               ((symbol-function 'notes-lsp--prove-soon) #'ignore)
               ((symbol-function 'notes-lsp-service-notify) #'notes-test-notify))
       (let ((buffer (find-file-noselect file)))
         (unwind-protect
             (save-window-excursion
               (switch-to-buffer buffer)
               (setq notes-test-note (notes-lsp--attach (notes-lsp--path-uri file) "id"))
               ,@body)
           (with-current-buffer buffer
             (when notes-lsp-mode (notes-lsp-mode -1))
             (set-buffer-modified-p nil))
           (kill-buffer buffer)
           (delete-file file))))))

(defun notes-test-text ()
  "Return the whole text of the current buffer."
  (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max))))

(defun notes-test-sync ()
  "Send what there is to send; the mirror must then equal the buffer."
  (notes-lsp--drain notes-test-note)
  (should (equal notes-test-mirror (notes-test-text))))

(defun notes-test-change-count (predicate)
  "Count the didChange sent whose changes satisfy PREDICATE."
  (cl-count-if (lambda (item)
                 (and (eq (car item) :textDocument/didChange)
                      (funcall predicate (plist-get (cdr item) :contentChanges))))
               notes-test-sent))

(defun notes-test-full-p (changes)
  "Return non-nil if CHANGES are a full text."
  (null (plist-get (aref changes 0) :range)))

(defun notes-test-edit (edits &rest more)
  "Return the params of a notes/edit with EDITS, (L1 C1 L2 C2 TEXT).
MORE properties come first."
  (append more
          (list :uri (notes-lsp--note-uri notes-test-note)
                :version (notes-lsp--note-version notes-test-note)
                :rev (1+ (notes-lsp--note-rev notes-test-note))
                :edits (vconcat
                        (mapcar (pcase-lambda (`(,l1 ,c1 ,l2 ,c2 ,text))
                                  `(:range (:start (:line ,l1 :character ,c1)
                                            :end (:line ,l2 :character ,c2))
                                    :newText ,text))
                                edits)))))

(defun notes-test-receive (edit)
  "Let the note have EDIT; the mirror follows if it was applied.  Return that."
  (let* ((rev (notes-lsp--note-rev notes-test-note))
         (after (ignore-errors
                  (notes-test-replace
                   notes-test-mirror
                   (mapcar (lambda (one) (cons (plist-get one :range) (plist-get one :newText)))
                           (reverse (plist-get edit :edits))))))
         (bytes (string-bytes (or after ""))))
    (notes-lsp--flush notes-test-note)
    (setf (notes-lsp--note-queue notes-test-note)
          (list (cons 'notes/edit (append edit (list :bytes bytes)))))
    (notes-lsp--drain notes-test-note)
    (when (/= rev (notes-lsp--note-rev notes-test-note))
      (when after (setq notes-test-mirror after))
      t)))

(provide 'notes-mirror)
;;; notes-mirror.el ends here
