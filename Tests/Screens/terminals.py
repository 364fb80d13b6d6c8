#!/usr/bin/env python3
"""Another person's caret on terminals with few colours or none, in all three editors.

Usage: terminals.py [vim] [emacs] [neovim]       (NOTES_LSP_BINARY: the program; else .build/debug/notes-lsp)

Ben's caret stands in the middle of the second line of Ana's note, and then below the lines that she sees. What her terminal gets
is kept as terminals/EDITOR-TERMINAL.txt beside this script: {...} names the attributes of what follows. A caret without a mark, or
a name in another colour than in the other editors, ends the run with exit code 1. Neovim sends 256 colours whatever TERM says.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from play import Editor, here, root

kept = here + "/terminals"
dark = {"vim": "set background=dark", "neovim": "set background=dark", "emacs": "(setq frame-background-mode 'dark)"}
light = {"vim": "set background=light", "neovim": "set background=light", "emacs": "(setq frame-background-mode 'light)"}
# Name, TERM, settings.
terminals = [("vt100", "vt100", light), ("xterm-mono", "xterm-mono", light), ("xterm", "xterm", light), ("xterm-dark", "xterm", dark),
             ("16-colours", "xterm", {"vim": "set t_Co=16 background=light"}), ("256-light", "screen-256color", light),
             ("256-dark", "screen-256color", dark)]
basic = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]


def named(codes):
    """What an escape sequence with these numbers sets, in words."""
    words, numbers = [], [int(code or 0) for code in codes.split(";")]
    while numbers:
        number = numbers.pop(0)
        if number in (38, 48) and numbers[:1] == [5]:
            words.append(f"{'on ' if number == 48 else ''}{numbers[1]}")
            del numbers[:2]
        elif number == 0:
            words = ["plain"]
        elif number in (1, 3, 4, 7):
            words.append({1: "bold", 3: "italic", 4: "underlined", 7: "reversed"}[number])
        elif number // 10 in (3, 4, 9, 10) and number % 10 < 8:
            words.append(("on " if number // 10 in (4, 10) else "") + ("bright " if number >= 90 else "") + basic[number % 10])
        elif number in (39, 49):
            words.append("usual" if number == 39 else "on usual")
    return "{" + ", ".join(words) + "}"


def attributed(editor, lines):
    screen = editor.tmux("capture-pane", "-p", "-e").split("\n")
    return [merged(re.sub(r"\x1b\[([0-9;]*)m", lambda it: named(it[1]), screen[line]).rstrip()) for line in lines]


def merged(line):
    """One group of attributes at a place, without those of no attribute; none at the end."""
    def words(it):
        every = [word for word in re.sub(r"[{}]+", ", ", it[0]).strip(", ").split(", ") if word not in ("usual", "on usual")]
        return "{" + (", ".join(every) or "plain") + "}"
    return re.sub(r"(\{plain\})?$", "", re.sub(r"(\{[^}]*\})+", words, line))


class Company:
    """Ana, in one editor and terminal after the other, and Ben."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="notes-terminals")
        self.ben = Editor("emacs", "Ben", self.folder, setting="(setq notes-lsp-color 3)")
        self.name_of(self.ben)
        self.ben.command("", "notes-new", "Plan")
        self.ben.sees("(Text Note)")
        self.ben.write("\n".join(["one", "a line of Ben"] + [f"line {number}" for number in range(3, 60)]))
        self.has_joined = False

    def name_of(self, editor):
        editor.sees("[No Name]" if editor.isVi else "*scratch*")
        editor.command(f"NotesName {editor.name}", "notes-name")
        if not editor.isVi:
            editor.sees("Name that others see")
            editor.answer(editor.name)
        editor.sees("May people on this network see you?")
        editor.yes()
        editor.sees("Others see you as " + editor.name)

    def show(self, kind, name, terminal, settings):
        ana = Editor(kind, "Ana", self.folder, terminal, settings.get(kind, ""))
        try:
            # Emacs takes the terminal's answers to its questions for keys if others come first.
            ana.sees("[No Name]" if ana.isVi else "*scratch*")
            time.sleep(1)
            if self.has_joined:
                ana.command("NotesOpen Plan", "notes-open")
                if not ana.isVi:
                    ana.sees("Note:")
                    ana.answer("Plan", default=False)
            else:
                self.name_of(ana)
                self.ben.command("", "notes-share")
                self.ben.sees("Ticket copied")
                ticket = os.popen(f"{self.program()} share Plan --home {self.ben.home}/store --notes {self.ben.home}/notes").read().strip()
                ana.command(f"NotesJoin {ticket}", "notes-join", ticket)
                self.has_joined = True
            ana.sees("a line of Ben", "synced with Ben")
            self.ben.command("", "goto-line", "2")
            self.ben.press("C-a", "M-f")
            ana.sees("a line of Ben" + ("  Ben" if kind == "neovim" else " Ben"))
            time.sleep(0.5)
            marked = attributed(ana, [1])
            self.ben.press("M->")
            arrow = "Ben\u2193"
            ana.sees(arrow)
            line = next(line for line in ana.screen().split("\n") if arrow in line)
            with open(f"{kept}/{kind}-{name}.txt", "w") as file:
                file.write("\n".join(marked + [re.sub(r"/\S*/Ana/", "~/", line)]) + "\n")
            # What stands at the caret, behind "a", and the colour of the name.
            caret = re.search(r"a\{([^}]*)\} ", marked[0])
            color = re.search(r"\{([^}]*)\} *Ben$", marked[0])
            print(f"{kind} {name}: caret {caret and caret[1]}; name {color and color[1]}", flush=True)
            return caret and caret[1], color and color[1]
        finally:
            ana.end()
            time.sleep(1)

    def program(self):
        from play import binary
        return binary

    def end(self):
        self.ben.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def highlights(background):
    """Vim's groups for the first persons, as `:highlight` shows them, with the colours of a graphical Vim."""
    path = f"{kept}/vim-highlight-{background}.txt"
    groups = [f"Notes{part}{number}" for number in range(3) for part in ("Caret", "Name", "Selection")]
    shown = " .. ".join(f"execute('highlight {group}')" for group in groups)
    subprocess.run(["vim", "-es", "-Nu", "NONE", "-i", "NONE", "--cmd", f"set runtimepath^={root}/editor-plugins/vim t_Co=256",
                    "-c", f"set background={background}", "-c", "call notes_lsp#presence#DefineHighlights()",
                    "-c", f"call writefile(split({shown}, '\\n'), '{path}')", "-c", "qall!"], check=True, stdin=subprocess.DEVNULL)
    with open(path) as file:
        return file.read()


def main():
    kinds = sys.argv[1:] or ["vim", "emacs", "neovim"]
    os.makedirs(kept, exist_ok=True)
    company, problems = Company(), []
    try:
        for name, terminal, settings in terminals:
            found = {kind: company.show(kind, name, terminal, settings) for kind in kinds if not (name == "16-colours" and kind != "vim")}
            problems += [f"{kind} {name}: no mark" for kind, (caret, _) in found.items() if not caret]
            colors = {number for _, color in found.values() for number in re.findall(r"\d+", color or "")}
            if name.startswith("256") and len(colors) != 1:
                problems.append(f"{name}: colours differ: {colors}")
        if "vim" in kinds:
            problems += [f"no colours for {background}" for background in ["light", "dark"] if "guibg=#" not in highlights(background)]
    finally:
        company.end()
    print("\n".join(problems) or "each caret has a mark")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
