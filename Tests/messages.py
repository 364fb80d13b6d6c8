#!/usr/bin/env python3
"""Writes Sources/Documentation/Messages.md: every message of the program and of both plugins, with its place.

Usage: messages.py           writes the page
       messages.py --check   exit code 1 if the page is not what the sources say, or a message is too long for a status line

What varies in a message stands as an ellipsis, so a message that both editors have is one row.
"""
import glob
import os
import re
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
page = root + "/Sources/Documentation/Messages.md"
maximum_length = 60
head = """# Messages

Every message of the program and of both plugins, and where it is made. `Tests/messages.py` writes this page from the sources, and
`make lint` fails if it is out of date, or if a message of a status line is longer than 60 characters, without what varies in it
(here an ellipsis). Long names and titles are cut where the service makes a message; the plugins cut what is left to the width of
the screen. The words are chosen by these rules: instruction first, the actor named, the words of the field, what happened and then
what to do. Vim's names of commands stand for those of Emacs, too (`:NotesShare` is `M-x notes-share` there).

"""


def balanced(text, start):
    """The text from the parenthesis at `start` to the one that closes it."""
    depth, quote, index = 0, None, start
    while index < len(text):
        character = text[index]
        if quote:
            if character == "\\" and quote == '"':
                index += 1
            elif character == quote:
                quote = None
        elif character in quotes:
            quote = character
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                return text[start:index + 1]
        index += 1
    return text[start:]


def cleaned(text):
    text = re.sub(r"\\\((?:[^()]|\([^()]*\))*\)", "…", text)
    text = re.sub(r"\{[^{}]*\}", "…", text)
    text = re.sub(r"%[sdS]", "…", text)
    text = text.replace('\\"', '"').replace("\\\\", "\\").replace("\\n", " ").replace("''", "'")
    text = re.sub(r"\\\[notes-?([a-z-]*)\]", lambda name: ":Notes" + name[1].title().replace("-", ""), text)
    text = re.sub(r"^Notes: ", "", text)
    text = re.sub(r"M-x notes-?([a-z-]*)", lambda name: ":Notes" + name[1].title().replace("-", ""), text)
    return re.sub(r"\s+", " ", text).strip()


quotes = "'\""


def fitted(call):
    """The message of `fitted(name, middle, title, end)`."""
    arguments, depth, quote, current = [], 0, False, ""
    for character in call[1:-1]:
        quote ^= character == '"'
        depth += (character in "([") - (character in ")]") if not quote else 0
        if character == "," and depth == 0 and not quote:
            arguments.append(current.strip())
            current = ""
        else:
            current += character
    arguments.append(current.strip())

    def shown(argument):
        literals = re.findall(r'"((?:[^"\\]|\\.)*)"', argument)
        return "…" if not literals else " / ".join(literals) if "?" in argument else literals[0]

    name, middle, _, end = (arguments + ['""'] * 4)[:4]
    return cleaned(f'{shown(name)}{shown(middle)}"…"{shown(end)}')


def found(pattern, files, literal, quoting, surface):
    """Yields (message, surface, place) for each literal in a call that the pattern begins."""
    global quotes
    quotes = quoting
    for path in files:
        text = open(path, encoding="utf-8").read()
        for match in re.finditer(pattern, text):
            call = balanced(text, match.start() + match.group().index("("))
            if surface == "Emacs":
                # Only the strings of this call itself, of `if` and of `format`.
                call = call[:1200]
            if surface == "Vim":
                call = re.sub(r"\{[^{}\n]*\}", "…", call)
            if "fitted" in match.group():
                # The function itself has no words.
                if re.search("[a-z]{2}", fitted(call)):
                    yield fitted(call), surface, os.path.basename(path)
                continue
            for part in re.finditer(literal, call):
                message = cleaned(part[1])
                words = re.findall(r"[A-Za-z]{2,}", re.sub(r":Notes\w*", "", message))
                if message[:1] in "^),":
                    continue
                if len(words) >= 2 or message.endswith("…") and len(words) == 1 and message[0].isupper():
                    yield message, surface, os.path.basename(path)


def everything():
    vim = glob.glob(root + "/editor-plugins/vim/autoload/**/*.vim", recursive=True)
    emacs = glob.glob(root + "/editor-plugins/emacs/*.el")
    swift = [path for folder in ["NotesServer", "notes-lsp"]
             for path in glob.glob(f"{root}/Sources/{folder}/**/*.swift", recursive=True)]
    yield from found(r"status\.(?:Say|Warn|Urge|Ask)\(|\bconfirm\(|\b(?:Say|Warn)\(", vim, r"'((?:[^']|'')*)'", "'", "Vim")
    yield from found(r"\(notes-lsp--(?:say|refuse|warn|news|urge)\s|\(user-error\s|\(yes-or-no-p\s|\(y-or-n-p\s|\(read-string\s",
                     emacs, r'"((?:[^"\\]|\\.)*)"', '"', "Emacs")
    yield from found(r"NotesError\(|\bfitted\(|NoteNews\.cut\(|Failure\(|ValidationError\(", swift, r'"((?:[^"\\]|\\.)*)"', '"',
                     "program")
    for path in swift:
        for match in re.finditer(r'message: "((?:[^"\\]|\\.)*)"', open(path, encoding="utf-8").read()):
            message = cleaned(match[1])
            if len(message.split()) >= 2:
                yield message, "program", os.path.basename(path)


def main():
    rows = {}
    for message, surface, place in everything():
        rows.setdefault(message, {}).setdefault(surface, set()).add(place)
    tooLong = [message for message, places in rows.items()
               if ("Vim" in places or "Emacs" in places) and len(message.replace("…", "")) > maximum_length]
    lines = ["| message | Vim | Emacs | program |", "|---|---|---|---|"]
    for message in sorted(rows, key=lambda message: (message.lstrip("… \"").lower(), message)):
        places = [", ".join(sorted(rows[message].get(surface, ()))) for surface in ["Vim", "Emacs", "program"]]
        lines.append("| " + message.replace("|", "\\|") + " | " + " | ".join(places) + " |")
    text = head + "\n".join(lines) + "\n"
    if "--check" not in sys.argv:
        with open(page, "w", encoding="utf-8") as file:
            file.write(text)
    elif not os.path.exists(page) or open(page, encoding="utf-8").read() != text:
        sys.exit("Messages.md is not what the sources say: run Tests/messages.py")
    for message in tooLong:
        print(f"too long for a status line: {message}", file=sys.stderr)
    sys.exit(1 if tooLong else 0)


main()
