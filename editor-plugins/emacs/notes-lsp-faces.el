;;; notes-lsp-faces.el --- Colours of the other people in a note  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Twelve colours, each with a face for a caret, a selection, and a name
;; beside lines.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-definitions)

(defun notes-lsp--blend (color other)
  "Return COLOR, as #rrggbb, mixed with two parts of OTHER, a number 0-255."
  (apply #'format "#%02x%02x%02x"
         (mapcar (lambda (index)
                   (/ (+ (string-to-number (substring color index (+ index 2)) 16) other other) 3))
                 '(1 3 5))))

(defgroup notes-lsp-faces nil
  "How the others in a note look."
  :group 'notes-lsp :group 'faces)

(cl-loop
 for (light dark basic) in notes-lsp--palette
 for number from 0
 do
 (custom-declare-face
  (intern (format "notes-lsp-selection-%d" number))
  `((((class color) (min-colors 88) (background light))
     :background ,(notes-lsp--blend light 255))
    (((class color) (min-colors 88) (background dark))
     :background ,(notes-lsp--blend dark 0))
    (t :underline t))
  (format "Selection of the person with colour %d." number)
  :group 'notes-lsp-faces)
 (custom-declare-face
     (intern (format "notes-lsp-peer-%d" number))
     `((((class color) (min-colors 88) (background light))
        :background ,light :foreground "white")
       (((class color) (min-colors 88) (background dark))
        :background ,dark :foreground "black")
       (((class color)) :background ,basic :foreground "black")
       (t :inverse-video t))
     (format "Caret and name of the person with colour %d." number)
     :group 'notes-lsp-faces)
 (custom-declare-face
     (intern (format "notes-lsp-name-%d" number))
     `((((class color) (min-colors 88) (background light)) :foreground ,light)
       (((class color) (min-colors 88) (background dark)) :foreground ,dark)
       (((class color)) :foreground ,basic))
     (format "Name of the person with colour %d beside lines." number)
     :group 'notes-lsp-faces))

(defun notes-lsp--face (kind color)
  "Return the face of KIND, peer, name or selection, for the colour number COLOR."
  (intern (format "notes-lsp-%s-%d" kind (if (integerp color) (mod color 12) 0))))

(provide 'notes-lsp-faces)
;;; notes-lsp-faces.el ends here
