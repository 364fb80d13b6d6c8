;;; notes-lsp-presence.el --- The other people in a note, and their carets  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The others' carets and selections as overlays, one of twelve faces per
;; person, the name at the end of the caret's line; reports of this user's
;; caret to the others; the people in the note for the mode line.

;;; Code:

(require 'cl-lib)
(require 'notes-lsp-service)
(require 'notes-lsp-capture)
(require 'notes-lsp-condition)
(require 'notes-lsp-faces)

(declare-function notes-lsp--find-note "notes-lsp-gate" (uri))
(declare-function notes-lsp--schedule "notes-lsp-gate" (note &optional seconds))

(defvar notes-lsp--news-hook nil "Run when the list of notes or of people may have changed.")

(defconst notes-lsp--cursor-seconds 0.05 "The least time between two notes/cursor of one note.")

;;; The others

(defun notes-lsp--on-cursors (params)
  "Remember the carets in PARAMS, until the note's text is theirs."
  (let ((note (notes-lsp--find-note (plist-get params :uri))))
    (when note
      (setf (notes-lsp--note-peers-pending note) params)
      (notes-lsp--schedule note))))

;; A caret belongs to the character after it, in the service and here: text
;; typed at its place goes before it.  So markers and overlays advance.

(defun notes-lsp--show-peers (note)
  "Draw the carets that were announced for NOTE last, if their text is there.
They do not know what was typed here since, and are then asked for again."
  (let ((params (notes-lsp--note-peers-pending note)))
    (when (and params (null (notes-lsp--note-queue note))
               (<= (or (plist-get params :rev) 0) (notes-lsp--note-rev note)))
      (setf (notes-lsp--note-peers-pending note) nil)
      (if (and (eql (plist-get params :version) (notes-lsp--note-version note))
               (eql (plist-get params :rev) (notes-lsp--note-rev note)))
          (notes-lsp--draw-peers note (plist-get params :peers))
        (notes-lsp-service-notify :notes/ack (list :uri (notes-lsp--note-uri note)
                                                   :version (notes-lsp--note-version note)
                                                   :rev (notes-lsp--note-rev note) :carets t))))))

(defun notes-lsp--draw-peers (note peers)
  "Draw the carets of PEERS in NOTE."
  (notes-lsp--clear-overlays note)
  (setf (notes-lsp--note-peers note)
        (mapcar (lambda (peer) (notes-lsp--placed note peer)) peers))
  (notes-lsp--in-note note
    (dolist (peer (notes-lsp--note-peers note))
      (cl-loop for (start . caret) in (plist-get peer :carets)
               for first = t then nil
               do (notes-lsp--draw note peer start caret first))))
  (notes-lsp--follow note)
  (notes-lsp--arrive note)
  (with-current-buffer (notes-lsp--note-buffer note) (force-mode-line-update)))

(defun notes-lsp--placed (note peer)
  "Return PEER with :carets, a list of (START . CARET), markers in NOTE."
  (let ((carets
         (notes-lsp--in-note note
           (cl-loop
            for range across (plist-get peer :ranges)
            collect (cons (notes-lsp--marker note (plist-get range :start))
                          (notes-lsp--marker note (plist-get range :end)))))))
    (append (list :carets carets) peer)))

(defun notes-lsp--marker (note position)
  "Return a marker in NOTE's widened current buffer at the protocol's POSITION.
It stays behind what is inserted at its place."
  (copy-marker (notes-lsp--locate position (notes-lsp--base note)) t))

(defun notes-lsp--draw (note peer start caret labelled)
  "Draw in NOTE what PEER selected from START to CARET, with a name if LABELLED."
  (let* ((start (marker-position start))
         (caret (marker-position caret))
         (face (notes-lsp--face 'peer (plist-get peer :color)))
         (name (notes-lsp--short-name peer))
         (letter (notes-lsp--shown (plist-get peer :letter)))
         (line-end (progn (goto-char caret) (skip-chars-forward "^\n") (point)))
         (at-end (= caret line-end)))
    (unless (= start caret)
      (notes-lsp--overlay note (min start caret) (max start caret)
                          'face (notes-lsp--face 'selection (plist-get peer :color))
                          'priority 10))
    (unless at-end
      (notes-lsp--overlay note caret (1+ caret) 'face face
                          ;; Emacs takes a backslash for the beginning of a key or a map.
                          'help-echo (string-replace "\\" "\\=\\" name)
                          'priority 20 'notes-lsp-caret (plist-get peer :peer)))
    (when (or labelled at-end)
      ;; The letter is visible without colours; the letters differ even if two names begin alike.
      (let ((label (concat (cond ((not at-end) " ")
                                 ((string-empty-p letter) (propertize " " 'face face))
                                 (t (propertize letter 'face face)))
                           (and labelled at-end " ")
                           (and labelled
                                (propertize (if (or at-end (string-prefix-p letter name t)) name
                                              (concat letter " " name))
                                            'face face)))))
        (put-text-property 0 1 'cursor t label)
        (notes-lsp--overlay note line-end line-end 'before-string label
                            'notes-lsp-caret (and at-end (plist-get peer :peer)))))))

(defun notes-lsp--overlay (note begin end &rest properties)
  "Add to NOTE an overlay from BEGIN to END with PROPERTIES."
  (let ((overlay (make-overlay begin end nil t (= begin end))))
    (cl-loop for (property value) on properties by #'cddr
             do (overlay-put overlay property value))
    (push overlay (notes-lsp--note-overlays note))))

(defun notes-lsp--clear-overlays (note)
  "Remove all carets from NOTE."
  (dolist (peer (notes-lsp--note-peers note))
    (pcase-dolist (`(,start . ,caret) (plist-get peer :carets))
      (set-marker start nil)
      (set-marker caret nil)))
  (mapc #'delete-overlay (notes-lsp--note-overlays note))
  (setf (notes-lsp--note-overlays note) nil))

(defun notes-lsp--forget-peers (note)
  "Remove all signs of others from NOTE."
  (notes-lsp--clear-overlays note)
  (setf (notes-lsp--note-peers note) nil
        (notes-lsp--note-peers-pending note) nil
        (notes-lsp--note-following note) nil
        (notes-lsp--note-here note) nil))

(defun notes-lsp--short-name (peer)
  "Return a short name for PEER."
  (truncate-string-to-width
   (notes-lsp--shown (or (plist-get peer :name) (plist-get peer :letter) "?")) 16 nil nil t))

(defun notes-lsp-peer-names (note)
  "Return the names of the people in NOTE."
  (delete-dups
   (append (mapcar #'notes-lsp--short-name (notes-lsp--note-peers note))
           (mapcar (lambda (here) (notes-lsp--shown (cdr here))) (notes-lsp--note-here note)))))

;;; Following

(defun notes-lsp--caret-of (note peer)
  "Return where in NOTE the caret of PEER is, a peer id, or nil."
  (let ((entry (cl-find peer (notes-lsp--note-peers note) :test #'equal
                        :key (lambda (entry) (plist-get entry :peer)))))
    (when (plist-get entry :carets)
      (marker-position (cdar (plist-get entry :carets))))))

(defun notes-lsp--follow (note)
  "Move NOTE's windows to the caret of the person they follow."
  (let ((place (and (notes-lsp--note-following note)
                    (notes-lsp--caret-of note (notes-lsp--note-following note)))))
    (when place
      (with-current-buffer (notes-lsp--note-buffer note) (goto-char place))
      (dolist (window (get-buffer-window-list (notes-lsp--note-buffer note) nil t))
        (set-window-point window place)))))

(defun notes-lsp--followed-name (note)
  "Return the name of the person whom NOTE's windows follow, to be shown."
  (let ((entry (cl-find (notes-lsp--note-following note) (notes-lsp--note-peers note)
                        :test #'equal :key (lambda (entry) (plist-get entry :peer)))))
    (if entry (notes-lsp--shown (plist-get entry :name)) "them")))

(defun notes-lsp--stop-following (note)
  "Let NOTE's windows stay where they are."
  (when (notes-lsp--note-following note)
    (let ((name (notes-lsp--followed-name note)))
      (setf (notes-lsp--note-following note) nil)
      (notes-lsp--say "Stopped following %s" name))))

(defun notes-lsp--stop-after-command ()
  "Stop following in the current note, after any command but those that follow."
  (let ((note (notes-lsp--current)))
    (when (and note (notes-lsp--note-following note)
               (not (memq this-command '(notes-follow execute-extended-command nil))))
      (notes-lsp--stop-following note))))
(add-hook 'post-command-hook #'notes-lsp--stop-after-command)

(defvar notes-lsp--going-to nil
  "The person whose caret point goes to as soon as it is shown, or nil.
\(NAME . COMMANDS), with the number of commands begun: the next one ends it.")

(defun notes-lsp--arrive (note)
  "Go to the caret of the person that `notes-lsp--going-to' names, in NOTE."
  (let ((peer (and (eql (cdr notes-lsp--going-to) notes-lsp--commands-begun)
                   (eq (notes-lsp--note-buffer note) (window-buffer))
                   (cl-find (car notes-lsp--going-to) (notes-lsp--note-peers note) :test #'equal
                            :key (lambda (peer) (plist-get peer :name))))))
    (when (and peer (notes-lsp--caret-of note (plist-get peer :peer)))
      (setq notes-lsp--going-to nil)
      (with-current-buffer (notes-lsp--note-buffer note)
        (goto-char (notes-lsp--caret-of note (plist-get peer :peer)))
        (dolist (window (get-buffer-window-list (current-buffer) nil t))
          (set-window-point window (point)))))))

(defun notes-lsp--arrow (note name)
  "Return an arrow if the caret in NOTE of the one called NAME is off the window."
  (let* ((peer (cl-find name (notes-lsp--note-peers note) :test #'equal
                        :key (lambda (peer) (plist-get peer :name))))
         (place (and peer (notes-lsp--caret-of note (plist-get peer :peer)))))
    (cond ((not (and place (eq (notes-lsp--note-buffer note) (window-buffer)))) "")
          ((< place (window-start)) (if (char-displayable-p ?↑) "↑" "^"))
          ((> place (window-end)) (if (char-displayable-p ?↓) "↓" "v"))
          (t ""))))

;;; Pointing

(defconst notes-lsp--pointed-seconds 5 "How long a place that is pointed at is marked.")
(defvar notes-lsp--pointed nil "Alist from a peer to (NOTE . OVERLAY), while they are marked.")

(defun notes-lsp--on-pointed (params)
  "Mark for a while the place that PARAMS, an event, points at."
  (let ((note (notes-lsp--find-note (or (plist-get params :uri) "")))
        (peer (plist-get params :peer)))
    (when note
      (notes-lsp--in-note note
        (let* ((range (plist-get params :range)) (base (notes-lsp--base note))
               (begin (notes-lsp--locate (plist-get range :start) base))
               (end (notes-lsp--locate (plist-get range :end) base))
               (overlay (if (< begin end) (make-overlay begin end)
                          (goto-char begin)
                          (make-overlay (line-beginning-position) (line-end-position)))))
          (overlay-put overlay 'face 'match)
          (overlay-put overlay 'notes-lsp-place (copy-marker begin))
          (push (cons peer (cons note overlay)) notes-lsp--pointed)
          (run-with-timer notes-lsp--pointed-seconds nil
                          (lambda ()
                            (delete-overlay overlay)
                            (setq notes-lsp--pointed
                                  (cl-remove overlay notes-lsp--pointed :key #'cddr)))))))))

(defun notes-lsp--pointed-place (note peer)
  "Return where in NOTE the person with the id PEER has just pointed, or nil."
  (let ((entry (cdr (assoc peer notes-lsp--pointed))))
    (and entry (eq note (car entry))
         (marker-position (overlay-get (cdr entry) 'notes-lsp-place)))))

;;; This user's caret

(defun notes-lsp--own-range ()
  "Return (START . END) of the selection; END is where point is."
  (cons (if (use-region-p) (mark) (point)) (point)))

(defun notes-lsp--report-cursor (note)
  "Tell the others where point is in NOTE, at most twenty times a second."
  (unless (equal (notes-lsp--note-cursor-sent note)
                 (list (notes-lsp--own-range) (notes-lsp--note-version note)
                       (notes-lsp--note-rev note)))
    (let ((wait (- (+ (notes-lsp--note-cursor-time note) notes-lsp--cursor-seconds)
                   (float-time))))
      (cond
       ((and (<= wait 0) (not executing-kbd-macro)) (notes-lsp--send-cursor note))
       ((notes-lsp--note-cursor-timer note) nil)
       (t (setf (notes-lsp--note-cursor-timer note)
                (run-with-timer (max wait 0.01) nil #'notes-lsp--send-cursor-later note)))))))

(defun notes-lsp--report-cursor-soon (note)
  "Report the caret of NOTE again if its buffer is the selected one.
After an edit of others the same place may be before other letters."
  (when (and (eq (notes-lsp--note-buffer note) (window-buffer (selected-window)))
             (not (notes-lsp--note-cursor-timer note)))
    (setf (notes-lsp--note-cursor-timer note)
          (run-with-timer (max 0 (- (+ (notes-lsp--note-cursor-time note) notes-lsp--cursor-seconds)
                                    (float-time)))
                          nil #'notes-lsp--send-cursor-later note))))

(defun notes-lsp--send-cursor-later (note)
  "Send the caret of NOTE from a timer."
  (setf (notes-lsp--note-cursor-timer note) nil)
  (when (buffer-live-p (notes-lsp--note-buffer note))
    (with-current-buffer (notes-lsp--note-buffer note)
      (notes-lsp--guarded "caret" (notes-lsp--send-cursor note)))))

(defun notes-lsp--send-cursor (note)
  "Send the caret of NOTE, if the service knows the text it is in."
  (when (and (notes-lsp--note-open note) (not (notes-lsp--pending-p note)) (not (notes-lsp--stalled)))
    (let ((range (notes-lsp--own-range)))
      (setf (notes-lsp--note-cursor-sent note)
            (list range (notes-lsp--note-version note) (notes-lsp--note-rev note))
            (notes-lsp--note-cursor-time note) (float-time))
      (notes-lsp-service-notify
       :notes/cursor
       `(:uri ,(notes-lsp--note-uri note)
         :version ,(notes-lsp--note-version note)
         :rev ,(notes-lsp--note-rev note)
         :ranges [,(notes-lsp--in-note note
                     (let ((end (notes-lsp--position note (cdr range))))
                       (list :start (notes-lsp--position note (car range))
                             :end end)))])))))

(notes-lsp--handle 'notes/cursors #'notes-lsp--on-cursors)

(provide 'notes-lsp-presence)
;;; notes-lsp-presence.el ends here
