#!/usr/bin/env python3
"""Writes Sources/Documentation/Messages.md: every message of the program and of the plugins, with its place.

Usage: messages.py           writes the page
       messages.py --check   exit code 1 if the page is not what the sources say, or a message is too long for a status line
       messages.py --control exit code 1 unless a message that is added anywhere, in any way, is missing in the page

A message is any literal of two words or more, except where `is_said` says why it reaches no screen: so one that nobody thought of
is in the page, or is to be named here. What varies in it stands as an ellipsis, so a message that the editors share is one row.
"""
import glob
import os
import re
import sys

import literals

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
page = root + "/Sources/Documentation/Messages.md"
maximum_length = 60
head = """# Messages

Every message of the program and of the plugins, and where it is made: whatever the sources have in quotes that is two words or
more, without what goes to the log, what `--help` prints (it is in the manual), and what is for a machine. `Tests/messages.py`
writes this page, and `make lint` fails if it is out of date, or if a message of a status line is longer than 60 characters, without
what varies in it (here an ellipsis). Some rows are parts of a line, and some are reasons at its end, after a colon. Long names and
titles are cut where the service makes a message; the plugins cut what is left to the width of the screen. The words are chosen by
these rules: instruction first, the actor named, the words of the field, what happened and then what to do. Vim's names of commands
stand for those of Emacs, too (`:NotesShare` is `M-x notes-share` there).

"""

# Modules whose words reach no person: `AutomergeRepoConformance` is for the tests of those who write providers.
withoutWords = ["AutomergeRepoConformance"]
# Files whose words are no messages: the words of tickets, the text of a note, and what only a test sees.
withoutMessages = ["TicketWordList.swift", "Tutorial.swift", "TextTree+Invariants.swift"]
# Calls whose arguments are not said: the log, what stops the program, what `--help` prints, constants of protocols, SQL, patterns.
unsaid = {
    "Swift": r"(^|[.?!])(log|logger|complain)(\.\w+)?$|^\.(trace|debug|info|notice|warning|error|critical)$|Logger"
             r"|^(precondition|preconditionFailure|fatalError|assert|assertionFailure|CommandConfiguration|ArgumentHelp|Option|Flag"
             r"|Argument|Array|Data|SHA256\.hash|DispatchQueue)$"
             r"|\.(execute|cachedStatement|fetchAll|fetchOne|fetchCursor|contains|hasPrefix|hasSuffix|prefix|firstRange)$",
    "Emacs": r"^(string-match(-p)?|looking-at(-p)?|looking-back|re-search-(for|back)ward|replace-regexp-in-string|string-replace|rx"
             r"|split-string|format-time-string|kbd|define-key|declare-function|defgroup|provide|require|string-search"
             r"|string-trim(-left|-right)?|get-buffer-create|get-buffer|generate-new-buffer|make-temp-name|char-displayable-p)$",
    "Vim": r"^(win_execute|setcmdline|bufnr|bufadd|matchstr|substitute|match|matchlist|split|strftime|search|searchpos|feedkeys|has)$",
    "Neovim": r"^(vim\.cmd|vim\.fn\.(bufnr|search|match|strftime|has|matchstr|substitute)|vim\.keymap\.set|require|nvim_command)$",
}
# What stands before a literal that is not said.
unsaidAfter = {
    "Swift": r"(help|abstract|discussion|usage|valueName|sql|label): $|(static let (label|query|table)\w*\s*=\s*)$",
    "Emacs": r":documentation $",
    "Vim": r"(execute|=~[#?]?|!~[#?]?|\bsubstitute\(|\bsplit\(|->(matchstr|substitute|split|match)\([^)]*) ?\$?$|^\s*(import|export import) $",
    "Neovim": r"(vim\.cmd|:match|:gsub|:gmatch|:find|pcall)\W*$|pcall\(vim\.cmd, $",
}
# Literals that are not said, wherever they are.
unsaidTexts = r"(?s)^(\*.*\*$|\[(Note|Deleted)[^]]*\]$|highlight |\d{3} [A-Z]|(Allow|Connection|Content-Type|Authorization|Upgrade): |GET " \
              r"|.*\bnotes_lsp\.|.*\bpg_|.*\$\d|.*::bytea|document = |encode\(|" \
              r"\^|\\v|silent |noautocmd |setlocal |normal! |nnoremap |keepjumps |lockmarks |SELECT |INSERT |DELETE |CREATE |PRAGMA |BEGIN|ALTER |WITH |UPDATE |LISTEN |NOTIFY |" \
              r"-----BEGIN|-----END|Content-Length|HTTP/|GET /|Notes [a-z]+$|\*notes|\[Notes [a-z]+\]$)"


