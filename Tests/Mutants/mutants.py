#!/usr/bin/env python3
"""Do the tests notice? Changes the program in many small ways, one at a time, and runs the tests that reach the change.

Usage: mutants.py [--count N] [--seed N] [--in DIRECTORY] [--seconds N] [--parts NAME,…] [--suites PATTERN] [--near]

All mutants are built into one program, each behind a switch that the environment turns on (NOTES_MUTANT=number), in a copy of the
repository at DIRECTORY (default .build-mutants). First each suite of tests runs alone and notes which switches it passes; then each
mutant meets the suites that pass it, the quick ones first, until a test fails, the program ends, or nothing happens any more. A mutant
that no suite reaches has survived. What came of it is written to DIRECTORY/.build/mutants.json. With --seconds the mutants that are not
judged in time are left out, and with --parts and --suites (a regular expression) the others are. With --near a mutant meets only the
tests of its own part, which takes a fraction of the time.
"""
import argparse
import collections
import filecmp
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
host = os.path.realpath(subprocess.check_output(["which", "swiftc"], text=True).strip()).rsplit("/bin/", 1)[0] + "/lib/swift/host"

# What is mutated: a share of all mutants, and files.
parts = {
    "document core": (50, ["Automerge/History", "Automerge/Objects", "Automerge/Format", "Automerge/Patches", "Automerge/Document*.swift"]),
    "sync": (20, ["Automerge/Sync", "AutomergeRepo/Sync"]),
    "gate": (17, ["NotesServer/Gate"]),
    "store": (13, ["Store", "SQLiteStorage", "AutomergeRepo/Storage"]),
}
# The tests beside them.
near = {
    "document core": ["AutomergeTests", "AutomergeUtilitiesTests"], "sync": ["AutomergeTests", "AutomergeRepoTests"],
    "gate": ["NotesServerTests"], "store": ["StoreTests", "AutomergeRepoTests", "NotesServerTests"],
}
targets = ["AutomergeTests", "AutomergeUtilitiesTests", "AutomergeRepoTests", "NotesServerTests", "StoreTests"]
modules = ["Automerge", "AutomergeRepo", "NotesServer", "Store", "SQLiteStorage"]
check = ["--explicit-target-dependency-import-check", "error"]
shortest_silence_seconds, quick_suite_seconds, slowest_suite_seconds = 30, 2, 60

switch = """import Foundation

enum Mutant {
  private static let active = ProcessInfo.processInfo.environment["NOTES_MUTANT"].flatMap { Int($0) } ?? -1
  private nonisolated(unsafe) static let seen: UnsafeMutablePointer<UInt8>? = {
    guard let path = ProcessInfo.processInfo.environment["NOTES_MUTANTS_SEEN"] else { return nil }
    let file = open(path, O_RDWR)
    let memory = mmap(nil, 1 << 16, PROT_READ | PROT_WRITE, Int32(MAP_SHARED), file, 0)
    return memory == MAP_FAILED ? nil : memory?.assumingMemoryBound(to: UInt8.self)
  }()

  static func on(_ number: Int) -> Bool {
    if let seen { seen[number] = 1 }
    return number == active
  }
}
"""


def files_of(tree, places):
    found = []
    for place in places:
        path = f"{tree}/Sources/{place}"
        found += glob.glob(path) if "*" in place else glob.glob(path + "/**/*.swift", recursive=True)
    return sorted(name for name in found if not name.endswith("/Mutant.swift"))


