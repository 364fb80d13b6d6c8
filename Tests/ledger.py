#!/usr/bin/env python3
"""Runs what proves the program, and appends what came of it to Sources/Documentation/Ledger.md. Entries are never changed.

Usage: ledger.py soak HOURS [CORES [FAULT,…]]   the simulation of whole services, seed after seed; CORES is all by default
       ledger.py fuzz COMMAND LOG…              what libFuzzer printed, one file for each target
       ledger.py kills COMMAND LOG              what KilledServiceTests and KilledWriterTests printed
       ledger.py together COMMAND LOG           what ThreeEditorsTests printed
       ledger.py mutants COMMAND RESULT         what Tests/Mutants/mutants.py found, as JSON

Interrupted, a soak notes what it has until then. With a file in the environment's KEPT, it keeps there what it has instead, and goes
on when it is called again, with the program of that time, until it has taken HOURS of processor time in all.
"""
import collections
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
page = root + "/Sources/Documentation/Ledger.md"
head = """# Ledger

What was tested beyond `make test`, how often, and what was found. Each entry is appended by the program that ran the tests
(`Tests/ledger.py`), from its own counts, and is never changed afterwards. The command of an entry repeats it.
"""


def commit_here():
    commit = subprocess.check_output(["git", "-C", root, "rev-parse", "--short=10", "HEAD"], text=True).strip()
    changed = subprocess.check_output(["git", "-C", root, "status", "--porcelain", "-uno", "--", "Sources"], text=True)
    changed = [line for line in changed.splitlines() if not line.endswith("Ledger.md")]
    return commit + (" with changes" if changed else "")


# What runs is what was built before.
commit = commit_here()


