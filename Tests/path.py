#!/usr/bin/env python3
"""Checks the path of a keystroke in Architecture.md: a list of calls, one inside the other, from standard input to the socket.

Usage: path.py       exit code 1 if the list is not what the sources say, or has more than 25 calls or 15 types

A call has to stand in the body of the one before it, or, where that one runs a closure, of the one before that. So a call that is
put in between shows.
"""
import collections
import glob
import re
import sys

from sizes import bare, root

page = root + "/Sources/Documentation/Architecture.md"
maximum_calls, maximum_types = 25, 15
token = re.compile(
    r"(?P<brace>[{}])"
    r"|(?<![\w.`])(?:class|struct|enum|actor|extension|protocol) +(?P<type>[A-Z][\w.]*)"
    r"|(?<![\w.`])func +(?P<name>\w+)|(?<![\w.`])(?:var|let) ")


def add_bodies(code, bodies):
    """Adds to `bodies`, by type and name, what stands between the braces of each function of a file."""
    scopes, declared = [], None
    for found in token.finditer(code):
        if found["brace"] == "{":
            scopes.append((declared, found.end()))
            declared = None
        elif found["brace"]:
            scope, start = scopes.pop()
            outer = [name for name, _ in scopes if name and name[0].isupper()]
            if scope and not scope[0].isupper() and outer:
                bodies[outer[-1].split(".")[-1] + "." + scope].append(code[start:found.start()])
        else:
            declared = found["type"] or found["name"]


def calls_of_page():
    """The list, and how many calls and types the page says that it has."""
    with open(page) as file:
        text = file.read()
    block = re.search(r"from standard input to the socket: (\d+) calls, (\d+) types\.\n+```\n(.*?)```", text, re.S)
    if not block:
        sys.exit("Architecture.md has no list \"from standard input to the socket: … calls, … types\"")
    return re.findall(r"\w+\.\w+", re.sub(r"\([\w:]*\)", "", block[3])), int(block[1]), int(block[2])


def main():
    bodies = collections.defaultdict(list)
    for path in glob.glob(root + "/Sources/*/**/*.swift", recursive=True):
        with open(path) as file:
            add_bodies(bare(file.read()), bodies)
    calls, call_count, type_count = calls_of_page()
    types = {call.split(".")[0] for call in calls}
    faults = []
    if (len(calls), len(types)) != (call_count, type_count):
        faults.append(f"Architecture.md says {call_count} calls and {type_count} types; its list has {len(calls)} and {len(types)}")
    if len(calls) > maximum_calls or len(types) > maximum_types:
        faults.append(f"the path of a keystroke has {len(calls)} calls of {len(types)} types")
    for place in range(1, len(calls)):
        called = re.compile(r"\b" + calls[place].split(".")[1] + r"\s*[({]")
        callers = calls[max(0, place - 2):place]
        if not any(called.search(body) for caller in callers for body in bodies[caller]):
            faults.append(f"{calls[place]} is not called by {callers[-1]}")
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
