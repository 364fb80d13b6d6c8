;;; random-commands.el --- What a restless person does to a buffer  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A number names one random command: the same number, text and point give
;; the same change.  A command is either keys, for whatever command loop
;; there is, or a function that is called at once.

;;; Code:

(require 'cl-lib)

(defconst notes-test-samples
  ["a" "note" "The quick brown fox" "x y z" "été" "e\u0301a\u0308" "😀" "𝒳𝒴" "한글"
   "👩\u200d👩\u200d👧" "🇩🇪" "ß" "tab\there" "." "," "longish-word-without-a-break" "الف" "\u2028" "0"]
  "Pieces of text that are typed and pasted.")

(defun notes-test-pick (choices)
  "Return one of the vector CHOICES."
  (aref choices (random (length choices))))

(defun notes-test-place ()
  "Return a random position of the buffer."
  (+ (point-min) (random (1+ (- (point-max) (point-min))))))

(defun notes-test-near (place)
  "Return a random position at most 40 characters from PLACE."
  (min (point-max) (max (point-min) (+ place (random 80) -40))))

(defun notes-test-sample-lines (count)
  "Return COUNT lines of samples."
  (mapconcat (lambda (number)
               (format "%d %s" number (notes-test-pick notes-test-samples)))
             (number-sequence 1 count) "\n"))

(defun notes-test-on-region (function)
  "Call FUNCTION with the ends of a random region."
  (let* ((one (notes-test-place)) (other (notes-test-near one)))
    (funcall function (min one other) (max one other))))

(defun notes-test-save-and-revert ()
  "Save the buffer and read it again."
  (when buffer-file-name
    (let ((inhibit-message t)) (save-buffer))
    (revert-buffer t t t)))

(defconst notes-test-key-commands
  (vector
    (lambda () (vconcat (notes-test-pick notes-test-samples)))
    (lambda () (vconcat (notes-test-pick notes-test-samples)))
    (lambda () (vconcat (notes-test-pick notes-test-samples) " "))
    (lambda () [?\r])
    (lambda () [?\r ?\r])
    (lambda () [?\C-k])
    (lambda () [?\C-k ?\C-k ?\C-y])
    (lambda () [?\C-y])
    (lambda () [?\M-d])
    (lambda () [?\M-\d])
    (lambda () [?\C-d ?\C-d])
    (lambda () [?\d])
    (lambda () [?\C-t])
    (lambda () [?\M-t])
    (lambda () [?\M-u])
    (lambda () [?\M-l])
    (lambda () [?\M-c])
    (lambda () [?\M-q])
    (lambda () [?\C-x ?\C-t])
    (lambda () [?\C-o])
    (lambda () [?\M-^])
    (lambda () [?\M-\\])
    (lambda () [?\C-_])
    (lambda () [?\C-_ ?\C-_ ?\C-_])
    (lambda () [?\M-z ?e]))
  "Functions that return keys.")

(defconst notes-test-call-commands
  (vector
    (lambda () (notes-test-on-region #'delete-region))
    (lambda () (notes-test-on-region #'kill-region))
    (lambda () (notes-test-on-region (lambda (begin end) (sort-lines nil begin end))))
    (lambda () (notes-test-on-region #'reverse-region))
    (lambda () (notes-test-on-region #'upcase-region))
    (lambda () (notes-test-on-region #'capitalize-region))
    (lambda () (notes-test-on-region #'fill-region))
    (lambda () (notes-test-on-region (lambda (begin end) (indent-rigidly begin end 2))))
    (lambda () (notes-test-on-region #'delete-trailing-whitespace))
    (lambda () (notes-test-on-region
                (lambda (begin end) (subst-char-in-region begin end ?e ?é))))
    (lambda () (notes-test-on-region
                (lambda (begin end) (translate-region begin end (string-to-multibyte
                                                                 (concat (number-sequence 0 127)))))))
    (lambda () (goto-char (point-min)) (while (search-forward "fox" nil t) (replace-match "vixen")))
    (lambda () (goto-char (point-min))
      (while (re-search-forward "[0-9]+" nil t) (replace-match (format "%d" (random 50)))))
    (lambda () (goto-char (notes-test-place))
      (insert (notes-test-sample-lines (if (zerop (random 20)) 10000 (1+ (random 80))))))
    (lambda () (goto-char (point-max)) (insert "\n" (notes-test-sample-lines 3) "\n"))
    (lambda () (goto-char (notes-test-place))
      (insert-before-markers (propertize (notes-test-pick notes-test-samples) 'face 'bold)))
    (lambda () (put-text-property (point-min) (notes-test-place) 'test t))
    (lambda () (notes-test-save-and-revert))
    (lambda () (let* ((text (buffer-string)) (half (random (1+ (length text)))))
                 (with-temp-buffer
                   (insert (substring text 0 half) "·" (substring text half))
                   (let ((new (current-buffer)))
                     (with-current-buffer (window-buffer) (replace-buffer-contents new 0.1))))))
    (lambda () (notes-test-on-region
                (lambda (begin end) (combine-change-calls begin end
                                      (goto-char begin) (insert "<") (delete-region (point) (1+ end))))))
    (lambda () (save-restriction
                 (notes-test-on-region #'narrow-to-region)
                 (goto-char (point-max)) (insert "narrow\n")
                 (upcase-initials-region (point-min) (point-max))))
    (lambda () (with-silent-modifications
                 (save-excursion (goto-char (notes-test-place)) (insert "silent"))))
    (lambda () (let ((inhibit-modification-hooks t)) (notes-test-on-region #'upcase-region))))
  "Functions that change the buffer themselves.")

(defun notes-test-random-command-of (number)
  "Move to a random place; return the keys of command NUMBER, or nil.
Without keys the command has been done."
  (random (format "command %d" number))
  (when (and (> (buffer-size) 20000) (zerop (random 6)))
    (delete-region (+ (point-min) (random 5000)) (point-max)))
  (goto-char (notes-test-place))
  (if (< (random 100) 60)
      (funcall (notes-test-pick notes-test-key-commands))
    (condition-case nil
        (funcall (notes-test-pick notes-test-call-commands))
      (error nil))
    nil))

(provide 'random-commands)
;;; random-commands.el ends here
