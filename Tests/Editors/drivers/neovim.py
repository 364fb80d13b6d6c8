#!/usr/bin/env python3
"""Drives Neovim for the conformance table (Conformance.md)."""
import json
import os
import subprocess
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from drivers.terminal import root
from drivers.vi import ViDriver


class NeovimDriver(ViDriver):
    families = ("neovim", "vi")
    skips = {
        "others type while a letter to replace is asked for": "Neovim answers no driver while it waits for that letter",
        "others type between question and answer of a replacement": "Neovim answers no driver while it asks",
    }

    def start(self, step):
        plugin = root + "/editor-plugins/neovim"
        settings = self.folder + "/init.lua"
        with open(settings, "w", encoding="utf-8") as file:
            file.write(
                f"vim.opt.runtimepath:prepend({json.dumps(plugin)})\n"
                'vim.opt.shadafile, vim.opt.backup, vim.opt.writebackup, vim.opt.swapfile = "NONE", false, false, false\n'
                'vim.opt.more, vim.opt.foldmethod = false, "manual"\n'
                f"vim.g.notes_lsp_command = vim.json.decode([==[{json.dumps(step['service'])}]==])\n"
                f"vim.g.notes_lsp_name = {json.dumps(step['name'])}\n"
                f"vim.cmd('source {root}/Tests/Editors/drivers/driver.vim')\n")
        program = os.environ.get("NVIM_PROGRAM", "nvim")
        self.launch([program, "-u", settings, "-S", plugin + "/test/control.lua"])
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        number = version.split("\n")[0].split("v")[-1]
        if self.call("has('nvim-0.10')"):
            self.families = ("neovim-0.10", *self.families)
        return {"editor": "Neovim " + number, **self.abilities()}

    # Sent by the RPC that every user interface of Neovim uses: on a terminal, a key after an Escape would count as a
    # key with Alt.
    def keys(self, keys):
        self.ask(f"vim.api.nvim_input({json.dumps(keys, ensure_ascii=False)})")

    def call(self, function):
        return self.ask(f"vim.api.nvim_eval({json.dumps(function, ensure_ascii=False)})")

    def full_state(self):
        return self.ask("NotesTestState()")


if __name__ == "__main__":
    NeovimDriver().serve()
