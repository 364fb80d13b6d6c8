#!/usr/bin/env python3
"""How large the types of Sources are: the lines of all their declarations, wherever they stand.

Usage: sizes.py [COUNT]      prints the largest types (20, or COUNT), and the classes with the most stored properties
       sizes.py --check      exit code 1 if a type is larger than its limit, a class stores more than it may, or the table
                             in Architecture.md is out of date by more than a tenth

A line counts from the one of the declaration to that of its closing brace, with comments and empty lines. What belongs to a type
by its name counts as the type: its extensions in all files of its module, and the types nested in it.
"""
import collections
import glob
import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
maximum_lines, maximum_stored = 600, 14
larger = {
    "Automerge.DocumentCore": 1500,
    "Automerge.TextTree": 1500,
    # A facade: delegations to the core, each with its documentation.
    "Automerge.Document": 1750,
}

token = re.compile(
    r"(?P<line>\n)|(?P<brace>[{}])"
    r"|(?<![\w.`])(?P<kind>class|struct|enum|actor|extension|protocol) +(?P<type>[A-Z][\w.]*)"
    r"|(?<![\w.`])(?P<property>var|let) +(?P<names>\w+(?:, \w+)*)(?=(?P<rest>[^\n]*))")

observer = re.compile(r"\s*(didSet|willSet)\b")


def end_of_string(code, start):
    """The index after the string literal that begins at `start`; its interpolations may contain other literals."""
    hashes, quote = re.compile(r'(#*)("""|")').match(code, start).groups()
    index = start + len(hashes + quote)
    while not code.startswith(quote + hashes, index):
        if code.startswith("\\" + hashes + "(", index):
            index, depth = index + len(hashes) + 2, 1
            while depth:
                if code[index] == '"':
                    index = end_of_string(code, index)
                else:
                    depth += {"(": 1, ")": -1}.get(code[index], 0)
                    index += 1
        else:
            index += 2 if code[index] == "\\" and not hashes else 1
    return index + len(quote + hashes)


def bare(code):
    """The code without its comments and strings, on as many lines."""
    parts, index = [], 0
    for found in re.finditer(r'//[^\n]*|/\*.*?\*/|#*"', code, re.S):
        if found.start() >= index:
            parts.append(code[index:found.start()])
            index = found.end() if found[0].startswith("/") else end_of_string(code, found.start())
            parts.append("\n" * code.count("\n", found.start(), index))
    return "".join(parts) + code[index:]


def measure(module, code, lines, stored):
    """Adds to `lines` by outermost type, and to `stored` by class, what one file has."""
    number, declared, scopes = 1, None, []
    for found in token.finditer(code):
        if found["line"]:
            number += 1
        elif found["kind"]:
            if all(scopes):
                outer = "" if found["kind"] == "extension" or not scopes else scopes[-1][0] + "."
                declared = (outer + found["type"], number, found["kind"])
        elif found["property"]:
            line = code[code.rfind("\n", 0, found.start()) + 1:found.start()]
            isComputed = "{" in found["rest"].split("=")[0] and not observer.match(code, code.index("{", found.end()) + 1)
            if scopes and scopes[-1] and not isComputed and not re.search(r"\b(static|case|if|guard)\b", line):
                stored[module + "." + scopes[-1][0]] += found["names"].count(",") + 1
        elif found["brace"] == "{":
            scopes.append(declared)
            if declared and declared[2] == "class":
                stored[(module + "." + declared[0], "class")] = 1
            declared = None
        else:
            ended = scopes.pop()
            if ended and not any(scopes):
                lines[module + "." + ended[0].split(".")[0]] += number - ended[1] + 1


def faults_of_page(lines, classes):
    """The rows of the table in Architecture.md whose present sizes are no longer true."""
    with open(root + "/Sources/Documentation/Architecture.md") as file:
        section = file.read().split("\n## Large types\n")[1].split("\n## ")[0]
    faults, count = [], 0
    for row in section.splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if len(cells) != 6 or not cells[1].startswith("`"):
            continue
        # A type that is gone has its successor in the last column.
        said = re.match(r"()([\d,]+), (\d+)$", cells[3]) or re.search(r"`(\w+)` \(([\d,]+), (\d+)\)", cells[4])
        if not said:
            faults.append(f"Architecture.md has no size in the row of {cells[1]}")
            continue
        name = said[1] or cells[1].strip("`")
        count += 1
        for words, sizes, figure in (("lines", lines, said[2]), ("stored properties", classes, said[3])):
            size = max((sizes[type] for type in sizes if type.split(".")[1:] == [name]), default=0)
            if abs(size - int(figure.replace(",", ""))) * 10 > size:
                faults.append(f"Architecture.md says that {name} has {figure} {words}; it has {size}")
    return faults if count else ["Architecture.md has no table of large types"]


def main():
    lines, stored = collections.Counter(), collections.Counter()
    for path in sorted(glob.glob(root + "/Sources/*/**/*.swift", recursive=True)):
        with open(path) as file:
            measure(path[len(root):].split("/")[2], bare(file.read()), lines, stored)
    classes = collections.Counter({name: stored[name] for name in stored if (name, "class") in stored})
    if sys.argv[1:] == ["--check"]:
        faults = [f"{name} has {count} lines in all its files; {larger.get(name, maximum_lines)} is the limit"
                  for name, count in lines.most_common() if count > larger.get(name, maximum_lines)]
        faults += [f"{name} has {count} stored properties; {maximum_stored} is the limit"
                   for name, count in classes.most_common() if count > maximum_stored]
        faults += faults_of_page(lines, classes)
        print(*faults, sep="\n", end="\n" if faults else "")
        sys.exit(bool(faults))
    count = int(sys.argv[1]) if sys.argv[1:] else 20
    for title, sizes in (("lines", lines), ("stored", classes)):
        print(title)
        for name, size in sizes.most_common(count):
            print(f"{size:6}  {name}")


if __name__ == "__main__":
    main()
