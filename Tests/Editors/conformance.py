#!/usr/bin/env python3
"""Runs the table of Tests/Editors/cases with real editors, and prints which rows passed, failed or were skipped, and why.

Usage: conformance.py [vim] [neovim] [emacs] [all] [--driver 'COMMAND…'] [--rows REGEX] [--quiet]

Each row is a note of its own, shared by Ben, whose buffer is a model; Ana has it in the editor that a driver drives. A driver is
a program that takes a JSON object a line and answers with one: Conformance.md has the rows and the steps.
NOTES_LSP_BINARY names the service; else it is .build/debug/notes-lsp. Exit code 1 if a row failed.
"""
import argparse
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from remote import Buffer, Service

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
binary = os.environ.get("NOTES_LSP_BINARY", root + "/.build/debug/notes-lsp")
# How long an editor may take to reach the state of a row, in seconds; only a row that fails waits that long.
patience = float(os.environ.get("NOTES_PATIENCE", "60"))
own_drivers = ["vim", "neovim", "emacs"]
members_of_steps = {
    "remote": ["at", "from", "to", "text", "unseen"], "remote-caret": ["at", "from", "to"], "slow": [], "quick": [], "settle": [],
    "write-file": ["text"], "expect": [], "move": ["to"], "type": ["at", "text", "hold"], "finish": [], "select": ["from", "to"],
    "delete": ["from", "to"], "replace": ["from", "to", "text"], "delete-line": ["line"], "join-lines": ["line"],
    "replace-all": ["from", "to"], "paste": ["at", "text"], "undo": [], "redo": [], "save": [], "fold": ["from", "to"], "unfold": [],
    "narrow": ["from", "to"], "widen": [], "split": [], "press": ["keys", "pending"], "command": ["command"],
    "look": ["for"], "held": [],
}
checked = ["buffer", "caret", "selection", "top", "modified", "windows", "file", "line", "shown"]


class Failure(Exception):
    """A row failed; the message says how the editor differs."""


class Skip(Exception):
    """This editor's driver cannot run a row; the message says why."""


def load():
    """All rows, in the order of the files' names."""
    rows = []
    for path in sorted(glob.glob(here + "/cases/*.json")):
        with open(path, encoding="utf-8") as file:
            for row in json.load(file):
                rows.append({"topic": os.path.basename(path), **row})
    names = [row["row"] for row in rows]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f"two rows are called {name!r}")
    return rows


def problems(row):
    """The mistakes in a row, found without an editor: a misspelt member would check nothing."""
    expected = {*checked, "document", "says", "silent", "seen", "file-text"}
    for name in row.keys() - expected - {"row", "topic", "text", "steps"}:
        yield f"nothing checks {name!r}"
    for name in {"text", "steps", "buffer"} - row.keys():
        yield f"it has no {name!r}"
    for step in row.get("steps", []):
        members = members_of_steps.get(step.get("do"))
        if members is None:
            yield f"there is no step {step.get('do')!r}"
        elif wrong := step.keys() - {"do", *members, *(expected if step["do"] == "expect" else ())}:
            yield f"the step {step['do']!r} has no {sorted(wrong)}"