def copy(tree):
    """Makes the copy, or brings it back to what the repository has."""
    if os.path.realpath(tree) == os.path.realpath(root):
        return
    for name in subprocess.check_output(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"]).decode().split("\0"):
        source, target = f"{root}/{name}", f"{tree}/{name}"
        if os.path.isfile(source) and not (os.path.isfile(target) and filecmp.cmp(source, target, shallow=False)):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def optimize(tree):
    """Has the mutated modules of the copy optimized, because the tests run for hours."""
    if os.path.realpath(tree) == os.path.realpath(root):
        return
    name = tree + "/Package.swift"
    text = open(name).read()
    for module in modules:
        text = re.sub(rf'(name: "{module}",(?:(?!\btarget\().)*?swiftSettings: )strict\)', r'\1strict + [.unsafeFlags(["-O"])])', text,
                      count=1, flags=re.S)
    with open(name, "w") as file:
        file.write(text)


def mutate(tree, mutator, count, seed, skip):
    """Puts the mutants in, and returns what they are."""
    mutants, originals, first = [], {}, 0
    for part, (share, places) in parts.items():
        files = files_of(tree, places)
        for name in files:
            originals[name] = open(name).read()
        lines = subprocess.check_output(
            [mutator, str(seed), str(round(count * share / 100)), str(first), skip] + files, text=True)
        mutants += [dict(json.loads(line), part=part) for line in lines.splitlines()]
        first += round(count * share / 100)
    for module in {name[len(tree) + 9:].split("/")[0] for name in originals}:
        name = f"{tree}/Sources/{module}/Mutant.swift"
        if not (os.path.exists(name) and open(name).read() == switch):
            with open(name, "w") as file:
                file.write(switch)
    return mutants, originals


def keep_times(originals, earlier):
    """Gives the files that are as they were in the last round the times that they had then, so that they are not compiled again."""
    for name in originals:
        text = open(name).read()
        if name in earlier and earlier[name][0] == text:
            os.utime(name, ns=earlier[name][1])
        status = os.stat(name)
        earlier[name] = (text, (status.st_atime_ns, status.st_mtime_ns))


def restore(originals):
    for name, text in originals.items():
        with open(name, "w") as file:
            file.write(text)


def build(tree, count, seed):
    """Builds with as many mutants as compile."""
    mutator, skip = tree + "/.build/mutate", tree + "/.build/mutants-skipped"
    os.makedirs(tree + "/.build", exist_ok=True)
    subprocess.run(
        ["swiftc", "-O", "-parse-as-library", here + "/Mutate.swift", "-I", host, "-L", host, "-lSwiftSyntax", "-lSwiftParser",
         "-lSwiftOperators", "-Xlinker", "-rpath", "-Xlinker", host, "-o", mutator], check=True)
    open(skip, "a").close()
    earlier = {}
    while True:
        mutants, originals = mutate(tree, mutator, count, seed, skip)
        keep_times(originals, earlier)
        bad = set()
        for arguments in [["--target", module] for module in modules] + [["--build-tests"]]:
            result = subprocess.run(["swift", "build", *check, *arguments], cwd=tree, text=True, capture_output=True)
            output = result.stdout + result.stderr
            if result.returncode == 0:
                continue
            for path, line in re.findall(r"^(\S+\.swift):(\d+):\d+: error", output, re.M):
                bad |= {mutant["key"] for mutant in mutants if os.path.samefile(mutant["file"], path)
                        and any(mutant_line <= int(line) <= mutant_line + mutant["before"].count("\n") + 1
                                for mutant_line in [mutant["line"]])}
            # What the compiler finds wrong later, as a property that is never set, is in what it shows around it.
            shown = {int(number) for number in re.findall(r"Mutant\.on\((\d+)\)", output)}
            bad = bad or {mutant["key"] for mutant in mutants if mutant["number"] in shown}
            # A function that may end without a result does so because of a mutant somewhere in it.
            for path, line in [] if bad else re.findall(r"^(\S+\.swift):(\d+):\d+: error", output, re.M):
                bad |= {mutant["key"] for mutant in mutants if os.path.samefile(mutant["file"], path)
                        and int(line) - 60 <= mutant["line"] <= int(line)}
            if not bad:
                restore(originals)
                sys.exit("the mutants do not build:\n" + output[-4000:])
            break
        if not bad:
            return mutants, originals
        print(f"{len(bad)} mutants do not compile", flush=True)
        with open(skip, "a") as file:
            file.write("".join(key + "\n" for key in sorted(bad)))
        restore(originals)


def suites_of(bundle, tree, pattern):
    names = subprocess.check_output([bundle, "--testing-library", "swift-testing", "--list-tests"], text=True, cwd=tree)
    found = collections.Counter()
    for name in names.splitlines():
        match = re.match(r"(\w+)\.(\w+)/", name)
        if match and match[1] in targets and re.search(pattern, name):
            found[f"^{match[1]}\\.{match[2]}/"] += 1
    return sorted(found)


def run(bundle, tree, suites, silence, **environment):
    """What is wrong with the suites, or None. Ends with the first test that fails, or after so many seconds of silence."""
    process = subprocess.Popen(
        [bundle, "--testing-library", "swift-testing", "--filter", "|".join(suites)], cwd=tree, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True, env=dict(os.environ, NO_COLOR="1", **environment))
    wrong, rest = None, b""
    os.set_blocking(process.stdout.fileno(), False)
    while wrong is None:
        if not select.select([process.stdout], [], [], silence)[0]:
            wrong = f"silent for {silence:.0f} s"
            break
        news = process.stdout.read()
        if news is None:
            continue
        if not news:
            break
        *lines, rest = (rest + news).split(b"\n")
        failed = [line for line in lines if re.match(rb"\S+ Test .* (recorded an issue|failed after)", line)]
        if failed:
            wrong = re.sub(r"\(?\)? recorded an issue.*|\(?\)? failed after.*", "", failed[0].decode(errors="replace"))[2:]
    if wrong is None:
        code = process.wait()
        return None if code == 0 else f"ends with {code}"
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    return wrong


def reach(bundle, tree, pattern):
    """Each suite that passes without a mutant: its seconds, and which mutants it reaches."""
    reached, record = {}, tree + "/.build/mutants-seen"
    for suite in suites_of(bundle, tree, pattern):
        with open(record, "wb") as file:
            file.write(bytes(1 << 16))
        start = time.time()
        wrong = run(bundle, tree, [suite], slowest_suite_seconds, NOTES_MUTANTS_SEEN=record)
        seconds = time.time() - start
        if wrong or seconds > slowest_suite_seconds:
            print(f"left out: {suite}: {wrong or f'takes {seconds:.0f} s'}", flush=True)
            continue
        seen = open(record, "rb").read()
        reached[suite] = (seconds, {number for number, byte in enumerate(seen) if byte})
    return reached


def judge(bundle, tree, mutant, reached, isNear):
    """The failure that kills the mutant, or None. The quick suites are run first, all in one process, and then the others."""
    suites = [(seconds, suite) for suite, (seconds, numbers) in reached.items() if mutant["number"] in numbers
              and (not isNear or suite[1:].split("\\")[0] in near[mutant["part"]])]
    for group in ([item for item in suites if item[0] < quick_suite_seconds],
                  [item for item in suites if item[0] >= quick_suite_seconds]):
        if group:
            silence = max(shortest_silence_seconds, 3 * max(group)[0])
            wrong = run(bundle, tree, [suite for _, suite in group], silence, NOTES_MUTANT=str(mutant["number"]))
            if wrong:
                return wrong
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=520)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--in", dest="tree", default=root + "/.build-mutants")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--parts", default=",".join(parts))
    parser.add_argument("--suites", default="")
    parser.add_argument("--near", action="store_true")
    options = parser.parse_args()
    tree, end = os.path.realpath(options.tree), time.time() + options.seconds
    copy(tree)
    optimize(tree)
    mutants, originals = build(tree, options.count, options.seed)
    print(f"{len(mutants)} mutants are built", flush=True)
    bundle = glob.glob(tree + "/.build/debug/*.xctest")[0]
    reached = reach(bundle, tree, options.suites)
    print(f"{len(reached)} suites, {sum(seconds for seconds, _ in reached.values()):.0f} s", flush=True)
    results = collections.defaultdict(lambda: {"mutants": 0, "killed": 0, "silent": 0})
    survivors, judged, begun = [], 0, time.time()
    # In an order that has some of each part from the beginning.
    for mutant in sorted(mutants, key=lambda mutant: mutant["number"] * 0.6180339887 % 1):
        if time.time() > end:
            break
        if mutant["part"] not in options.parts.split(","):
            continue
        killer = judge(bundle, tree, mutant, reached, options.near)
        judged += 1
        part = results[mutant["part"]]
        part["mutants"] += 1
        part["killed"] += killer is not None
        part["silent"] += (killer or "").startswith("silent")
        place = f"{os.path.relpath(mutant['file'], tree)}:{mutant['line']}"
        before, after = (" ".join(mutant[key].split())[:120] for key in ("before", "after"))
        isReached = any(mutant["number"] in numbers for _, numbers in reached.values())
        print(f"{judged}/{len(mutants)} {'killed' if killer else 'SURVIVED'} {mutant['number']} {place}: {before} -> {after}: "
              f"{killer or ''} ({time.time() - begun:.0f} s)", flush=True)
        if not killer:
            survivors.append(f"{place}: `{before}` → `{after}`" + ("" if isReached else " (reached by no suite)"))
        with open(tree + "/.build/mutants.json", "w") as file:
            json.dump({"built": len(mutants), "parts": results, "survivors": sorted(survivors)}, file)
    restore(originals)


if __name__ == "__main__":
    main()