def is_said(language, literal):
    """Whether a literal of two words or more reaches a screen."""
    return not (any(re.search(unsaid[language], call) for call in literal.calls)
                or re.search(unsaidAfter[language], literal.before)
                or re.match(unsaidTexts, literal.text.strip()))


def cleaned(text):
    text = text.replace("\\()", "…")
    text = re.sub(r"\{[^{}]*\}", "…", text) if "{" in text and '"' not in text else text
    text = re.sub(r"%(?:-?\d+)?[sdS]", "…", text).replace("%%", "%")
    text = text.replace('\\"', '"').replace("\\\\", "\\").replace("\\n", " ").replace("''", "'")
    text = re.sub(r"\\\[notes-?([a-z-]*)\]", lambda name: ":Notes" + name[1].title().replace("-", ""), text)
    text = re.sub(r"^Notes: ", "", text)
    text = re.sub(r"M-x notes-?([a-z-]*)", lambda name: ":Notes" + name[1].title().replace("-", ""), text)
    return re.sub(r"\s+", " ", text).strip()


def fitted(call):
    """The message of `fitted(name, middle, title, end)`."""
    arguments, depth, quote, current = [], 0, False, ""
    for index, character in enumerate(call[1:-1], 1):
        quote ^= character == '"' and call[index - 1] != "\\"
        depth += (character in "([") - (character in ")]") if not quote else 0
        if character == "," and depth == 0 and not quote:
            arguments.append(current.strip())
            current = ""
        else:
            current += character
    arguments.append(current.strip())

    def shown(argument):
        parts = literals.swift(argument)
        return "…" if not parts else " / ".join(part.text for part in parts) if "?" in argument else parts[0].text

    name, middle, _, end = (arguments + ['""'] * 4)[:4]
    return cleaned(f'{shown(name)}{shown(middle)}"…"{shown(end)}')


def balanced(text, start):
    """The text from the parenthesis at `start` to the one that closes it, outside of literals."""
    inside = [range(literal.start, literal.end) for literal in literals.swift(text[start:start + 1000])]
    depth = 0
    for index, character in enumerate(text[start:start + 1000]):
        if character in "()" and not any(index in part for part in inside):
            depth += 1 if character == "(" else -1
            if depth == 0:
                return text[start:start + index + 1]
    return ""


def is_message(text):
    """Whether the text is two words or more."""
    return " " in text.strip(" .:;,") and len(re.findall(r"[^\W\d_]{2,}", text.replace("…", " "))) >= 2


def sources():
    """Yields (language, the reader of its literals, path)."""
    for path in glob.glob(root + "/Sources/*/**/*.swift", recursive=True):
        if os.path.relpath(path, root).split("/")[1] not in withoutWords and os.path.basename(path) not in withoutMessages:
            yield "Swift", literals.swift, path
    for path in glob.glob(root + "/editor-plugins/vim/autoload/**/*.vim", recursive=True):
        yield "Vim", literals.vim, path
    for path in glob.glob(root + "/editor-plugins/emacs/*.el"):
        yield "Emacs", literals.lisp, path
    for path in glob.glob(root + "/editor-plugins/neovim/lua/**/*.lua", recursive=True):
        yield "Neovim", literals.lua, path


# Calls that show a line where there is room for one.
status = {
    "Vim": r"^(status\.)?(Say|Warn|Urge|Ask)$", "Emacs": r"^(notes-lsp--(say|refuse|warn|news|urge)|user-error)$",
    "Neovim": r"^say\.(news|warn|urge)$", "Swift": r"(?!)",
}


