;;; driver.el --- What the Emacs driver needs inside Emacs  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A step that has no key of its own is a command on the key F12, so that the
;; command loop and its hooks are the real ones.

;;; Code:

(defvar notes-lsp--running)
(defvar driver-step nil "What F12 does; nil once it has begun.")

(defun driver-do ()
  "Do the step."
  (interactive)
  (let ((step driver-step))
    (setq driver-step nil)
    (when step (funcall step))))

(global-set-key [f12] #'driver-do)

(defun driver-position (line column)
  "The position of COLUMN in LINE, both from 1, of the whole buffer."
  (save-restriction
    (widen)
    (save-excursion
      (goto-char (point-min))
      (forward-line (1- line))
      (min (+ (point) (1- column)) (line-end-position)))))

(defun driver-place (position)
  "POSITION as line:column, both from 1, of the whole buffer."
  (save-restriction
    (widen)
    (save-excursion
      (goto-char position)
      (format "%d:%d" (line-number-at-pos) (1+ (- (point) (line-beginning-position)))))))

(defun driver-state ()
  "The state of the selected window and its buffer."
  (let ((state (notes-test-state)))
    `((buffer . ,(cdr (assq 'text state)))
      (synced . ,(cdr (assq 'synced state)))
      (caret . ,(driver-place (window-point)))
      (selection . ,(and (region-active-p)
                         (concat (driver-place (region-beginning)) "-" (driver-place (region-end)))))
      (top . ,(save-restriction (widen) (line-number-at-pos (window-start))))
      (messages . ,(with-current-buffer (messages-buffer) (buffer-substring-no-properties (point-min) (point-max))))
      (modified . ,(if (buffer-modified-p) t :json-false))
      (windows . ,(length (window-list)))
      (file . ,(and buffer-file-name (file-name-nondirectory buffer-file-name)))
      (line . ,(buffer-substring-no-properties (line-beginning-position) (line-end-position)))
      (shown . ,(buffer-substring-no-properties (point-min) (point-max))))))

;; A command that asks something runs until it is answered; the driver looks on meanwhile.
(advice-add 'notes-test--work :around
            (lambda (work process) (let ((notes-lsp--running nil)) (funcall work process))))

(provide 'driver)
;;; driver.el ends here
