;;; notes-lsp-shown-test.el --- Tests of how others' words are shown  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Without a screen: what is left of a line, and which texts are reordered.

;;; Code:

(require 'ert)
(require 'notes-lsp)

(ert-deftest notes-test-no-separator-is-left-for-the-display ()
  "A newline alone ends a paragraph for the display."
  (dolist (character '(?\r #x1c #x1d #x1e #x85 #x2029))
    (should (eq 'S (get-char-code-property character 'bidi-class))))
  (should (eq 'B (get-char-code-property ?\n 'bidi-class)))
  (should (eq 'R (get-char-code-property #x5d0 'bidi-class))))

(ert-deftest notes-test-what-others-write-stands-on-one-line ()
  "Controls become blanks, directional characters go, letters stay."
  (should (equal "a b" (notes-lsp--shown "\u202ea\u2066\u0085\u2069b\u200f")))
  (should (equal "a b c" (notes-lsp--shown "a\n\r\tb\e\u009bc")))
  (should (equal "שלום مرحبا" (notes-lsp--shown "שלום مرحبا")))
  (should (equal "" (notes-lsp--shown nil)))
  (should (= 1001 (length (notes-lsp--shown (make-string 5000 ?a))))))

(ert-deftest notes-test-only-texts-that-take-too-long-are-not-reordered ()
  "One hard line is enough; when it is gone, the text is reordered again."
  (with-temp-buffer
    (insert (make-string 7000 #x5d0) "\n" (make-string 200 #x2066) "\nshort\n")
    (notes-lsp--watch-order)
    (should bidi-display-reordering)
    (goto-char (point-max))
    (insert (make-string 201 #x2068))
    (should-not bidi-display-reordering)
    (delete-region (line-beginning-position) (point-max))
    (notes-lsp--order-again (current-buffer))
    (should bidi-display-reordering)
    ;; A line that grows letter by letter, in its middle.
    (goto-char 3500)
    (dotimes (_ 1100) (insert "x"))
    (should-not bidi-display-reordering)
    (erase-buffer)
    (notes-lsp--order-again (current-buffer))
    (should bidi-display-reordering)
    (insert (make-string 9000 ?a))
    (should-not bidi-display-reordering)))

(provide 'notes-lsp-shown-test)
;;; notes-lsp-shown-test.el ends here