def append(kind, command, sentence, rows=(), columns=(), notes=(), of=None):
    """Adds an entry: a sentence, a table, and a list."""
    now = datetime.datetime.now(datetime.timezone.utc)
    lines = [f"## {now:%Y-%m-%d %H:%M} UTC: {kind}", "",
             f"`{command}` at commit {of or commit}. {sentence}"]
    if rows:
        lines += ["", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        lines += ["| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) + " |" for row in rows]
    if notes:
        lines += [""] + [f"- {note}" for note in notes]
    text = open(page).read() if os.path.exists(page) else head
    with open(page, "w") as file:
        file.write(text + "\n" + "\n".join(lines) + "\n")
    print("\n".join(lines))


# Soak

batch_size = 40
maximum_seed_seconds = 900


class Soak:
    """Processes that run seeds, one on each core, and what they have counted."""

    # What is kept of a soak between its stretches. Each stretch is a commit with the seeds that ran.
    kept_fields = ("first", "faults", "counts", "failures", "seeds", "next_seed", "simulated", "processor_seconds", "seconds", "stretches")

    def __init__(self, first, cores, faults, kept="", processor_hours=0.0):
        self.first, self.cores, self.faults = first, cores, faults
        self.counts, self.failures, self.stretches = collections.Counter(), [], []
        self.seeds = self.next_seed = 0
        self.simulated = self.processor_seconds = self.seconds = 0.0
        self.lock, self.ended = threading.Lock(), threading.Event()
        self.limit = processor_hours * 3600 if kept else float("inf")
        # A copy, so that a build during the run changes nothing.
        self.temporary = tempfile.TemporaryDirectory()
        self.program = self.temporary.name + "/notes-soak"
        shutil.copy2(root + "/.build/release/notes-soak", self.program)
        self.state = kept
        if kept and os.path.exists(kept):
            self.__dict__.update(json.load(open(kept)))
            self.counts = collections.Counter(self.counts)
        self.stretches.append([commit, 0])
        self.before, self.start = self.seconds, time.time()

    def keep(self):
        """Writes what there is to the file that is kept, if there is one."""
        with self.lock:
            self.seconds = self.before + time.time() - self.start
            if self.state:
                with open(self.state + ".new", "w") as file:
                    json.dump({name: getattr(self, name) for name in self.kept_fields}, file, indent=1)
                    file.write("\n")
                os.replace(self.state + ".new", self.state)

    def take_batch(self):
        with self.lock:
            start = self.first + self.next_seed
            self.next_seed += batch_size
            return list(range(start, start + batch_size))

    def work(self):
        while not self.ended.is_set():
            seeds = self.take_batch()
            while seeds and not self.ended.is_set():
                done = self.run(seeds[0], len(seeds))
                seeds = seeds[done:]
                self.keep()
                if self.processor_seconds >= self.limit:
                    self.ended.set()

    def run(self, first, count, replays=False):
        """Runs seeds in one process, to the last one or until it ends; returns how many were done. With `replays`, returns what failed in
        the only one, and counts nothing."""
        # Not a pipe, which would fill up: it is read only after the results.
        log = tempfile.TemporaryFile("w+", errors="replace")
        process = subprocess.Popen(
            ["nice", "-n", "15", self.program, str(first), "1", str(count), self.faults], stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1"), stderr=log)
        timer, done, seed, failure = None, 0, first, None
        for line in process.stdout:
            if timer:
                timer.cancel()
            timer = threading.Timer(maximum_seed_seconds, process.kill)
            timer.daemon = True
            timer.start()
            result = json.loads(line)
            if "begun" in result:
                seed = result["begun"]
                if self.ended.is_set() and not replays:
                    process.kill()
                    break
                continue
            done += 1
            if replays:
                failure = result.get("failure")
            else:
                self.note(result)
        if timer:
            timer.cancel()
        self.await_end(process)
        log.seek(0)
        errors = log.read()
        if process.returncode in (126, 127):
            # The program could not be started, as when its folder was removed: that says nothing about the seeds.
            self.ended.set()
            print(errors, file=sys.stderr, flush=True)
            return count
        if replays:
            return failure if process.returncode == 0 else f"ends with {process.returncode}"
        if process.returncode != 0 and not self.ended.is_set():
            self.note({"seed": seed, "failure": f"ends with {process.returncode}: {errors[-300:]}"})
            done += 1
        return done

    def await_end(self, process):
        """Waits for a process, and counts its processor time whether it ended or was killed."""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        with self.lock:
            self.processor_seconds += usage.ru_utime + usage.ru_stime

    def note(self, result):
        failure = result.get("failure")
        again = self.run(result["seed"], 1, replays=True) if failure else None
        with self.lock:
            self.seeds += 1
            self.stretches[-1][1] += 1
            self.simulated += result.get("simulated", 0)
            self.counts.update(result.get("counts", {}))
            if failure:
                kind = "the same in a second run" if again == failure else "not the same in a second run"
                self.failures.append((result["seed"], " ".join(failure.split())[:300], f"{kind}, at {commit}" if self.state else kind))
                print(f"seed {result['seed']}: {failure}", file=sys.stderr, flush=True)


def soak(hours, cores="", faults=""):
    if faults in ("", "all"):
        faults = ",".join(name for name in all_faults() if faults or name not in unmended_faults())
    cores, kept = int(cores or os.cpu_count()), os.environ.get("KEPT", "")
    text = open(page).read() if os.path.exists(page) else ""
    first = 1 + max([0] + [int(last.replace(",", "")) for last in re.findall(r"Seeds [\d,]+ to ([\d,]+)", text)])
    run = Soak(first, cores, faults, kept, float(hours))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: run.ended.set())
    threads = [threading.Thread(target=run.work) for _ in range(cores)]
    for thread in threads:
        thread.start()
    run.ended.wait(None if kept else float(hours) * 3600)
    run.ended.set()
    for thread in threads:
        thread.join()
    run.keep()
    if run.processor_seconds < run.limit < float("inf"):
        print(f"{run.processor_seconds / 3600:.2f} processor hours of {hours} so far, {len(run.failures)} failed")
        return
    core_hours = run.processor_seconds / 3600
    stretches = ", in stretches: " + ", ".join(f"{seeds:,} at {of}" for of, seeds in run.stretches)
    failures = [f"`make simulate SEED={seed} FAULTS={run.faults}`: {text} ({kind})" for seed, text, kind in sorted(map(tuple, run.failures))]
    append(
        "whole services in virtual time", f"make soak HOURS={hours} CORES={cores} FAULTS={run.faults}",
        f"Seeds {run.first} to {run.first + run.next_seed - 1}: {run.seeds:,} runs to the end, {run.seeds / run.seconds:.1f} a second, in "
        f"{core_hours:.2f} processor hours on {cores} {'core' if cores == 1 else 'cores'}"
        f"{stretches if len(run.stretches) > 1 else ''}; {run.simulated / 3600:,.1f} simulated hours; {len(failures)} failed.",
        sorted(run.counts.items(), key=lambda item: -item[1]), ("done or injected", "times"), failures, of=run.stretches[-1][0])
    if kept:
        os.remove(run.state)


def all_faults():
    with open(root + "/Tests/ServiceSimulation/Fault.swift") as file:
        return re.findall(r"^  case (\w+)$", file.read(), re.M)


def unmended_faults():
    """Those that a soak has only if it is asked for them."""
    with open(root + "/Tests/ServiceSimulation/Fault.swift") as file:
        return re.findall(r"\w+", re.search(r"unmended: Set<Fault> = \[(.*)\]", file.read())[1])


# Reading what other programs have printed

def fuzz(command, *logs):
    rows = []
    for log in logs:
        text = open(log, errors="replace").read()
        runs = sum(int(count) for count in re.findall(r"stat::number_of_executed_units: *(\d+)", text))
        cover = re.findall(r"cov: (\d+)", text)
        corpus = re.findall(r"corp: (\d+)", text)
        found = re.findall(r"Test unit written to \S*/(\S+)", text)
        rows.append((os.path.basename(log).removesuffix(".log"), runs, int(cover[-1]) if cover else 0,
                     int(corpus[-1]) if corpus else 0, ", ".join(found) or "nothing"))
    total = sum(row[1] for row in rows)
    append("foreign bytes", command, f"{total:,} executions.", rows, ("target", "executions", "edges", "inputs kept", "found"))


def kills(command, log):
    text = open(log, errors="replace").read()
    printed = [line.strip() for line in text.splitlines() if re.search(r"\bkills?\b.*\d|\d.*\bkills?\b|killed \d", line)]
    failed = re.findall(r"^✘ .*", text, re.M)
    verdict = "All tests passed: nothing lost, nothing twice." if not failed and "✔ Test run" in text else "FAILED."
    append("services that are killed", command, verdict, notes=printed + failed[:20])


def together(command, log):
    text = open(log, errors="replace").read()
    seeds = re.findall(r"^three editors, seed (\d+):", text, re.M)
    failed = re.findall(r"seed \d+, again by (`make together SEED=\d+`: .*)", text)
    append("Vim, Emacs and Neovim in one note", command, f"{len(seeds):,} seeds to the end, {len(failed)} failed.",
           notes=[line[:300] for line in failed])


def mutants(command, result):
    data = json.load(open(result))
    rows = [(name, part["mutants"], part["killed"], f"{100 * part['killed'] / max(1, part['mutants']):.0f} %", part["silent"])
            for name, part in sorted(data["parts"].items())]
    total, killed = sum(row[1] for row in rows), sum(row[2] for row in rows)
    sample = "" if total == data["built"] else f" (a sample of {data['built']:,})"
    append("mutants", command,
           f"{killed:,} of {total:,} mutants{sample} were killed ({100 * killed / max(1, total):.1f} %). The survivors:",
           rows, ("part", "mutants", "killed", "", "of these, hung"), data["survivors"])


if __name__ == "__main__":
    commands = {"soak": soak, "fuzz": fuzz, "kills": kills, "together": together, "mutants": mutants}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
