#!/usr/bin/env python3
"""The Info manual, from the same pages as everything else: the Emacs plugin's README, the tables of states and messages, the glossary
and the manual pages.

Usage: info.py [--check] FILE      (--check: writes nothing; exit code 1 if FILE is out of date)

Needs mandoc for the manual pages. Info is plain text: nodes between separators, each with a line that names its neighbours.
"""
import os
import re
import subprocess
import sys
import textwrap

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
width = 72
separator = "\x1f"
emacs = "editor-plugins/emacs/README.md"
pages = "Sources/Documentation/"


def read(path):
    with open(f"{root}/{path}", encoding="utf-8") as file:
        return file.read()


def section(path, heading):
    """The text below a heading of the second level; without one, what precedes the first."""
    parts = re.split(r"^## (.*)\n", re.sub(r"\A# .*\n", "", read(path)), flags=re.M)
    if heading is None:
        return parts[0]
    return parts[parts.index(heading, 1) + 1]


def inline(text):
    """Markdown within a line as Info writes it. Code is left as it is."""
    pieces = re.split(r"(`[^`]*`)", text.strip())
    for index, piece in enumerate(pieces):
        if piece.startswith("`"):
            pieces[index] = "‘" + piece[1:-1] + "’"
        else:
            piece = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", piece)
            pieces[index] = re.sub(r"\*\*?([^*]+)\*\*?", r"\1", piece)
    return "".join(pieces)


