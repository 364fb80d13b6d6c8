#!/usr/bin/env python3
"""One scenario of two people, from the first start to the minutes of a meeting, played in Vim and in Emacs.

Usage: play.py [--short] [vim] [emacs] [neovim]       (NOTES_LSP_BINARY: the program; else .build/debug/notes-lsp)

With --short only the beginning and the meeting are played, in all three editors at once, and nothing is kept: a part of `make test`.

Ana does every step in the named editor, Ben keeps her company in the other one. After each step her screen, 80 x 24 without
colours, is kept as vim/NN-name.txt or emacs/NN-name.txt beside this script; what differs from run to run (times, tickets,
keys, digits) is replaced by a stand-in. A step whose screen never has what it is to have ends the run with exit code 1.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path.insert(0, root + "/Tests/Editors")

from short import ShortSteps  # noqa: E402
from tmux import Tmux  # noqa: E402

binary = os.environ.get("NOTES_LSP_BINARY", root + "/.build/debug/notes-lsp")
patience = int(os.environ.get("NOTES_PATIENCE", 120))


class Editor(Tmux):
    """One person's editor in a tmux of its own."""

    key_pause = 0.03

    def __init__(self, kind, name, folder, terminal="screen-256color", setting=""):
        self.kind, self.name, self.folder = kind, name, folder
        self.isVi = kind != "emacs"
        self.home = f"{folder}/{name}"
        os.makedirs(self.home + "/store", exist_ok=True)
        os.makedirs(self.home + "/notes", exist_ok=True)
        command = [binary, "--home", self.home + "/store", "--notes", self.home + "/notes", "--listen", "127.0.0.1:0",
                   "--no-discovery", "--log", self.home + "/log"]
        quoted = [f"'{part}'" for part in command] if self.isVi else [f'"{part}"' for part in command]
        if self.isVi:
            settings = self.home + "/vimrc"
            # Nothing is to wait for CursorHold, which an idle Vim sends after 'updatetime'.
            lines = ["set nocompatible encoding=utf-8 laststatus=2 hidden noswapfile shortmess+=I ttimeoutlen=20 updatetime=600000",
                     f"set runtimepath^={root}/editor-plugins/{kind}", f"let g:notes_lsp_command = [{', '.join(quoted)}]"]
            start = f"vim -i NONE -Nu {settings}" if kind == "vim" else f"nvim -i NONE -u {settings}"
        else:
            settings = self.home + "/init.el"
            lines = ["(setq inhibit-startup-screen t initial-scratch-message nil suggest-key-bindings nil)",
                     "(setq native-comp-deferred-compilation nil confirm-kill-processes nil ring-bell-function #'ignore)", "(menu-bar-mode -1)",
                     f'(add-to-list \'load-path "{root}/editor-plugins/emacs")', "(require 'notes-lsp)",
                     f"(setq notes-lsp-command '({' '.join(quoted)}))"]
            start = f"emacs -nw -Q -l {settings}"
        with open(settings, "w") as file:
            file.write("\n".join(lines + [setting]) + "\n")
        self.start(f"{folder}/{name}.tmux", 80,
                   f"env -u NOTES_DIR -u NOTES_HOME TERM={terminal} LANG=C.UTF-8 LC_ALL=C.UTF-8 TZ=UTC HOME={self.home} {start}")

    def sees(self, *texts, absent=()):
        """Waits until the screen has all texts, and rests."""
        deadline = time.time() + patience
        last = None
        while time.time() < deadline:
            now = self.screen()
            isThere = all(text in now for text in texts) and not any(text in now for text in absent)
            if isThere and now == last:
                return now
            last = now
            time.sleep(0.1)
        raise TimeoutError(f"{self.name}'s {self.kind} never showed {texts} without {absent}:\n{self.screen()}")

    def command(self, vim, emacs, *answers):
        """Gives a command by its name, and answers what it asks."""
        if self.isVi:
            self.press("Escape")
            self.type(":" + vim)
            self.press("Enter")
            return
        self.press("M-x")
        self.sees("M-x")
        self.type(emacs)
        self.press("Enter")
        for answer in answers:
            time.sleep(0.3)
            self.type(answer)
            self.press("Enter")

    def answer(self, text, default=True):
        """Types over the default of a prompt."""
        # Where Emacs only names the default, there is nothing to delete: that is an error, by which it forgets the keys after it.
        if default and (self.isVi or "(default" not in self.screen()):
            self.press(*(["C-u"] if self.isVi else ["C-a", "C-k"]))
        self.type(text)
        self.press("Enter")

    def yes(self, word="y"):
        if self.isVi:
            self.type(word)
        else:
            self.type("yes" if word == "d" or word == "r" else "y")
            if word in "dr":
                self.press("Enter")

    def write(self, text):
        """Types lines at the end of the note, and saves."""
        if self.isVi:
            self.press("Escape")
            self.type("Go" if self.hasText else "i")
            self.tmux("send-keys", "-l", "--", text.replace("\n", "\r"))
            self.press("Escape")
            self.type(":silent w")
            self.press("Enter")
        else:
            self.press("M->")
            if self.hasText:
                self.press("Enter")
            for index, line in enumerate(text.split("\n")):
                if index:
                    self.press("Enter")
                self.type(line)
            self.press("C-x", "C-s")
        self.hasText = True

    hasText = False

    def go(self, line):
        if self.isVi:
            self.press("Escape")
            self.type(f"{line}G0")
        else:
            self.press("M-<")
            for _ in range(line - 1):
                self.press("C-n")

    def only(self):
        """One window, with what was last worked on."""
        if self.isVi:
            self.press("Escape")
            self.type(":only")
            self.press("Enter")
        else:
            self.press("C-x", "1")


