#!/usr/bin/env python3
"""Two people who have just installed the packages: from an empty Vim and an empty Emacs to one note in which both type.

Usage: newcomers.py ROOT       (ROOT: a Debian with the packages, and the people ana and ben; needs root for chroot)

They do what the README says and answer what they are asked. After each step the screen of the person who did it, 80 x 24 without
colours, is kept as newcomers/NN-name.txt beside this script. Prints the seconds from the start of the editors to the moment when each has
seen what the other typed; more than two minutes are a failure.
"""
import os
import re
import shlex
import shutil
import sys
import tempfile
import time

from play import Editor, here, stable

most_seconds = 120
kept = here + "/newcomers"


class Newcomer(Editor):
    """An editor of a person in the other Debian, with that person's settings and nothing else."""

    def __init__(self, kind, name, folder, root):
        self.kind, self.name, self.isVi = kind, name, kind == "vim"
        start = "LC_ALL=C.UTF-8 TZ=UTC " + ("vim" if self.isVi else "emacs")
        command = ["chroot", root, "env", "-i", "TERM=screen-256color", "PATH=/usr/bin:/bin", "su", "-", name, f"--session-command={start}"]
        self.start(f"{folder}/{name}.tmux", 80, shlex.join(command))


class Meeting:
    def __init__(self, folder, root):
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(kept)
        self.count = 0
        self.ana = Newcomer("vim", "ana", folder, root)
        self.ben = Newcomer("emacs", "ben", folder, root)

    def keep(self, person, name, *texts, absent=()):
        screen = person.sees(*texts, absent=absent)
        self.count += 1
        with open(f"{kept}/{self.count:02}-{name}.txt", "w") as file:
            file.write(stable(screen))
        return screen

    def play(self):
        ana, ben, keep = self.ana, self.ben, self.keep
        keep(ana, "ana-starts-vim", "VIM")
        ana.command("NotesNew Shopping", "")
        keep(ana, "ana-is-asked-for-her-name", "Name that others see")
        ana.answer("Ana")
        ana.sees("May people on this network see you?")
        ana.yes()
        keep(ana, "ana-has-a-note", "Shopping.md", absent=["May people"])
        ana.write("Bread")
        ana.command("NotesShare", "")
        screen = keep(ana, "ana-has-a-ticket", "Anyone with this ticket can edit this note", "notes-lsp:")
        ticket = re.search(r"notes-lsp:[a-z0-9]+(\n[a-z0-9]{4,})*", screen)[0].replace("\n", "")
        keep(ben, "ben-starts-emacs", "GNU Emacs")
        ben.command("", "notes-join")
        keep(ben, "ben-is-asked-for-the-ticket", "icket")
        ben.type(ticket)
        ben.press("Enter")
        keep(ben, "ben-is-asked-for-his-name", "Name that others see")
        ben.answer("Ben")
        ben.sees("May people on this network see you?")
        ben.yes()
        keep(ben, "ben-has-the-note", "Bread", "Shopping")
        keep(ana, "ana-sees-ben-join", 'Ben joined "Shopping"')
        ana.command("NotesTicket", "")
        ben.hasText = True
        ben.write("Olives, says Ben")
        keep(ana, "ana-sees-ben-type", "Olives, says Ben")
        ana.write("Tea, says Ana")
        keep(ben, "ben-sees-ana-type", "Tea, says Ana", "synced with Ana")


def main():
    folder = tempfile.mkdtemp(prefix="notes-newcomers")
    start = time.monotonic()
    meeting = Meeting(folder, sys.argv[1])
    try:
        meeting.play()
    finally:
        meeting.ana.end()
        meeting.ben.end()
        shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - start
    print(f"{seconds:.0f} s from two empty editors to one note in which both type; {meeting.count} screens are kept")
    sys.exit(seconds > most_seconds)


if __name__ == "__main__":
    main()