def filled(text, indent="", first=None):
    return textwrap.fill(inline(text), width, initial_indent=indent if first is None else first, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def cells(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def table(lines):
    """Each row as a term and what is said of it. With more than two columns, each further one has its heading before it."""
    heads = cells(lines[0])
    for line in lines[2:]:
        term, *rest = cells(line)
        yield filled(term)
        for head, cell in zip(heads[1:], rest):
            if cell:
                yield filled(cell if len(heads) == 2 else f"{head}: {cell}", " " * 5)
        yield ""


def markdown(text):
    lines = text.strip("\n").split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        end = index + 1
        if line.startswith("```"):
            while not lines[end].startswith("```"):
                end += 1
            yield from (" " * 5 + code for code in lines[index + 1:end])
            yield ""
            end += 1
        elif line.startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            yield from table(lines[index:end])
        elif line.startswith("#"):
            title = inline(line.lstrip("# "))
            yield from (title, "-" * len(title), "")
        elif line.strip():
            bullet = re.match(r"(- |\d+\. )", line)
            while end < len(lines) and lines[end].strip() and not re.match(r"(- |\d+\. |\||```|#)", lines[end]):
                end += 1
            text = " ".join(part.strip() for part in lines[index:end])
            if bullet:
                yield filled(text[bullet.end():], "     ", "   • ")
            else:
                yield filled(text)
            yield ""
        index = end


def manual_page(name):
    """A manual page without its first and last line, which name page and date."""
    command = ["mandoc", "-T", "utf8", "-O", f"width={width}", f"{root}/Sources/Documentation/man/{name}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = re.sub(".\b", "", text).rstrip().split("\n")[1:-1]
    return [line.rstrip() for line in lines]


def pages_of(path, after=None):
    return "\n".join(markdown(section(path, after))).split("\n")


def nodes():
    """Name, line for the menu, and lines of each node."""
    yield "Start", "the first note, and the first person to share it with", pages_of(emacs)
    yield "Commands", "the commands in Emacs", pages_of(emacs, "Commands")
    yield "Settings", "variables and faces", pages_of(emacs, "Settings")
    yield "In a note", "what is different in the buffer of a note", pages_of(emacs, "What to expect")
    yield "States", "what a buffer is, and what the screen shows then", pages_of(pages + "Conditions.md")
    yield "The program", "every command and option in a shell", manual_page("notes-lsp.1")
    yield "The server", "notes-lsp serve, a service without an editor", manual_page("notes-lsp-serve.1")
    yield "The store", "what is on disk", manual_page("notes-lsp-store.5")
    yield "Messages", "every message of the program and the plugins", pages_of(pages + "Messages.md")
    yield "Words", "what the words mean", "\n".join(markdown(re.sub(r"\A# .*\n", "", read(pages + "Glossary.md")))).split("\n")


def terms(name, lines):
    """What the index leads to in a node: terms at the left margin, and options and commands of a manual page."""
    for number, line in enumerate(lines):
        if name in ("Commands", "Settings"):
            if line.startswith("‘"):
                # Of a range of faces, the first stands for all.
                yield from ((term, number) for term in re.findall(r"‘([^’]+)’", line) if not term.startswith("-"))
        elif name.startswith("The "):
            # In a list of commands or options, the term is followed by its indented description.
            indent = len(line) - len(line.lstrip())
            after = lines[number + 1] if number + 1 < len(lines) else ""
            match = re.match(r" +(-{1,2}[a-z][a-z-]*|[a-z][a-z-]*)( [^.;]*)?$", line)
            if match and len(after) - len(after.lstrip()) > indent and indent in (5, 7, 13):
                yield match[1], number


def manual():
    chapters = list(nodes())
    names = ["Top"] + [name for name, _, _ in chapters] + ["Index"]
    version = re.search(r'version = "([0-9.]+)"', read("Sources/NotesServer/Session/Service.swift"))
    texts = []

    def add(name, title, lines):
        place = names.index(name)
        links = [f"File: notes-lsp.info,  Node: {name}"]
        if place + 1 < len(names):
            links.append(f"Next: {names[place + 1]}")
        if place:
            links.append(f"Prev: {names[place - 1]}")
        links.append("Up: (dir)" if place == 0 else "Up: Top")
        texts.append((name, "\n".join([",  ".join(links), "", title, ("*" if place == 0 else "=") * len(title), ""] + lines)))

    index = []
    for name, _, lines in chapters:
        # The head of a node has five lines.
        index += [(term, name, number + 6) for term, number in terms(name, lines)]
    menu = ["* Menu:", ""] + [f"* {name + '::':<16}{line}." for name, line, _ in chapters] + ["* Index::         commands, options and settings."]
    about = filled("`notes-lsp` lets several people type in one note, each in their own editor, with carets that all can see. This manual is "
                   "about the Emacs package and the program" + (f", version {version[1]}" if version else "") +
                   "; `:help notes-lsp` is the manual in Vim and Neovim. Press `i` and a command or option to find it.")
    add("Top", "Notes that several people edit at once", [about, ""] + menu)
    for name, line, lines in chapters:
        add(name, name, lines)
    entries, seen = [], set()
    for term, name, number in sorted(index, key=lambda entry: (entry[0].lstrip("-").lower(), names.index(entry[1]), entry[2])):
        if (term, name) in seen or ":" in term:
            continue
        seen.add((term, name))
        entries.append(f"* {term + ':':<38} {name + '.':<22} (line {number:>4})")
    add("Index", "Index", ["\0\b[index\0\b]", "* Menu:", ""] + entries)
    output = ("This is notes-lsp.info, made by Sources/Documentation/Site/info.py.\n\nINFO-DIR-SECTION Emacs\nSTART-INFO-DIR-ENTRY\n"
              "* notes-lsp: (notes-lsp).     Notes that several people edit at once.\nEND-INFO-DIR-ENTRY\n\n")
    tags = []
    for name, text in texts:
        tags.append((name, len(output.encode())))
        output += separator + "\n" + text.rstrip() + "\n\n"
    output += separator + "\nTag Table:\n" + "".join(f"Node: {name}\x7f{place}\n" for name, place in tags)
    return output + separator + "\nEnd Tag Table\n\n" + separator + "\nLocal Variables:\ncoding: utf-8\nEnd:\n"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    new = manual()
    if "--check" not in sys.argv:
        with open(arguments[0], "w", encoding="utf-8") as file:
            file.write(new)
        return
    with open(arguments[0], encoding="utf-8") as file:
        if file.read() != new:
            sys.exit(f"{arguments[0]} is out of date: run make manual")


if __name__ == "__main__":
    main()
