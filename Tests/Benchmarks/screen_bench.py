#!/usr/bin/env python3
"""From a key in one person's terminal until its letter stands on the other person's screen, in real editors.

    screen_bench.py PROGRAM [--json FILE] [--pairs vim-vim,vim-emacs,…] [--delays 0,1,20,100] [--letters 500] [--seed 1]

Two editors in pseudo-terminals, each with its service, over TLS. A letter is written to the first terminal; the time counts from just
before that until the piece of the second terminal's output has been read which makes a terminal emulator (pyte) show it in its
place. What both terminals drew is replayed after the typing. The same letters on the typist's own screen, and in the same editor without
the plugin, stand beside it: nothing is subtracted.
"""
import argparse
import json
import os
import random
import string
import subprocess
import sys
import time

import screen_editors
from screen_editors import BareEditor, Editor, Screen, TimedTerminal

# No letter of it stands in the name that is shown behind the caret.
letters = [letter for letter in string.ascii_lowercase if letter not in "an"]
line_length = 85
burst_length = 5
first_line = 1


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(values):
    return {"count": len(values), "p50": percentile(values, 0.5), "p90": percentile(values, 0.9),
            "p99": percentile(values, 0.99), "max": max(values)}


def note_text(byte_count):
    """An empty line to type in, and prose under it."""
    words = random.Random(7)
    lines, size = [""], 1
    while size < byte_count or len(lines) < 6:
        line = " ".join("0" * words.randint(2, 9) for _ in range(10))
        lines.append("  " + line)
        size += len(line) + 3
    return "\n".join(lines) + "\n"


class Typist:
    """Types letters at a seeded pace and remembers when; a burst is several at once."""

    def __init__(self, terminal, seed):
        self.terminal, self.random = terminal, random.Random(seed)
        # (nanoseconds, letter, line, column, whether it was one of a burst)
        self.typed, self.line, self.column = [], 0, 0
        self.due = time.monotonic()

    def pause(self, low, high):
        self.due = max(self.due + self.random.uniform(low, high) / 1000, time.monotonic())
        time.sleep(max(0, self.due - time.monotonic()))

    def type(self, count, burst=1, pace=(20, 30)):
        done = 0
        while done < count:
            if self.column + burst > line_length:
                self.pause(*pace)
                self.terminal.type(b"\r")
                self.line, self.column = self.line + 1, 0
                self.pause(150, 160)
            keys = [self.random.choice(letters) for _ in range(burst)]
            self.pause(*pace)
            when = time.monotonic_ns()
            self.terminal.type("".join(keys).encode())
            for key in keys:
                self.typed.append((when, key, self.line, self.column, burst > 1))
                self.column += 1
            done += burst


def appearances(typed, pieces):
    """For each letter, the nanosecond at which it stood on the screen in its place."""
    final = Screen(pieces)
    while final.read < len(pieces):
        final.feed()
    first = "".join(letter for _, letter, line, _, _ in typed if line == typed[0][2])
    rows = final.rows_with(first)
    if len(rows) != 1:
        raise RuntimeError("the letters are not where they should be:\n" + "\n".join(final.screen.display))
    screen, times, when = Screen(pieces), [], 0
    for typed_at, letter, line, column, _ in typed:
        row = rows[0] + line - typed[0][2]
        while when < typed_at or not screen.has(row, column, letter):
            if screen.read == len(pieces):
                raise RuntimeError(f"{letter} never came to {row}:{column}:\n" + "\n".join(screen.screen.display))
            when = screen.feed()
        times.append(when)
    return times


def waits(typed, pieces):
    """Milliseconds from the key to the screen: of single letters, and of the last one of each burst."""
    times = appearances(typed, pieces)
    alone = [(shown - at) / 1e6 for (at, *_, is_burst), shown in zip(typed, times) if not is_burst]
    bursts = [(shown - at) / 1e6 for (at, *_, is_burst), shown in zip(typed, times) if is_burst]
    return alone, bursts[burst_length - 1::burst_length]


def settle(terminals):
    for terminal in terminals:
        terminal.wait_until_still(0.5)


