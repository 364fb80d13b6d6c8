"""Editors in terminals whose every output has a time, for screen_bench.py."""
import atexit
import glob
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import pyte

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, root + "/Tests/Editors")
from drivers import terminal  # noqa: E402
from drivers.emacs import EmacsDriver  # noqa: E402
from drivers.neovim import NeovimDriver  # noqa: E402
from drivers.vim import VimDriver  # noqa: E402

environment = {"TERM": "screen-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


class TimedTerminal(terminal.Terminal):
    """Keeps everything that is drawn, each piece with the nanosecond at which it was read."""

    def __init__(self, command, variables):
        self.pieces = []
        super().__init__(command, variables)

    def _read(self):
        try:
            while drawn := os.read(self.file, 65536):
                self.pieces.append((time.monotonic_ns(), drawn))
                self.drawn = (self.drawn + drawn)[-4000:]
        except OSError:
            pass

    def processor_seconds(self):
        """What the program has used so far, in all its threads, in itself and in the system."""
        with open(f"/proc/{self.process}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_until_still(self, seconds=0.3):
        """Until it has drawn something, and then nothing for a while."""
        while not self.pieces or time.monotonic_ns() - self.pieces[-1][0] < seconds * 1e9:
            time.sleep(0.05)


class Screen:
    """What a terminal showed, replayed piece by piece after everything is over, so that looking costs the editors nothing."""

    def __init__(self, pieces):
        self.pieces = pieces
        self.screen = pyte.Screen(terminal.columns, terminal.rows)
        self.stream = pyte.ByteStream(self.screen)
        self.read = 0

    def feed(self):
        when, drawn = self.pieces[self.read]
        self.stream.feed(drawn)
        self.read += 1
        return when

    def has(self, row, column, letter):
        return self.screen.buffer[row][column].data == letter

    def rows_with(self, text):
        return [row for row, line in enumerate(self.screen.display) if line.startswith(text)]


def compile_plugin():
    """Lets Emacs use a compiled plugin, which is what `make install` makes of it."""
    folder = tempfile.mkdtemp(prefix="notes-screen-emacs-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(EmacsDriver.plugin, folder, dirs_exist_ok=True)
    EmacsDriver.plugin = folder
    subprocess.run(["emacs", "-Q", "--batch", "-L", folder, "-f", "batch-byte-compile", *glob.glob(folder + "/*.el")],
                   capture_output=True, check=True)


class Editor:
    """One person's editor with the plugin, a service, a home and a folder of notes of its own."""

    drivers = {"vim": VimDriver, "neovim": NeovimDriver, "emacs": EmacsDriver}

    def __init__(self, kind, name, program, before=(), port=0):
        self.kind, self.name, self.program = kind, name, program
        self.folder = tempfile.mkdtemp(prefix="notes-screen-")
        self.notes = self.folder + "/notes"
        os.mkdir(self.notes)
        service = [*before, program, "--home", self.folder + "/home", "--notes", self.notes, "--name", name,
                   "--listen", f"127.0.0.1:{port}", "--no-discovery"]
        os.environ.update(NOTES_HOME=self.folder + "/home", NOTES_DIR=self.notes)
        self.driver = self.drivers[kind]()
        self.driver.start({"service": service, "name": name})
        self.terminal = self.driver.terminal

    def give(self, command, lisp):
        if self.kind == "emacs":
            self.driver.do(lisp)
        else:
            self.driver.ex(command)

    def is_synced(self):
        if self.kind == "emacs":
            return self.driver.lisp("(cdr (assq 'synced (notes-test-state)))") is True
        return self.driver.call("get(get(b:, 'notes_lsp', {}), 'synced', 0)") in (1, True)

    def text(self):
        if self.kind == "emacs":
            return self.driver.lisp("(cdr (assq 'text (notes-test-state)))")
        return self.driver.full_state()["text"]

    def wait_until_synced(self):
        self.driver.wait("the note", self.is_synced)

    def open(self, text):
        made = subprocess.run(
            [self.program, "new", "--home", self.folder + "/home", "--notes", self.notes, "--name", self.name, "Screen", "--stdin"],
            input=text, capture_output=True, text=True, check=True)
        path = made.stdout.strip()
        self.give(f"silent edit {path}", f'(find-file "{path}")')
        self.wait_until_synced()

    def share(self):
        """Shares the note, and returns the ticket."""
        self.give("NotesShare", "(call-interactively #'notes-share)")

        def killed():
            if self.kind == "emacs":
                return self.driver.lisp('(if kill-ring (substring-no-properties (car kill-ring)) "")')
            return self.driver.call("getreg('\"')")
        self.driver.wait("the ticket", lambda: killed().startswith("notes-lsp:"))
        return killed().strip()

    def join(self, ticket):
        self.give(f"NotesJoin {ticket}", f'(notes-join "{ticket}")')
        self.wait_until_synced()

    def alone(self):
        """One window on the note, and nothing beside it."""
        if self.kind == "neovim" and self.driver.ask("vim.b.notes_lsp_view") == "Notes ticket":
            self.driver.ex("normal q")
        self.give("silent! only", "(delete-other-windows)")

    def begin(self, line):
        """Ready to type at the beginning of a line."""
        self.driver.go(f"{line}:1")
        if self.kind != "emacs":
            self.driver.keys("i")
            self.driver.wait("Insert mode", lambda: self.driver.call("mode()") == "i")

    def rest(self, line):
        """Back to a line, with nothing half typed."""
        if self.kind != "emacs":
            self.driver.keys("<Esc>")
            self.driver.wait("Normal mode", lambda: self.driver.call("mode(1)") == "n")
        self.driver.go(f"{line}:1")

    def end(self):
        self.terminal.end()
        shutil.rmtree(self.driver.folder, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class BareEditor:
    """The same program on a plain file, without the plugin and without anything else of ours."""

    def __init__(self, kind, text):
        self.kind = kind
        self.folder = tempfile.mkdtemp(prefix="notes-screen-")
        path, settings = self.folder + "/Screen.md", self.folder + "/settings"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with open(settings, "w", encoding="utf-8") as file:
            file.write("set nocompatible encoding=utf-8 noswapfile nobackup nowritebackup shortmess+=I nomore hidden\n"
                       "set ttimeout ttimeoutlen=20 foldmethod=manual\n" if kind != "emacs" else
                       "(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil)\n")
        command = {
            "vim": ["vim", "-N", "-u", settings, "-i", "NONE", path],
            "neovim": ["nvim", "-u", settings, "-i", "NONE", path],
            "emacs": ["emacs", "-nw", "--no-site-file", "--no-site-lisp", "--no-splash", "-l", settings, path],
        }[kind]
        self.terminal = TimedTerminal(command, {**environment, "HOME": self.folder})
        self.terminal.wait_until_still()

    def begin(self):
        """Ready to type at the beginning of the first line."""
        if self.kind != "emacs":
            self.terminal.type(b"ggi")
        self.terminal.wait_until_still()

    def end(self):
        self.terminal.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start_reading_with_times():
    terminal.Driver.terminal_class = TimedTerminal