class EditorDriver:
    """A driver process, from the runner's side."""

    def __init__(self, command, service):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started = self.do("start", service=service, name="Ana")
        self.editor = started["editor"]
        self.families = started.get("families", [])
        self.cannot, self.skips = started.get("cannot", {}), started.get("skips", {})

    def do(self, verb, **step):
        self.process.stdin.write(json.dumps({"do": verb, **step}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the driver has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(f"{verb}: {answer['error']}")
        return answer

    def own(self, values):
        """The member of a row that has a value for each editor, for this one."""
        if not isinstance(values, dict):
            return values
        for family in [*self.families, "else"]:
            if family in values:
                return values[family]
        raise Skip("the row has nothing for this editor")

    def end(self):
        try:
            self.process.stdin.write('{"do": "quit"}\n')
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()


class Session:
    """Ana's editor, and Ben's service."""

    def __init__(self, driver_command, rows):
        self.folder = tempfile.mkdtemp(prefix="notes-conformance-")
        self.buffer = None
        self.driver = None
        self.ben = Service(self.command("Ben"), "Ben", self.receive)
        try:
            self.notes = self.share(rows)
            self.driver = EditorDriver(driver_command, self.command("Ana"))
        except BaseException:
            self.end()
            raise

    def share(self, rows):
        """A note of Ben's for each row, with his buffer and Ana's file; she has joined it before her editor starts."""
        ana = Service(self.command("Ana"), "Ana", lambda method, params: None)
        notes = {}
        for number, row in enumerate(rows, 1):
            note = self.ben.request("notes/create", {"title": f"Row {number}", "text": row["text"]})
            ticket = self.ben.request("notes/share", {"id": note["id"], "uses": 1})["ticket"]
            notes[row["row"]] = Buffer(self.ben, note), ana.request("notes/join", {"ticket": ticket})["path"]
            self.ben.take_all()
        ana.request("shutdown", None)
        ana.notify("exit", None)
        ana.end()
        return notes

    def command(self, name):
        os.makedirs(f"{self.folder}/{name}/notes", exist_ok=True)
        return [binary, *self.places(name), "--listen", "127.0.0.1:0", "--no-discovery", "--log", f"{self.folder}/{name}/log"]

    def places(self, name):
        return ["--home", f"{self.folder}/{name}/store", "--notes", f"{self.folder}/{name}/notes"]

    def receive(self, method, params):
        if self.buffer:
            self.buffer.receive(method, params)

    def end(self):
        if self.driver:
            self.driver.end()
        self.ben.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    # One row

    def check(self, row):
        """Runs a row; raises Failure or Skip."""
        driver = self.driver
        if row["row"] in driver.skips:
            raise Skip(driver.skips[row["row"]])
        steps = [{key: driver.own(value) for key, value in step.items()} for step in row["steps"]]
        for step in steps:
            if step["do"] in driver.cannot:
                raise Skip(driver.cannot[step["do"]])
        self.buffer, self.path = self.notes[row["row"]]
        try:
            self.open()
            self.settle()
            for number, step in enumerate(steps, 1):
                try:
                    self.step(step)
                except Failure as problem:
                    raise Failure(f"step {number} ({step['do']}): {problem}") from None
            self.settle()
            self.expect({key: driver.own(value) for key, value in row.items() if key not in ("row", "topic", "text", "steps")})
            if self.buffer.complaints:
                raise Failure(self.buffer.complaints[0])
        finally:
            self.buffer.hold(False)
            self.buffer = None
            driver.do("close")

    def open(self):
        """Opens the row's note. In Emacs this fails once in some hundred rows for an unknown reason: prints that, and tries once more."""
        try:
            self.driver.do("open", path=self.path)
        except Failure as problem:
            print(f"{self.driver.editor}: opened at the second attempt: {problem}", file=sys.stderr)
            self.driver.do("close")
            self.driver.do("open", path=self.path)

    def step(self, step):
        verb = step["do"]
        buffer = self.buffer
        if verb == "remote":
            if not buffer.is_held and not step.get("unseen"):
                self.settle()
            start = step.get("at", step.get("from"))
            buffer.edit(start, step.get("to", start), step.get("text", ""))
            if not buffer.is_held and not step.get("unseen"):
                self.settle()
        elif verb == "remote-caret":
            self.settle()
            buffer.move(step.get("from", step.get("at")), step.get("to", step.get("at")))
        elif verb == "slow":
            self.settle()
            buffer.hold(True)
        elif verb == "quick":
            buffer.hold(False)
        elif verb == "settle":
            self.settle()
        elif verb == "write-file":
            with open(self.path, "w", encoding="utf-8", newline="") as file:
                file.write(step["text"])
            self.wait_for(lambda: self.buffer.text == step["text"], lambda: f"Ben has {self.buffer.text!r}")
            self.settle()
        elif verb == "expect":
            self.expect(step)
        else:
            self.driver.do(**{"verb": verb, **{key: value for key, value in step.items() if key != "do"}})

    def wait_for(self, condition, say):
        deadline = time.monotonic() + patience
        while True:
            self.ben.take_all()
            if condition():
                return
            if time.monotonic() > deadline:
                raise Failure(say())
            self.ben.take(0.004)

    def settle(self):
        """Waits until both have the same text, and no change is on its way."""
        state = {}

        def is_settled():
            state.update(self.driver.do("state"))
            return state["synced"] and state["buffer"] == self.buffer.text

        self.wait_for(is_settled, lambda: f"the editor has {state['buffer']!r} (synced: {state['synced']}),"
                                          f" Ben has {self.buffer.text!r}")

    def expect(self, expected):
        """Waits until editor, file and document are as the row expects."""
        wrong = []

        def is_right():
            state = self.driver.do("state")
            wrong.clear()
            for key in checked:
                if key in expected and state.get(key) != expected[key]:
                    wrong.append(f"{key} is {state.get(key)!r}, not {expected[key]!r}")
            document = expected.get("document", expected.get("buffer"))
            if document is not None and "unseen" not in expected and self.buffer.text != document:
                wrong.append(f"Ben has {self.buffer.text!r}, not {document!r}")
            if "says" in expected and not re.search(expected["says"], state["messages"]):
                wrong.append(f"nothing says {expected['says']!r}: {state['messages'][-300:]!r}")
            if "silent" in expected and re.search(expected["silent"], state["messages"]):
                wrong.append(f"something says {expected['silent']!r}: {state['messages'][-300:]!r}")
            if "seen" in expected and self.buffer.caret_of("Ana") != expected["seen"]:
                wrong.append(f"Ben sees Ana's caret at {self.buffer.caret_of('Ana')}, not {expected['seen']}")
            if "file-text" in expected:
                with open(self.path, encoding="utf-8", newline="") as file:
                    text = file.read()
                if text != expected["file-text"]:
                    wrong.append(f"the file has {text!r}, not {expected['file-text']!r}")
            return not wrong

        self.wait_for(is_right, lambda: "; ".join(wrong))


def run(driver_command, rows, show):
    """The editor's name, and by row its result: '' if it passed, else a word and a reason."""
    session = Session(driver_command, rows)
    results = {}
    try:
        for row in rows:
            start = time.monotonic()
            try:
                session.check(row)
                results[row["row"]] = ("passed", "")
            except Skip as reason:
                results[row["row"]] = ("skipped", str(reason))
            except Failure as reason:
                results[row["row"]] = ("FAILED", str(reason))
            show(session.driver.editor, row, *results[row["row"]], time.monotonic() - start)
        return session.driver.editor, results
    finally:
        session.end()


def table(rows, columns):
    """Rows with a column for each editor, then the reasons."""
    width = max(len(row["row"]) for row in rows)
    print("\n" + " " * width + "".join(f"  {editor:>16}" for editor, _, _ in columns))
    for row in rows:
        print(f"{row['row']:{width}}" + "".join(f"  {results.get(row['row'], ('not run', ''))[0]:>16}" for _, results, _ in columns))
    for editor, results, seconds in columns:
        for wanted in ("skipped", "FAILED"):
            for name, (word, reason) in results.items():
                if word == wanted:
                    print(f"{editor}: {word} {name!r}: {reason}")
    for editor, results, seconds in columns:
        words = [word for word, _ in results.values()]
        print(f"{editor}: {words.count('passed')} passed, {words.count('FAILED')} failed, {words.count('skipped')} skipped"
              f" of {len(rows)} rows, in {seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("editors", nargs="*", default=[], help="vim, neovim, emacs or all")
    parser.add_argument("--driver", action="append", default=[], help="the command of a driver that is not one of ours")
    parser.add_argument("--rows", default="", help="only the rows whose name or file matches")
    parser.add_argument("--check", action="store_true", help="only check the table, and print its mistakes")
    parser.add_argument("--quiet", action="store_true", help="print only skipped and failed rows")
    options = parser.parse_args()
    editors = own_drivers if "all" in options.editors or not (options.editors or options.driver) else options.editors
    for editor in editors:
        if editor not in own_drivers:
            parser.error(f"there is no driver for {editor}: give its command with --driver")
    commands = [[sys.executable, f"{here}/drivers/{editor}.py"] for editor in editors] + [shlex.split(it) for it in options.driver]
    rows = [row for row in load() if re.search(options.rows, row["topic"] + " " + row["row"])]
    if not rows:
        parser.error("no row matches")
    if options.check:
        wrong = [f"{row['topic']}: {row['row']!r}: {problem}" for row in rows for problem in problems(row)]
        print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
        sys.exit(1 if wrong else 0)

    def show(editor, row, word, reason, seconds):
        if not options.quiet:
            print(f"{editor}: {word:8} {seconds:5.2f} s  {row['row']}" + (f": {reason}" if reason else ""), flush=True)

    columns = []
    for command in commands:
        start = time.monotonic()
        editor, results = run(command, rows, show)
        columns.append((editor, results, time.monotonic() - start))
    if options.quiet:
        for editor, results, seconds in columns:
            for name, (word, reason) in results.items():
                if word == "FAILED":
                    print(f"{editor}: FAILED {name!r}: {reason}")
            print(f"{editor}: {len(results)} rows in {seconds:.0f} s")
    else:
        table(rows, columns)
    sys.exit(any(word == "FAILED" for _, results, _ in columns for word, _ in results.values()))


if __name__ == "__main__":
    main()
