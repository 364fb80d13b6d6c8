#!/usr/bin/env python3
"""Drives Vim for the conformance table (Conformance.md)."""
import os
import re
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from drivers.terminal import root
from drivers.vi import ViDriver

named = {"CR": "\r", "Esc": "\x1b", "Tab": "\t", "BS": "\x7f", "lt": "<", "F12": "\x1b[24~", "Up": "\x1b[A", "Down": "\x1b[B",
         "Right": "\x1b[C", "Left": "\x1b[D", "Space": " "}


def raw(keys):
    """Keys in the notation of mappings as a terminal sends them."""
    def one(found):
        name = found.group(1)
        if name in named:
            return named[name]
        return chr(ord(name[-1].upper()) & 0x1f)
    return re.sub(r"<(CR|Esc|Tab|BS|lt|F12|Up|Down|Right|Left|Space|C-.)>", one, keys).encode()


class VimDriver(ViDriver):
    families = ("vim", "vi")

    def start(self, step):
        plugin = root + "/editor-plugins/vim"
        settings = self.folder + "/vimrc"
        command = ", ".join("'" + part.replace("'", "''") + "'" for part in step["service"])
        with open(settings, "w", encoding="utf-8") as file:
            file.write(
                "set nocompatible encoding=utf-8 noswapfile nobackup nowritebackup shortmess+=I nomore hidden\n"
                "set ttimeout ttimeoutlen=20 foldmethod=manual\n"
                f"set runtimepath^={plugin}\nlet g:notes_lsp_command = [{command}]\nlet g:notes_lsp_name = '{step['name']}'\n"
                f"source {root}/Tests/Editors/drivers/driver.vim\n")
        program = os.environ.get("VIM_PROGRAM", "vim")
        self.launch([program, "-N", "-u", settings, "-i", "NONE", "-S", plugin + "/test/control.vim"])
        version = self.call("v:versionlong")
        return {"editor": f"Vim {version // 1000000}.{version // 10000 % 100}.{version % 10000}", **self.abilities()}

    def keys(self, keys):
        self.terminal.type(raw(keys))

    def call(self, function):
        return self.ask(function, sign=-1)

    def full_state(self):
        return self.call("NotesTestState()")


if __name__ == "__main__":
    VimDriver().serve()