def measure(typist_editor, reader_editor, options, seed, at, bursts=True):
    """One person types at a line, the other one reads."""
    typist_editor.begin(at)
    terminals = [typist_editor.terminal, reader_editor.terminal]
    settle(terminals)
    before = [terminal.processor_seconds() for terminal in terminals]
    typist = Typist(terminals[0], seed)
    typist.type(options.letters)
    used = [terminal.processor_seconds() - start for terminal, start in zip(terminals, before)]
    if bursts:
        typist.type(options.letters // burst_length // 2 * burst_length, burst_length, (90, 110))
    settle(terminals)
    theirs, their_bursts = waits(typist.typed, terminals[1].pieces)
    own, own_bursts = waits(typist.typed, terminals[0].pieces)
    typist_editor.rest(at + 20)
    return {
        "theirs": theirs, "own": own, "their_bursts": their_bursts, "own_bursts": own_bursts,
        "typist_ms_a_key": used[0] * 1000 / options.letters, "reader_ms_a_key": used[1] * 1000 / options.letters,
        "lines": typist.line + 1,
    }


def session(pair, delay, byte_count, options, both_ways):
    """Both directions of a pair, as results."""
    port = screen_editors.free_port()
    here = os.path.dirname(os.path.abspath(__file__))
    before = ["python3", here + "/slow_link.py", "--port", str(port), "--ms", str(delay), "--"] if delay else []
    editors = []
    try:
        editors.append(Editor(pair[0], "Ana", options.program, port=port))
        editors.append(Editor(pair[1], "Ana", options.program, before))
        ana, ben = editors
        ana.open(note_text(byte_count))
        ben.join(ana.share())
        for editor in editors:
            editor.alone()
        ana.driver.wait("equal texts", lambda: ana.text() == ben.text())
        ben.rest(first_line + 20)
        time.sleep(2)
        for typist, reader in [(ana, ben), (ben, ana)][:2 if both_ways else 1]:
            load = os.getloadavg()[0]
            result = measure(typist, reader, options, options.seed, first_line)
            yield {"from": typist.kind, "to": reader.kind, "delay": delay, "bytes": byte_count, "load": load, **result}
            # Room for the other one's letters where the first one's were, so that nothing scrolls.
            typist.give(f"silent 1,{result['lines'] - 1}delete _ | call setline(1, '')",
                        f"(progn (goto-char (point-min)) (delete-region (point) (progn (forward-line {result['lines'] - 1})"
                        " (line-end-position))))")
            typist.rest(first_line + 20)
            ana.driver.wait("equal texts", lambda: ana.text() == ben.text() and ana.is_synced() and ben.is_synced())
            time.sleep(2)
    finally:
        for editor in editors:
            editor.end()


def bare(kind, byte_count, options):
    """The same editor alone, without the plugin."""
    editor = BareEditor(kind, note_text(byte_count))
    try:
        editor.begin()
        load, start = os.getloadavg()[0], editor.terminal.processor_seconds()
        typist = Typist(editor.terminal, options.seed)
        typist.type(options.letters)
        used = editor.terminal.processor_seconds() - start
        typist.type(options.letters // burst_length // 2 * burst_length, burst_length, (90, 110))
        settle([editor.terminal])
        own, own_bursts = waits(typist.typed, editor.terminal.pieces)
        return {"bare": kind, "bytes": byte_count, "load": load, "own": own, "own_bursts": own_bursts,
                "typist_ms_a_key": used * 1000 / options.letters}
    finally:
        editor.end()


def show(result):
    where = f"{result['bytes']:,} bytes"
    if "bare" in result:
        rows = [(f"{result['bare']} alone, {where}", result["own"]), ("… last of five at once", result["own_bursts"])]
        processor = f"processor time a key {result['typist_ms_a_key']:.2f} ms"
    else:
        name = f"{result['from']} to {result['to']}, {where}, {result['delay']:g} ms away"
        rows = [(name, result["theirs"]), ("… last of five at once", result["their_bursts"]), ("… own screen", result["own"])]
        processor = (f"processor time a key {result['typist_ms_a_key']:.2f} ms in the typist's editor,"
                     f" {result['reader_ms_a_key']:.2f} ms in the reader's")
    for name, values in rows:
        it = summary(values)
        print(f"{name:52} {it['count']:5}  p50 {it['p50']:7.2f}  p90 {it['p90']:7.2f}  p99 {it['p99']:7.2f}"
              f"  max {it['max']:7.2f} ms")
    print(f"    {processor}; load {result['load']:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--pairs", default="vim-vim,vim-emacs,neovim-emacs")
    parser.add_argument("--delays", default="0")
    parser.add_argument("--bytes", type=int, default=700)
    parser.add_argument("--letters", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--alone", default="vim,neovim,emacs", help="editors to measure without the plugin, too")
    parser.add_argument("--one-way", action="store_true", help="only the first editor of a pair types")
    parser.add_argument("--json", help="a file to which the results are added, one JSON object a line")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    screen_editors.start_reading_with_times()
    if "emacs" in options.pairs + options.alone:
        screen_editors.compile_plugin()

    def results():
        for kind in filter(None, options.alone.split(",")):
            yield bare(kind, options.bytes, options)
        for delay in map(float, options.delays.split(",")):
            for pair in filter(None, options.pairs.split(",")):
                kinds = pair.split("-")
                yield from session(kinds, delay, options.bytes, options, not options.one_way and (kinds[0] != kinds[1]))

    for result in results():
        show(result)
        if options.json:
            with open(options.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")


main()
