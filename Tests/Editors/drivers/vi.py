"""The common part of Vim and Neovim: every step as the keys of Normal mode."""
import re

from .terminal import Driver, place

normal = "<C-\\><C-n>"


def literal(text):
    """Text to type, in the notation of mappings."""
    return text.replace("<", "<lt>").replace("\n", "<CR>").replace("\t", "<Tab>")


class ViDriver(Driver):
    cannot = {"narrow": "Vim and Neovim cannot narrow a buffer"}

    def keys(self, keys):
        """Types keys in the notation of mappings."""
        raise NotImplementedError

    def call(self, function):
        """The value of an expression of Vim script."""
        raise NotImplementedError

    def press_and_wait(self, keys):
        before = self.call("g:driver_keys")
        self.keys(keys)
        self.keys("<F12>")
        self.wait("the keys to be dealt with", lambda: self.call("g:driver_keys") > before)

    def ex(self, command):
        self.press_and_wait(f"{normal}:{literal(command)}<CR>")

    def go(self, where):
        line, column = place(where)
        self.ex(f"call setcursorcharpos({line}, {column})")

    def is_behind_line(self, where):
        line, column = place(where)
        return column > self.call(f"strchars(getline({line}))")

    def open(self, step):
        self.ex("silent! only | messages clear")
        self.ex(f"silent edit {step['path'].replace(' ', chr(92) + ' ')}")
        self.wait("the note to be attached", lambda: self.call("get(get(b:, 'notes_lsp', {}), 'synced', 0)"))

    def move(self, step):
        self.go(step["to"])

    def type(self, step):
        keys = literal(step["text"])
        if "at" in step:
            begin = "A" if self.is_behind_line(step["at"]) else "i"
            self.go(step["at"])
            keys = begin + keys
        elif not self.call("mode()").startswith("i"):
            keys = "i" + keys
        self.press_and_wait(keys)
        if not step.get("hold"):
            self.finish(step)

    def finish(self, step):
        self.keys("<Esc>")
        self.wait("Normal mode", lambda: self.call("mode(1)") == "n")

    def select(self, step):
        first, last = place(step["from"]), place(step["to"])
        self.ex(f"call DriverSelect({first[0]}, {first[1]}, {last[0]}, {last[1]})")

    def delete(self, step):
        self.select(step)
        self.press_and_wait("d")

    def replace(self, step):
        self.select(step)
        self.press_and_wait("c" + literal(step["text"]))
        self.finish(step)

    def delete_line(self, step):
        self.go(f"{step['line']}:1")
        self.press_and_wait("dd")

    def join_lines(self, step):
        self.go(f"{step['line']}:1")
        self.press_and_wait("J")

    def replace_all(self, step):
        def escaped(text):
            return text.replace("\\", "\\\\").replace("/", "\\/")
        self.ex(f"silent %s/\\V{escaped(step['from'])}/{escaped(step['to'])}/g")

    def paste(self, step):
        behind = self.is_behind_line(step["at"])
        self.call(f"setreg('\"', {vim_string(step['text'])}, 'c')")
        self.go(step["at"])
        self.press_and_wait("p" if behind else "P")

    def undo(self, step):
        self.press_and_wait("u")

    def redo(self, step):
        self.press_and_wait("<C-r>")

    def save(self, step):
        self.ex("silent write")

    def fold(self, step):
        self.ex(f"{step['from']},{step['to']}fold")

    def unfold(self, step):
        self.press_and_wait("zR")

    def split(self, step):
        self.ex("split")

    def look(self, step):
        self.wait(f"{step['for']!r} on the screen", lambda: re.search(step["for"], self.call("DriverScreen()")))

    def held(self, step):
        self.wait("an edit that is held back", lambda: self.full_state()["queue"] > 0)

    def press(self, step):
        keys = step["keys"]
        if step.get("pending"):
            self.keys(keys)
            self.wait("the keys to be dealt with", lambda: re.match(step["pending"], self.call("mode(1)")))
        else:
            self.press_and_wait(keys)
            if keys.endswith("<Esc>"):
                self.wait("Normal mode", lambda: self.call("mode(1)") == "n")

    def command(self, step):
        self.ex(step["command"])

    def close(self, step):
        self.press_and_wait(normal + ":silent! only<CR>:silent! %bwipeout!<CR>")

    def full_state(self):
        raise NotImplementedError

    def state(self, step):
        buffer = self.full_state()
        state = self.call("DriverState()")
        state.update(buffer=buffer["text"], synced=buffer["synced"])
        return state


def vim_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
