;;; notes-lsp-ask.el --- Requests that never hold Emacs up  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; A command asks the service, and says what to do with the answer.  An
;; answer that comes within a moment is handled at once, as if the command
;; had waited.  Otherwise the command ends, the echo area and the mode line
;; show what is pending, and C-g cancels it.
;;
;;     asked ──answer within a moment──────────────► dealt with
;;       │
;;     waiting ──answer, nothing done meanwhile────► dealt with
;;       │  └────answer, other commands given──────► announced ──notes-show──► dealt with
;;       └──C-g, notes-give-up──► given up
;;
;; So no window changes its buffer while the user types.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'notes-lsp-service)
(require 'notes-lsp-shown)

(declare-function notes-lsp--command-runs-p "notes-lsp-gate" ())

(defvar notes-lsp-patience 0.1
  "How many seconds a command waits before it goes on in the background.
A Lisp program that needs the answer may bind this to more.")

(defconst notes-lsp--reminder-seconds 3
  "After how long a second line is shown about an answer that is missing.")

(cl-defstruct (notes-lsp--question (:constructor notes-lsp--question-make) (:copier nil))
  "Something that the service was asked."
  (then nil :documentation "Function of the result.")
  (else nil :documentation "Function without arguments, called if there is none.")
  (waiting nil :documentation "The line that is shown meanwhile, or nil.")
  (what nil :documentation "What the answer is, for an announcement.")
  (background nil :documentation "Non-nil if the answer shows nothing.")
  (state 'asked :documentation "One of asked, waiting, done, failed, over.")
  (answer nil :documentation "The result, or a line that says why there is none.")
  (commands 0 :documentation "How many commands had begun.")
  (window nil :documentation "The window that was selected.")
  (buffer nil :documentation "The buffer that it showed.")
  (reminder nil :documentation "Timer that shows the second line."))

(defvar notes-lsp--questions nil "Those that wait for an answer, latest first.")
(defvar notes-lsp--answers nil "Those whose answers were announced, latest first.")
(defvar notes-lsp--commands-begun 0 "How many commands have begun.")

(cl-defun notes-lsp-ask (method params then
                                &key waiting still what else background patience choosing
                                (timeout 60))
  "Send METHOD with PARAMS to the service, started if needed; give THEN the result.
PARAMS may be a function that returns them when they are sent.
Return what THEN returns if the answer comes in `notes-lsp-patience' seconds,
or PATIENCE; a refusal is then a `user-error' with the service's own words.
With PATIENCE 0, no answer is dealt with in the command.
Else return nil, show the line WAITING, after a while STILL, and deal with
the answer when it comes.  WHAT names it where it can only be announced; with
BACKGROUND it never is.  ELSE is called if there is no result.  With CHOOSING,
the texts of a document from which one is to be chosen are a result, for
`notes-lsp--text-chosen'.  TIMEOUT is in seconds."
  (let ((question (notes-lsp--question-make
                   :then then :else else :waiting waiting :what what :background background
                   :commands notes-lsp--commands-begun
                   :window (selected-window) :buffer (window-buffer (selected-window)))))
    (notes-lsp--when-ready
     (lambda ()
       (condition-case problem
           (notes-lsp-service-request-async
            method (if (functionp params) (funcall params) params)
            (lambda (result) (notes-lsp--answered question 'done result))
            :error (lambda (line) (notes-lsp--answered question 'failed line))
            :refused (lambda (data)
                       (when (and choosing (equal "chooseText" (plist-get data :kind)))
                         (notes-lsp--answered question 'done data)
                         t))
            :timeout timeout)
         (error (notes-lsp--answered
                 question 'failed
                 (string-remove-prefix "Notes: " (error-message-string problem))))))
     (lambda (line) (notes-lsp--answered question 'failed line)))
    (unless (eql 0 patience)
      (let ((complete nil))
        (unwind-protect
            (progn
              (notes-lsp--wait (or patience notes-lsp-patience)
                               (lambda () (not (eq 'asked (notes-lsp--question-state question)))))
              (setq complete t))
          (unless complete (setf (notes-lsp--question-state question) 'over)))))
    (pcase (notes-lsp--question-state question)
      ('asked (notes-lsp--go-on-waiting question still) nil)
      ('done (funcall then (notes-lsp--question-answer question)))
      ('failed
       (when else (funcall else))
       (notes-lsp--refuse (notes-lsp--question-answer question))))))

(defmacro notes-lsp--with-answer (spec &rest body)
  "Ask the service, and evaluate BODY with the answer.
SPEC is (VARIABLE METHOD PARAMS . KEYS), KEYS as for `notes-lsp-ask'."
  (declare (indent 1) (debug ((symbolp form form &rest form) body)))
  (pcase-let ((`(,variable ,method ,params . ,keys) spec))
    `(notes-lsp-ask ,method ,params (lambda (,variable) ,@body) ,@keys)))

;;; Documents of other programs

(defun notes-lsp--text-chosen (result)
  "Return the path of the text that the person chooses, if RESULT offers texts."
  (when (equal "chooseText" (plist-get result :kind))
    (notes-lsp--choose-text (plist-get result :texts))))

(defun notes-lsp--choose-text (texts)
  "Ask which of TEXTS is to be edited; return its path."
  (let* ((choices (mapcar (lambda (text)
                            (cons (notes-lsp--shown (plist-get text :text)) text))
                          texts))
         (completion-extra-properties
          `(:annotation-function
            ,(lambda (path)
               (concat "  " (notes-lsp--shown (plist-get (cdr (assoc path choices)) :start)))))))
    (plist-get (cdr (assoc (completing-read "Text to edit: " choices nil t) choices)) :text)))

;;; Waiting

(defun notes-lsp--go-on-waiting (question still)
  "Wait for the answer to QUESTION in the background; after a while, say STILL."
  (setf (notes-lsp--question-state question) 'waiting)
  (push question notes-lsp--questions)
  (when (notes-lsp--question-waiting question)
    (notes-lsp--say "%s" (notes-lsp--question-waiting question)))
  (when still
    (setf (notes-lsp--question-reminder question)
          (run-with-timer notes-lsp--reminder-seconds nil
                          (lambda () (notes-lsp--news still)))))
  (notes-lsp--show-waiting))

(defun notes-lsp--answered (question state answer)
  "Take ANSWER to QUESTION, whose state becomes STATE, done or failed."
  (pcase (notes-lsp--question-state question)
    ('asked (setf (notes-lsp--question-state question) state
                  (notes-lsp--question-answer question) answer))
    ('waiting
     (setf (notes-lsp--question-state question) state
           (notes-lsp--question-answer question) answer)
     (run-with-timer 0 nil #'notes-lsp--deliver question))))

(defun notes-lsp--deliver (question)
  "Deal with the answer to QUESTION, for which the person did not wait."
  (notes-lsp--forget-question question)
  ;; That it is waited for is not true any more.
  (when (and (notes-lsp--question-waiting question)
             (equal (current-message) (notes-lsp--line (notes-lsp--question-waiting question))))
    (message nil))
  (cond
   ((eq 'failed (notes-lsp--question-state question))
    (notes-lsp--guarded "asking"
      (when (notes-lsp--question-else question)
        (funcall (notes-lsp--question-else question))))
    (notes-lsp--warn (notes-lsp--question-answer question)))
   ((or (notes-lsp--question-background question) (notes-lsp--undisturbed-p question))
    (notes-lsp--deal-with question))
   (t
    (push question notes-lsp--answers)
    (notes-lsp--warn (format "%s is ready: :NotesShow" (notes-lsp--name-of question))))))

(defun notes-lsp--deal-with (question)
  "Call what QUESTION said is to be done with its answer."
  (condition-case problem
      (with-current-buffer (window-buffer (selected-window))
        (let ((notes-lsp--late t))
          (funcall (notes-lsp--question-then question) (notes-lsp--question-answer question))))
    (error (notes-lsp--warn (string-remove-prefix "Notes: " (error-message-string problem))))))

(defun notes-lsp--name-of (question)
  "Return what the answer to QUESTION is, for a sentence."
  (let ((path (plist-get (notes-lsp--question-answer question) :path)))
    (if (stringp path) (format "\"%s\"" (file-name-base path))
      (or (notes-lsp--question-what question) "The answer"))))

(defun notes-lsp--undisturbed-p (question)
  "Return non-nil if the person has only waited since QUESTION was asked."
  (and (= notes-lsp--commands-begun (notes-lsp--question-commands question))
       (not (notes-lsp--command-runs-p))
       (= 0 (recursion-depth))
       (not executing-kbd-macro)
       (null unread-command-events)
       (not (input-pending-p))
       (eq (selected-window) (notes-lsp--question-window question))
       (eq (window-buffer (selected-window)) (notes-lsp--question-buffer question))))

;;; Pending requests

(defun notes-lsp--forget-question (question)
  "QUESTION is waited for no more."
  (when (notes-lsp--question-reminder question)
    (cancel-timer (notes-lsp--question-reminder question)))
  (setq notes-lsp--questions (delq question notes-lsp--questions))
  (notes-lsp--show-waiting))

(defun notes-lsp--shown-question ()
  "Return the latest question whose waiting is shown, or nil."
  (cl-find-if #'notes-lsp--question-waiting notes-lsp--questions))

(defconst notes-lsp--sign '(:eval (notes-lsp--waiting-sign))
  "What stands in the mode line while something is waited for.")

(defun notes-lsp--waiting-sign ()
  "Return what the mode line says about the latest question."
  (if (notes-lsp--shown-question) " Notes:waiting" ""))

(defun notes-lsp--show-waiting ()
  "Show in the mode line whether something is waited for."
  (setq global-mode-string (delete notes-lsp--sign global-mode-string))
  (when (notes-lsp--shown-question)
    (setq global-mode-string (append (or global-mode-string '("")) (list notes-lsp--sign))))
  (force-mode-line-update t))

;;;###autoload
(defun notes-give-up ()
  "Stop waiting for what the service was asked last.
If the note arrives later, find it in the list, \\[notes]."
  (interactive)
  (let ((question (notes-lsp--shown-question)))
    (unless question (user-error "Notes: Not waiting for a note"))
    (setf (notes-lsp--question-state question) 'over)
    (notes-lsp--forget-question question)
    (notes-lsp--guarded "giving up"
      (when (notes-lsp--question-else question)
        (funcall (notes-lsp--question-else question))))
    (notes-lsp--say "Gave up waiting; :Notes lists it if it arrives")))

(defun notes-lsp--count-command ()
  "Count the command that begins; one that quits gives up waiting, too."
  (cl-incf notes-lsp--commands-begun)
  (when (and (eq this-command 'keyboard-quit) (notes-lsp--shown-question))
    ;; After \"Quit\" was shown.
    (notes-lsp--soon (when (notes-lsp--shown-question) (notes-give-up)))))

;;;###autoload
(defun notes-show ()
  "Show the answer that arrived while you were doing something else."
  (interactive)
  (let ((question (pop notes-lsp--answers)))
    (unless question (user-error "Notes: Nothing is waiting to be shown"))
    (funcall (notes-lsp--question-then question) (notes-lsp--question-answer question))))

(add-hook 'pre-command-hook #'notes-lsp--count-command)

(provide 'notes-lsp-ask)
;;; notes-lsp-ask.el ends here
