#!/usr/bin/env python3
"""Two people in one note: Ana in Vim with the plugin, Ben in Helix with notes-lsp as a plain language server (OtherEditors.md).

Usage: helix.py [REGEX]        (only the scenes whose name matches; HELIX, VIM_PROGRAM and NOTES_LSP_BINARY name the programs)

Each scene starts both editors anew, types keys, and looks at Ben's screen and at Ana's buffer. Exit code 1 if a scene failed.
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from conformance import EditorDriver, Failure, binary, here, patience
from tmux import Tmux

# The settings of OtherEditors.md, with this binary.
settings = """[language-server.notes-lsp]
command = {command}
args = {arguments}
config = {{ applyEdits = true }}

[[language]]
name = "markdown"
language-servers = ["notes-lsp"]
"""


class Helix(Tmux):
    """Helix in a tmux of its own."""

    def __init__(self, folder, service, path):
        os.makedirs(folder + "/config/helix")
        quoted = [f"'{part}'" for part in service]
        with open(folder + "/config/helix/languages.toml", "w", encoding="utf-8") as file:
            file.write(settings.format(command=quoted[0], arguments=f"[{', '.join(quoted[1:])}]"))
        with open(folder + "/config/helix/config.toml", "w", encoding="utf-8") as file:
            file.write("[editor.lsp]\ndisplay-inlay-hints = true\ndisplay-messages = true\ndisplay-progress-messages = true\n")
        places = [f"HOME={folder}", f"XDG_CONFIG_HOME={folder}/config", f"XDG_CACHE_HOME={folder}/cache", "LC_ALL=C.UTF-8"]
        self.start(folder + "/helix.tmux", 100,
                   "env", *places, os.environ.get("HELIX", "hx"), "-v", "--log", folder + "/helix.log", path)


class Pair:
    """Ana's Vim and Ben's Helix with the note "Shopping", and further notes of Ben's."""

    def __init__(self, text, further=(), lacks_note=False):
        self.folder = tempfile.mkdtemp(prefix="notes-helix-")
        self.vim = self.helix = None
        try:
            self.open(text, further, lacks_note)
        except BaseException:
            self.end()
            raise

    def open(self, text, further, lacks_note):
        self.note = path = self.run("Ana", "new", "Shopping", "--stdin", text=text).strip()
        for title, words in further:
            self.run("Ben", "new", title, "--stdin", text=words)
        self.start_vim()
        ticket = self.run("Ana", "share", "Shopping").strip().split("\n")[0]
        joining = subprocess.Popen([*self.service("Ben")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.path = self.wait("Ben's copy", lambda: self.run("Ben", "join", ticket, check=False).strip())
        finally:
            joining.stdin.close()
            joining.wait(10)
        self.vim.do("command", command="messages clear")
        if lacks_note:
            self.vim.end()
            self.vim = None
            self.forget()
        self.helix = Helix(self.folder + "/Ben", self.service("Ben"), self.path)
        if not lacks_note:
            self.wait_for_ben()

    def start_vim(self):
        self.vim = EditorDriver([sys.executable, here + "/drivers/vim.py"], self.service("Ana"))
        self.vim.do("open", path=self.note)

    def forget(self):
        """Ben's store loses the document, but not the record of the note."""
        store = sqlite3.connect(f"{self.folder}/Ben/store/notes.db")
        (key,), = store.execute("SELECT key FROM item WHERE key LIKE 'joined/%'")
        store.execute("DELETE FROM item WHERE key LIKE ? || '%'", [key.split("/")[1]])
        store.commit()
        store.close()

    def wait_for_ben(self):
        """Helix shows the file before its language server has started."""
        self.wait("Ben's service", lambda: 'Ben opened "Shopping"' in self.vim.do("state")["messages"])

    def places(self, name):
        os.makedirs(f"{self.folder}/{name}/notes", exist_ok=True)
        return ["--home", f"{self.folder}/{name}/store", "--notes", f"{self.folder}/{name}/notes", "--name", name]

    def service(self, name):
        return [binary, *self.places(name), "--listen", "127.0.0.1:0", "--no-discovery", "--log", f"{self.folder}/{name}/log"]

    def run(self, name, command, *arguments, text="", check=True):
        """Runs a person's command in a shell."""
        return subprocess.run([binary, command, *self.places(name), *arguments], input=text, check=check, capture_output=True,
                              text=True).stdout

    def wait(self, what, condition):
        deadline = time.monotonic() + patience
        while not (value := condition()):
            if time.monotonic() > deadline:
                screen = self.helix.screen() if self.helix else ""
                raise Failure(f"waited in vain for {what}; Ben's screen:\n{screen}\nAna's Vim: {self.vim and self.vim.do('state')}")
            time.sleep(0.02)
        return value

    def shows(self, pattern):
        """Waits until Ben's screen shows this; ignores other people's carets unless the pattern names one."""
        def found():
            screen = self.helix.screen()
            return re.search(pattern, screen if "▏" in pattern else screen.replace("▏Ana", ""))
        return self.wait(f"{pattern!r} in Helix", found)

    def leave(self):
        """Returns to Normal mode without a picker. A key right after an Escape would count as a key with Alt."""
        self.helix.press("Escape")
        self.wait("Normal mode", lambda: re.search(r"(?m)^ NOR ", self.helix.screen()) and "│" not in self.helix.screen())

    def has(self, pattern):
        """Waits until Ana's buffer has this."""
        return self.wait(f"{pattern!r} in Vim", lambda: re.search(pattern, self.vim.do("state")["buffer"]))

    def end(self):
        for editor in (self.vim, self.helix):
            if editor:
                editor.end()
        shutil.rmtree(self.folder, ignore_errors=True)


# Scenes

def both_type(pair):
    pair.helix.type("geomilk")
    pair.leave()
    pair.has("milk")
    pair.vim.do("type", at="3:1", text="green ")
    pair.shows("green tea")
    pair.helix.type("o# By Ben, as Ana types")
    pair.vim.do("type", at="3:1", text="very ")
    pair.helix.press("Enter")
    pair.leave()
    pair.has("very green tea\n(.*\n)+milk\n# By Ben, as Ana types\n$")
    pair.shows("very.* green tea")


def keys_that_overtake_one_another(pair):
    """Many keys at once, which the terminal delivers together."""
    words = ["word%d" % number for number in range(60)]
    pair.helix.type("geo" + " ".join(words))
    pair.leave()
    pair.has(re.escape(" ".join(words)) + "\n$")
    pair.helix.type("gg")
    pair.vim.do("type", at="1:1", text="And ")
    pair.shows("And # Shopping")


def the_author_is_shown(pair):
    pair.helix.type("ggjj k")
    pair.shows(r"Ana, \d")


def a_caret_is_shown_after_a_change_and_the_next_key(pair):
    pair.vim.do("type", at="3:4", text=" bags")
    pair.shows("tea bags")
    pair.helix.type("j")
    pair.shows("tea bag▏Anas")


def what_ana_selects_can_be_selected(pair):
    pair.vim.do("select", **{"from": "3:1", "to": "3:4"})

    def is_selected():
        pair.helix.type("ge h")
        return re.search(r"1 sel +3:3", pair.helix.screen())

    pair.wait("Ana's selection", is_selected)


def links(pair):
    pair.helix.type("/Cake")
    pair.helix.press("Enter")
    pair.helix.type("gd")
    pair.shows(r"notes/Cake\.md")
    pair.helix.type("gggr")
    pair.shows(r"Shopping\.md:7")
    pair.leave()
    pair.helix.type("geo[[")
    pair.shows("Pie +reference")
    pair.leave()


def headings_and_notes(pair):
    pair.helix.type(" s")
    pair.shows("string +Later")
    pair.leave()
    pair.helix.type(" SDough")
    pair.shows("> .*Dough")
    pair.leave()


def a_renamed_note_keeps_its_links(pair):
    pair.helix.type("/Cake")
    pair.helix.press("Enter")
    pair.helix.type(" r")
    pair.shows("rename-to:Cake")
    pair.helix.press("BSpace", "BSpace", "BSpace", "BSpace")
    pair.helix.type("Torte")
    pair.helix.press("Enter")
    pair.shows("Links not updated")
    pair.wait("the new title", lambda: "Torte" in pair.run("Ben", "list"))


def an_invitation(pair):
    pair.run("Ana", "new", "Bread", "--stdin", text="flour\n")
    pair.run("Ana", "invite", "Bread", "Ben")
    pair.shows("Ana invites you")
    pair.helix.type(" a")
    pair.shows("Accept the invitation of Ana")
    pair.helix.press("Enter")
    pair.shows(r"The note is in .*Bread\.md")


def a_ticket(pair):
    pair.helix.type(" a")
    pair.shows("Share this note")
    pair.helix.press("Enter")
    pair.shows("Anyone with this ticket")


def a_note_that_is_still_being_opened(pair):
    pair.shows('Opening "Shopping".*waiting for Ana')
    pair.start_vim()
    pair.wait("the end of that", lambda: 'Opening "' not in pair.helix.screen())
    pair.vim.do("type", at="3:1", text="green ")
    pair.shows("green tea")


a_note_that_is_still_being_opened.lacks_note = True


def a_buffer_that_is_saved_and_reopened_while_ana_types(pair):
    pair.helix.type("geomilk")
    pair.vim.do("type", at="1:1", text="Our ")
    pair.helix.press("Escape")
    pair.helix.type(":write")
    pair.helix.press("Enter")
    pair.vim.do("type", at="3:1", text="green ")
    pair.helix.type(":buffer-close")
    pair.helix.press("Enter")
    pair.vim.do("type", at="3:1", text="very ")
    pair.helix.type(f":open {pair.path}")
    pair.helix.press("Enter")
    pair.shows("very green tea")
    pair.helix.type("geo# By Ben")
    pair.leave()
    pair.has("^Our # Shopping\n\nvery green tea\n\n## Later\n\nsee .*\nmilk\n# By Ben\n$")


scenes = [a_note_that_is_still_being_opened, a_buffer_that_is_saved_and_reopened_while_ana_types, both_type,
          keys_that_overtake_one_another, the_author_is_shown, a_caret_is_shown_after_a_change_and_the_next_key,
          what_ana_selects_can_be_selected, links, headings_and_notes, a_renamed_note_keeps_its_links, an_invitation, a_ticket]
text = "# Shopping\n\ntea\n\n## Later\n\nsee [[Cake]]\n"
further = [("Cake", "# Cake\n\n## Dough\n\napple, see [[Shopping]]\n"), ("Pie", "plum, see [[Cake]]\n")]


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    failed = 0
    for scene in scenes:
        if not re.search(wanted, scene.__name__):
            continue
        start, problem = time.monotonic(), ""
        try:
            pair = Pair(text, further, getattr(scene, "lacks_note", False))
            try:
                pair.shows("tea")
                scene(pair)
            finally:
                pair.end()
        except Failure as reason:
            failed += 1
            problem = f": {reason}"
        print(f"Helix: {'FAILED' if problem else 'passed'} {time.monotonic() - start:5.1f} s  "
              f"{scene.__name__.replace('_', ' ')}{problem}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