def stable(screen):
    """The screen with stand-ins for what differs from run to run."""
    screen = re.sub(r"\b\d\d:\d\d:\d\d\b", "hh:mm:ss", screen)
    screen = re.sub(r"\b\d\d:\d\d\b", "hh:mm", screen)
    screen = re.sub(r"(\d{5} ){5}\d{5}", "DDDDD DDDDD DDDDD DDDDD DDDDD DDDDD", screen)
    screen = re.sub(r"\b\d{3} \d{3}\b", "DDD DDD", screen)
    screen = re.sub(r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d+\b", "Mon dd", screen)
    screen = re.sub(r"notes-lsp:[a-z0-9]+(\n[a-z0-9]{4,})*", "notes-lsp:TICKET", screen)
    screen = re.sub(r"(?<=Or read aloud:\n)([a-z ]+\n)+", "TWENTY-FIVE WORDS\n", screen)
    screen = re.sub(r"(?m)(?<=  )[1-9A-HJ-NP-Za-z]{8}$", "KEYKEYKE", screen)
    screen = re.sub(r"/\S*/Ana/", "~/", screen)
    return screen.rstrip() + "\n"


class Scenario(ShortSteps):
    def __init__(self, kind, isShort=False):
        self.kind, self.isShort = kind, isShort
        self.folder = tempfile.mkdtemp(prefix="notes-screens")
        self.kept = f"{here}/{kind}"
        if not isShort:
            shutil.rmtree(self.kept, ignore_errors=True)
            os.makedirs(self.kept)
        self.count = 0
        self.ana = Editor(kind, "Ana", self.folder)
        self.ben = Editor("emacs" if self.ana.isVi else "vim", "Ben", self.folder)

    def end(self):
        self.ana.end()
        self.ben.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def keep(self, name, *texts, absent=()):
        screen = stable(self.ana.sees(*texts, absent=absent))
        self.count += 1
        if self.isShort:
            return
        with open(f"{self.kept}/{self.count:02}-{name}.txt", "w") as file:
            file.write(screen)
        print(f"{self.kind}: {self.count:02} {name}", flush=True)

    def play(self):
        time.sleep(1)
        self.begin()
        if self.isShort:
            self.begin_with_a_name()
            self.try_commands()
        else:
            self.look_around()
        self.meet()
        if self.isShort:
            self.join_from_the_list()

    def ticket(self, title="Shopping"):
        """A ticket of Ana's."""
        return subprocess.run([binary, "share", title, "--home", self.ana.home + "/store", "--notes", self.ana.home + "/notes"],
                              check=True, capture_output=True, text=True).stdout.strip()

    def begin(self):
        """From the first start to a note that two people write."""
        ana, ben, keep = self.ana, self.ben, self.keep
        ana.command("Notes", "notes")
        keep("who-are-you", "Name that others see")
        ana.answer("Ana")
        keep("may-others-see-you", "May people on this network see you?")
        ana.yes()
        keep("no-notes-yet", "No notes yet", "Others see you as Ana")
        # A note.
        ana.type("+")
        ana.sees("Title:")
        ana.answer("Shopping", default=False)
        # The list has the note before its window opens, and what is typed until then would be keys of the list.
        ana.sees("/Shopping.md [note]" if ana.isVi else "(Text Note)", absent=["Title:"])
        ana.write("Bread\nOlives\nTea")
        keep("a-note", "Bread", "Tea")
        ana.command("Notes", "notes")
        keep("your-notes", "Your notes", "3 words")
        ana.type("?")
        keep("keys", "delete", "open")
        ana.type("q")
        # Sharing.
        ana.type("S")
        keep("a-ticket", "Anyone with this ticket can edit this note (one use)")
        # The terminal wraps nothing of it: the file that the plugin would have copied is asked from a shell.
        ticket = self.ticket()
        ben.command(f"NotesJoin {ticket}", "notes-join", ticket)
        ben.sees("Name that others see")
        ben.answer("Ben")
        ben.sees("May people on this network see you?")
        ben.yes()
        ben.sees("Bread")
        ben.hasText = True
        keep("somebody-joins", 'Ben joined "Shopping"')
        ana.command("NotesTicket", "notes-ticket")
        ana.command("Notes", "notes")
        keep("shared-and-in-it-now", "Ben", "In it now")
        ana.press("Enter")
        # A key that is pressed while the answer is awaited keeps the list where it is.
        ana.sees("Bread", "synced with Ben")
        ana.only()
        ana.sees("Bread", "synced with Ben")
        ben.write("Wine")
        keep("ben-types", "Wine", "Ben")

    def look_around(self):
        """People, carets, history, the lists."""
        ana, ben, keep = self.ana, self.ben, self.keep
        ana.command("NotesPeople", "notes-people")
        keep("people", "can edit", "in the note", "a changes access")
        ana.type("v")
        keep("verify", "Ben must see the same digits")
        ana.press(*(["q"] if self.kind == "vim" else ["C-x", "0"]))
        ana.only()
        ana.command("NotesPeople", "notes-people")
        ana.sees("can edit")
        ana.go(3)
        ana.type("a")
        keep("access", "can read" if self.kind == "vim" else "What may Ben do?")
        if self.kind == "vim":
            ana.press("j", "Enter")
        else:
            ana.type("r")
        keep("read-only", "Ben can read this note")
        ana.type("a")
        ana.sees("What may Ben do?" if self.kind == "emacs" else "nothing: stop sharing")
        ana.press("Enter" if self.kind == "vim" else "e")
        ana.sees("Ben can edit this note")
        ana.type("q")
        # Pointing and following.
        ben.go(2)
        ben.command("NotesPoint", "notes-point")
        keep("ben-points", "Ben points at line 2")
        ana.command("NotesGo Ben", "notes-go")
        ana.command("NotesFollow Ben", "notes-follow")
        keep("following", "Following")
        ana.press(*(["l"] if self.kind == "vim" else ["C-f"]))
        keep("stopped", "Stopped following")
        # History.
        ana.command("NotesHistory", "notes-history")
        keep("history", "What changed", "wrote: ")
        ana.type("d")
        keep("what-a-row-changed", "+Wine")
        ana.type("q")
        ana.only()
        self.visit("Shopping")
        ana.command("NotesBlame", "notes-blame")
        keep("blame", "Ben", "Ana")
        ana.command("NotesBlame", "notes-blame")
        ana.sees("Wine", "synced with")
        ana.command("NotesHistory", "notes-history")
        ana.sees("What changed")
        ana.go(3)
        ana.type("R")
        keep("restored", "Restored", "restored to")
        ana.type("q")
        ana.only()
        self.visit("Shopping")
        ana.press(*(["u"] if self.kind == "vim" else ["C-_"]))
        keep("undone", "Wine")
        # Away.
        ana.command("silent w | bdelete", "save-buffer")
        if self.kind == "emacs":
            ana.sees("Wrote")
            ana.command("", "kill-buffer", "Shopping.md")
        ana.command("Notes", "notes")
        ana.sees("Your notes")
        ben.write("Cheese")
        keep("unread", "* Shopping")
        ana.press("Enter")
        keep("while-you-were-away", "while you were away")
        ana.only()
        # Several notes.
        ana.command("NotesNew Tea", "notes-new", "Tea")
        ana.hasText = False
        ana.sees("Tea.md")
        ana.write("Green")
        ana.command("NotesNew Shopping", "notes-new", "Shopping")
        ana.sees("Shopping 2.md")
        ana.command("Notes", "notes")
        keep("equal-titles", "Shopping 2.md", "Tea.md")
        ana.go(2)
        ana.type("R")
        ana.sees("New title:")
        ana.answer("Wishes")
        keep("renamed", "Wishes", 'Renamed to "Wishes"')
        ana.type("D")
        keep("delete", 'Delete "Wishes"? Others keep theirs.')
        ana.yes("d")
        ana.sees("Deleted", absent=["  Wishes", "yes or no"])
        ana.type("U")
        keep("deleted-notes", "Deleted notes", "Wishes")
        ana.type("D")
        keep("delete-for-good", 'Delete "Wishes" and its history for good?')
        ana.yes("d")
        keep("gone-for-good", "for good", absent=["history for good?"])
        ana.type("q")
        ana.command("NotesFind green", "notes-find", "green")
        keep("found", "Green", "Tea.md")
        ana.only()

    def meet(self):
        """A meeting and its agenda, which others change; the name; the log."""
        ana, ben, keep = self.ana, self.ben, self.keep
        ana.command("NotesMeeting Weekly", "notes-meeting", "Weekly")
        keep("an-empty-meeting", "Weekly  Size", "No items yet")
        for item in ["Budget", "Hiring"]:
            ana.type("+")
            ana.sees("Title of the item:")
            ana.answer(item, default=False)
            ana.hasText = False
            ana.sees(f"{item}.md")
            ana.write(f"Minutes of {item}")
            ana.command("NotesAgenda", "notes-agenda")
            ana.sees("Weekly", item)
        keep("agenda", "1. Budget", "2. Hiring")
        ana.go(3)
        ana.type("K")
        keep("item-moved", "1. Hiring", "2. Budget")
        if self.kind == "neovim":
            return
        ana.command("NotesName Anna", "notes-name") if self.kind == "vim" else self.rename()
        keep("another-name", "Others see you as Anna")
        ana.command("NotesLog", "notes-log")
        keep("log", "Others see you as Anna")

    def rename(self):
        self.ana.command("", "notes-name")
        self.ana.sees("Name that others see")
        self.ana.answer("Anna")
        self.ana.sees("May people")
        self.ana.yes()

    def visit(self, title):
        """Shows a note that is open."""
        if self.kind == "vim":
            self.ana.command(f"buffer {title}.md", "")
        else:
            self.ana.command("", "switch-to-buffer", f"{title}.md")
        self.ana.only()
        self.ana.sees(f"{title}.md")


def play(kind, isShort=False):
    """Returns what went wrong, or nothing."""
    scenario = Scenario(kind, isShort)
    try:
        scenario.play()
        return None
    except (TimeoutError, AssertionError, OSError, subprocess.CalledProcessError) as problem:
        return f"{kind}: failed after step {scenario.count}: {problem}\nBen's screen:\n{scenario.ben.screen()}"
    finally:
        scenario.end()


def main():
    isShort = "--short" in sys.argv
    kinds = [word for word in sys.argv[1:] if word != "--short"] or (["vim", "emacs", "neovim"] if isShort else ["vim", "emacs"])
    problems = []
    if isShort:
        installed = [kind for kind in kinds if shutil.which("nvim" if kind == "neovim" else kind)]
        for kind in set(kinds) - set(installed):
            print(f"SKIPPED: the screens of {kind}, which is not installed")
        runs = [threading.Thread(target=lambda kind=kind: problems.append(play(kind, True))) for kind in installed]
        for run in runs:
            run.start()
        for run in runs:
            run.join()
    else:
        for kind in kinds:
            problems.append(play(kind))
    problems = [problem for problem in problems if problem]
    print("\n".join(problems) or "all steps were seen", file=sys.stderr if problems else sys.stdout)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