def messages(language, literals):
    """Yields (message, whether it is one of a status line) for the literals of a source."""
    for literal in literals:
        if not is_said(language, literal):
            continue
        # An interactive form has prompts with their kinds.
        isPrompt = language == "Emacs" and literal.calls[:1] == ["interactive"]
        if language == "Swift" and re.search(r"(^|\.)fitted$", (literal.calls or [""])[0]):
            continue
        for text in re.sub(r"(^|\\n)\*?[a-zA-Z]", r"\1", literal.text).split("\\n") if isPrompt else [literal.text]:
            if is_message(cleaned(text)):
                yield cleaned(text), bool(literal.calls) and bool(re.search(status[language], literal.calls[0]))


def rows_of(found):
    """The lines of the page, and what is too long for a status line."""
    rows, tooLong = {}, set()
    for language, path, said in found:
        for message, isOnStatusLine in said:
            rows.setdefault(message, {}).setdefault(language, set()).add(os.path.basename(path))
            if isOnStatusLine and len(message.replace("…", "")) > maximum_length:
                tooLong.add(message)
    lines = ["| message | Vim | Neovim | Emacs | program |", "|---|---|---|---|---|"]
    for message in sorted(rows, key=lambda message: (message.lstrip("… \"").lower(), message)):
        places = [", ".join(sorted(rows[message].get(language, ()))) for language in ["Vim", "Neovim", "Emacs", "Swift"]]
        lines.append("| " + message.replace("|", "\\|") + " | " + " | ".join(places) + " |")
    return lines, tooLong


def said_in(language, read, text):
    """The messages of a source. Those that are put together of a name and a title are shown as a whole."""
    said = list(messages(language, read(text)))
    if language == "Swift":
        for match in re.finditer(r"\bfitted\(", text):
            message = fitted(balanced(text, match.end() - 1))
            if is_message(message):
                said.append((message, False))
    return said


def everything():
    for language, read, path in sources():
        with open(path, encoding="utf-8") as file:
            yield language, path, said_in(language, read, file.read())


# How a new message may come into a source of each language.
controls = {
    "Swift": ['func f() -> String { "%s" }', 'let x = isNew ? "%s" : "y"', 'var text: String { switch self { case .a: "%s" } }',
              'throw NotesError(.notFound, "%s")', 'let x = "a \\(b("%s")) c"', 'let x = """\n  %s\n  """', 'print("%s")', 'let x = ["%s"]',
              'let x = NoteNews.fitted(name, " %s ", title, "")'],
    "Vim": ["def F(): string\n  return '%s'\nenddef", "const words = {a: '%s'}", 'status.Say($"%s")', "const x = $'a {b ? '%s' : ''}'"],
    "Emacs": ['(defun f () "Doc." "%s")', '(notes-lsp--say "%s")', '(defconst notes-x "%s" "Doc of it.")', "(list '(\"a\" . \"%s\"))",
              '(interactive "s%s: ")'],
    "Neovim": ['local function f() return "%s" end', "local words = { a = '%s' }", 'say.news(a and "%s" or b)', "local x = [[%s]]"],
}


def control():
    """Adds a message to each kind of source, in each way; returns where it is not noticed."""
    read = {"Swift": literals.swift, "Vim": literals.vim, "Emacs": literals.lisp, "Neovim": literals.lua}
    missed = []
    for language, ways in controls.items():
        path = next(path for other, _, path in sources() if other == language)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for way in ways:
            said = [message for message, _ in said_in(language, read[language], text + "\n" + way % "Zebras cross here")]
            if not any("Zebras cross here" in message for message in said):
                missed.append(f"{language}: {way}")
    return missed


def main():
    if "--control" in sys.argv:
        missed = control()
        print("\n".join(missed) or f"all {sum(map(len, controls.values()))} ways to add a message are noticed")
        sys.exit(1 if missed else 0)
    lines, tooLong = rows_of(everything())
    text = head + "\n".join(lines) + "\n"
    if "--check" not in sys.argv:
        with open(page, "w", encoding="utf-8") as file:
            file.write(text)
    elif not os.path.exists(page) or open(page, encoding="utf-8").read() != text:
        sys.exit("Messages.md is not what the sources say: run Tests/messages.py")
    for message in sorted(tooLong):
        print(f"too long for a status line: {message}", file=sys.stderr)
    sys.exit(1 if tooLong else 0)


if __name__ == "__main__":
    main()
