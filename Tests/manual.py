"""Writes the commands that a notes-lsp has into the manual page, or checks that the page has them.

    manual.py PROGRAM PAGE [--check]

A page called PROGRAM-COMMAND.1 has the options of that command alone.

The text comes from the program's own help, so the two cannot differ.
"""

import json
import os
import re
import subprocess
import sys
import textwrap

BEGIN = '.\\" BEGIN COMMANDS (made by make manual)\n'
END = '.\\" END COMMANDS\n'
# The options that all commands share stand in a section of their own.
SHARED = {"home", "notes", "name", "json", "version", "help"}


def roff(text):
    """A sentence as mdoc takes it: no line that begins with a control character, each sentence on its own line."""
    text = text.replace("\\", "\\e").replace("~", "\\(ti")
    lines = []
    for sentence in re.split(r"(?<=[.:;]) +(?=[A-Z])", text):
        lines += textwrap.wrap(sentence, 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in lines)


def discussion(text):
    """Paragraphs are filled; indented lines stay as they are."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        plain, kept = [], []
        for line in paragraph.split("\n"):
            (kept if line.startswith(" ") else plain).append(line)
        if plain:
            parts.append(roff(" ".join(plain)))
        if kept:
            body = "\n".join(line.strip().replace("\\", "\\e").replace("~", "\\(ti") for line in kept)
            parts.append(".Bd -literal -offset indent -compact\n" + body + "\n.Ed")
    return "\n".join(parts)


def name_of(argument):
    names = argument.get("names") or []
    long = [n["name"] for n in names if n["kind"] == "long"]
    return long[0] if long else (names[0]["name"] if names else "")


def flags(argument):
    shown = []
    for name in argument["names"]:
        shown.append("Fl -" + name["name"] if name["kind"] == "long" else "Fl " + name["name"])
    value = " Ar " + argument["valueName"] if argument["kind"] == "option" else ""
    return " , ".join(shown) + value


def own_arguments(command):
    for argument in command.get("arguments", []):
        if argument.get("shouldDisplay", True) and name_of(argument) not in SHARED - ({"name"} & {command["commandName"]}):
            yield argument


def commands(help_text):
    lines = [".Bl -tag -width Ds"]
    for command in help_text["command"]["subcommands"]:
        name = command["commandName"]
        if name == "help" or not command.get("shouldDisplay", True):
            continue
        heading = ".It Ic " + name
        for argument in own_arguments(command):
            if argument["kind"] == "positional":
                shown = "Ar " + argument["valueName"] + (" ..." if argument.get("isRepeating") else "")
            else:
                shown = flags(argument).replace(" , ", " | ")
            optional = argument.get("isOptional", True) or argument["kind"] == "flag"
            heading += " Oo " + shown + " Oc" if optional else " " + shown
        lines.append(heading)
        lines.append(roff(command.get("abstract", "")))
        if command.get("discussion"):
            lines.append(discussion(command["discussion"]))
        options = [a for a in own_arguments(command) if a["kind"] != "positional" and a.get("abstract")]
        if options:
            lines.append(".Bl -tag -width Ds -compact")
            for argument in options:
                lines.append(".It " + flags(argument))
                default = argument.get("defaultValue")
                lines.append(roff(argument["abstract"] + (f" The default is {default}." if default else "")))
            lines.append(".El")
    lines.append(".El")
    return "\n".join(lines) + "\n"


def options(command):
    """The abstract and discussion of one command, then all of its options, the shared ones included."""
    parts = [discussion(command["discussion"])] if command.get("discussion") else []
    parts += ["The options are:", ".Bl -tag -width Ds"]
    for argument in command.get("arguments", []):
        if argument.get("shouldDisplay", True) and argument["kind"] != "positional":
            parts.append(".It " + flags(argument))
            default = argument.get("defaultValue")
            abstract = argument.get("abstract", "")
            if default and "The default is" not in abstract:
                abstract += f" The default is {default}."
            parts.append(roff(abstract))
    return "\n".join(parts + [".El"]) + "\n"


def main():
    program, page = sys.argv[1], sys.argv[2]
    dump = subprocess.run([program, "--experimental-dump-help"], capture_output=True, text=True, check=True).stdout
    with open(page, encoding="utf-8") as file:
        old = file.read()
    start, end = old.index(BEGIN) + len(BEGIN), old.index(END)
    help_text = json.loads(dump)
    of_command = re.fullmatch(r"notes-lsp-(\w+)\.1", os.path.basename(page))
    if of_command:
        text = options(next(c for c in help_text["command"]["subcommands"] if c["commandName"] == of_command[1]))
    else:
        text = commands(help_text)
    new = old[:start] + text + old[end:]
    if "--check" in sys.argv:
        if new != old:
            sys.exit("The commands in the manual page are not those of the program: run make manual")
    elif new != old:
        with open(page, "w", encoding="utf-8") as file:
            file.write(new)


main()
