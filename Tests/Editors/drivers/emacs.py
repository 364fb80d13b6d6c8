#!/usr/bin/env python3
"""Drives Emacs for the conformance table (Conformance.md)."""
import os
import sys
import time

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from drivers.terminal import Driver, place, root

named = {"RET": "\r", "ESC": "\x1b", "TAB": "\t", "DEL": "\x7f", "SPC": " ", "C-SPC": "\0", "C-@": "\0", "C-_": "\x1f", "C-M-_": "\x1b\x1f"}

# If no input has waited for this many seconds, Emacs has dropped the key.
dropped_after = 1


def raw(keys):
    """Keys in the notation of `kbd` as a terminal sends them; any other word is typed."""
    typed = ""
    for word in keys.split(" "):
        if word in named:
            typed += named[word]
        elif word.startswith("C-") and len(word) == 3:
            typed += chr(ord(word[2].upper()) & 0x1f)
        elif word.startswith("M-") and len(word) > 2:
            typed += "\x1b" + raw(word[2:]).decode()
        else:
            typed += word
    return typed.encode()


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class EmacsDriver(Driver):
    families = ("emacs",)
    plugin = root + "/editor-plugins/emacs"
    cannot = {"look": "Emacs cannot report what its screen shows", "held": "Emacs holds nothing back in a column"}

    def start(self, step):
        settings = self.folder + "/init.el"
        with open(settings, "w", encoding="utf-8") as file:
            file.write(
                "(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil)\n"
                "(setq ring-bell-function #'ignore confirm-kill-processes nil require-final-newline nil)\n"
                f"(add-to-list 'load-path {quoted(self.plugin)})\n(require 'notes-lsp)\n"
                f"(setq notes-lsp-command '({' '.join(map(quoted, step['service']))}))\n"
                f"(setq notes-lsp-name {quoted(step['name'])})\n"
                f"(load {quoted(self.plugin + '/test/control.el')})\n(load {quoted(root + '/Tests/Editors/drivers/driver.el')})\n")
        os.makedirs(self.folder + "/.emacs.d")
        with open(self.folder + "/.emacs.d/early-init.el", "w", encoding="utf-8") as file:
            file.write("(setq native-comp-deferred-compilation nil native-comp-jit-compilation nil)\n")
            # What Emacs compiles for advice of a primitive (a second of its time) is kept, as in a person's home.
            file.write("(when (boundp 'native-comp-eln-load-path)"
                       f" (setcar native-comp-eln-load-path {quoted(root + '/.build/emacs-cache/')}))\n")
        program = os.environ.get("EMACS", "emacs")
        self.launch([program, "-nw", "--no-site-file", "--no-site-lisp", "--no-splash", "-l", settings])
        return {"editor": "Emacs " + self.lisp("emacs-version"), **self.abilities()}

    def lisp(self, code):
        value = self.ask(code)
        if isinstance(value, dict) and set(value) == {"error"}:
            raise RuntimeError(f"{code}: {value['error']}")
        return value

    def keys(self, keys):
        self.terminal.type(keys)
        self.wait("Emacs to handle the keys", lambda: self.lisp("(if (or (input-pending-p) unread-command-events) 1 0)") == 0)

    def do(self, code):
        """Evaluates Lisp as a command. A C-g before it is a signal; Emacs may receive it after the key, and then drops the key."""
        self.lisp(f"(progn (setq driver-step (lambda () {code})) t)")
        pressed = 0

        def is_taken():
            nonlocal pressed
            if time.monotonic() > pressed + dropped_after:
                self.keys(b"\x1b[24~")
                pressed = time.monotonic()
            return self.lisp("(if driver-step 1 0)") == 0

        self.wait("the step to begin", is_taken)

    def go(self, where):
        line, column = place(where)
        self.do(f"(deactivate-mark) (goto-char (driver-position {line} {column}))")

    def open(self, step):
        # Ends what the last row left half typed or narrowed.
        self.keys(b"\x07")
        self.do("(delete-other-windows) (with-current-buffer (messages-buffer) (let ((inhibit-read-only t)) (erase-buffer)))")
        self.do(f"(find-file {quoted(step['path'])})")
        self.wait("the note to be attached", lambda: self.lisp("(cdr (assq 'synced (notes-test-state)))") is True)

    def move(self, step):
        self.go(step["to"])

    def type(self, step):
        if "at" in step:
            self.go(step["at"])
        self.keys(step["text"].replace("\n", "\r").encode())

    def finish(self, step):
        pass

    def select(self, step):
        first, last = place(step["from"]), place(step["to"])
        self.do(f"(transient-mark-mode 1) (goto-char (driver-position {first[0]} {first[1]})) (push-mark nil t t)"
                f" (goto-char (driver-position {last[0]} {last[1]}))")

    def delete(self, step):
        self.select(step)
        self.keys(raw("C-w"))

    def replace(self, step):
        self.delete(step)
        self.keys(step["text"].replace("\n", "\r").encode())

    def delete_line(self, step):
        self.go(f"{step['line']}:1")
        self.do("(call-interactively #'kill-whole-line)")

    def join_lines(self, step):
        self.go(f"{step['line'] + 1}:1")
        self.keys(raw("M-^"))

    def replace_all(self, step):
        self.go("1:1")
        self.keys(raw("M-%"))
        self.keys(step["from"].encode() + b"\r" + step["to"].encode() + b"\r!")

    def paste(self, step):
        self.go(step["at"])
        self.lisp(f"(progn (kill-new {quoted(step['text'])}) t)")
        self.keys(raw("C-y"))

    def undo(self, step):
        self.keys(raw("C-_"))

    def redo(self, step):
        self.keys(raw("C-M-_"))

    def save(self, step):
        self.keys(raw("C-x C-s"))

    def narrow(self, step):
        self.do(f"(narrow-to-region (driver-position {step['from']} 1) (driver-position {step['to'] + 1} 1))")

    def widen(self, step):
        self.do("(widen)")

    def fold(self, step):
        self.do("(require 'outline) (outline-flag-region"
                f" (1- (driver-position {step['from'] + 1} 1)) (1- (driver-position {step['to'] + 1} 1)) t)")

    def unfold(self, step):
        self.do("(require 'outline) (outline-flag-region (point-min) (point-max) nil)")

    def split(self, step):
        self.keys(raw("C-x 2"))

    def press(self, step):
        self.keys(raw(step["keys"]))

    def command(self, step):
        self.do(step["command"])

    def close(self, step):
        self.keys(b"\x07")
        self.do("(mapc (lambda (it) (when (buffer-file-name (or (buffer-base-buffer it) it)) (with-current-buffer it"
                " (set-buffer-modified-p nil)) (kill-buffer it))) (buffer-list))")

    def state(self, step):
        return self.lisp("(driver-state)")


if __name__ == "__main__":
    EmacsDriver().serve()
