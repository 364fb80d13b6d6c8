"""Finds the string literals of Swift, Emacs Lisp, Vim9 script and Lua, each with the calls around it."""
import re


class Literal:
    """A string literal: its text as written, the calls that it is an argument of, innermost first, and its line before it."""

    def __init__(self, text, calls, before, start=0, end=0):
        self.text, self.calls, self.before, self.start, self.end = text, calls, before, start, end


def joined(literals, text, operator):
    """Makes one literal of those that the operator joins, with an ellipsis for what is between them."""
    whole = []
    for literal in literals:
        between = text[whole[-1].end:literal.start].strip() if whole and whole[-1].end else ""
        isOne = between == operator or (
            re.match(re.escape(operator) + r".*" + re.escape(operator) + "$", between, re.S) and len(between) > 2 * len(operator)
            and not re.search(r"[,;?{}=]|\b(and|or|then|else|return)\b", between) and between.count("(") == between.count(")"))
        if isOne:
            whole[-1].text += ("" if between == operator else "\\()") + literal.text
            whole[-1].end = literal.end
        else:
            whole.append(literal)
    return whole


class _Scanner:
    """Walks over a source, keeps the names before open brackets, and collects literals."""

    def __init__(self, text):
        self.text, self.at, self.open, self.found = text, 0, [], []

    def name_before(self):
        match = re.search(r"[\w.#:!?-]+$", self.text[max(0, self.at - 80):self.at].rstrip())
        return match[0] if match else ""

    def collect(self, body, start, end):
        begin = self.text.rfind("\n", 0, start) + 1
        self.found.append(Literal(body, [name for _, name in reversed(self.open)], self.text[begin:start], start, end))

    def bracket(self, character):
        if character in "([{":
            self.open.append((character, self.name_before() if character == "(" else ""))
        elif self.open:
            self.open.pop()


def swift(text):
    scanner = _Scanner(text)

    def string(start):
        """The end of the literal at `start`, and its body with each interpolation as `\\()`; literals in those are collected."""
        hashes = len(re.match("#*", text[start:])[0])
        quote = '"""' if text.startswith('"""', start + hashes) else '"'
        at, body = start + hashes + len(quote), ""
        end, escape = quote + "#" * hashes, "\\" + "#" * hashes
        while at < len(text) and not text.startswith(end, at):
            if text.startswith(escape + "(", at):
                scanner.at = at + len(escape)
                inside = code(scanner.at + 1, True)
                body, at = body + "\\()", inside
            elif text.startswith(escape, at):
                body, at = body + text[at:at + len(escape) + 1], at + len(escape) + 1
            else:
                body, at = body + text[at], at + 1
        if quote == '"""':
            body = re.sub(r"\\\n\s*", "", body)
        return at + len(end), body

    def code(at, isInside=False):
        """Reads code up to the end, or, inside of an interpolation, to behind its closing bracket."""
        depth = 1
        while at < len(text):
            character = text[at]
            if text.startswith("//", at):
                at = text.find("\n", at) if "\n" in text[at:] else len(text)
            elif text.startswith("/*", at):
                at = text.find("*/", at) + 2
            elif character == '"' or character == "#" and re.match('#+"', text[at:at + 8]):
                start = at
                scanner.at = at
                at, body = string(at)
                scanner.collect(body, start, at)
            else:
                if character in "([{}])":
                    scanner.at = at
                    if isInside:
                        depth += 1 if character in "([{" else -1
                        if depth == 0:
                            return at + 1
                    scanner.bracket(character)
                at += 1
        return at

    code(0)
    return joined(scanner.found, text, "+")


def lisp(text):
    """Without documentation strings."""
    scanner, at = _Scanner(text), 0
    forms = []
    while at < len(text):
        character = text[at]
        if character == ";":
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif character == "?" and re.match(r"[\s(\[`',]", text[at - 1:at] or " "):
            at += 3 if text[at + 1:at + 2] == "\\" else 2
        elif character == '"':
            match = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S).match(text, at)
            scanner.collect(re.sub(r"\\\n", "", match[1]), at, match.end())
            if forms:
                forms[-1].append(scanner.found[-1])
            at = match.end()
        else:
            if character == "(":
                head = re.match(r"\(\s*([^\s()\"]*)", text[at:at + 80])
                scanner.open.append((character, head[1]))
                forms.append([])
            elif character == "[":
                scanner.open.append((character, ""))
                forms.append([])
            elif character in ")]" and scanner.open:
                name = scanner.open.pop()[1]
                _document(name, forms.pop(), scanner.found)
            at += 1
    return scanner.found


def _document(name, strings, found):
    """Takes the documentation string of a definition called `name` out of `found`; `strings` are those right inside of it."""
    if not re.match(r"(cl-)?def|define-|notes-lsp--define|easy-menu-define", name) or not strings:
        return
    isVariable = re.match(r"(cl-)?def(var|const|custom|face|group|struct)|define-derived-mode", name)
    documentation = strings[-1] if isVariable else strings[0]
    # A constant without documentation has only its value.
    if not (isVariable and len(strings) == 1 and re.search(r"\(def\S+\s+\S+\s+$", documentation.before)):
        found.remove(documentation)


def vim(text):
    scanner, at = _Scanner(text), 0
    while at < len(text):
        character = text[at]
        before = text[text.rfind("\n", 0, at) + 1:at]
        if character == "#" and (not before.strip() or before[-1:] == " "):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif character in "'\"":
            start, body, at = at, "", at + 1
            isInterpolated = text[start - 1:start] == "$"
            while at < len(text) and text[at] != "\n":
                if character == "'" and text.startswith("''", at):
                    body, at = body + "'", at + 2
                elif character == '"' and text[at] == "\\":
                    body, at = body + text[at:at + 2], at + 2
                elif isInterpolated and text[at] == "{":
                    end = _closing(text, at)
                    for inside in vim(text[at + 1:end]):
                        scanner.found.append(Literal(inside.text, inside.calls, inside.before))
                    body, at = body + "…", end + 1
                elif text[at] == character:
                    break
                else:
                    body, at = body + text[at], at + 1
            scanner.at = start
            scanner.collect(body, start, at + 1)
            at += 1
        else:
            if character in "([{}])":
                scanner.at = at
                scanner.bracket(character)
            at += 1
    return joined(scanner.found, text, "..")


def _closing(text, at):
    """Where the bracket that opens at `at` is closed."""
    depth = 0
    for index in range(at, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth == 0:
            return index
    return len(text)


def lua(text):
    scanner, at = _Scanner(text), 0
    while at < len(text):
        character = text[at]
        if text.startswith("--", at):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif text.startswith("[[", at):
            end = text.find("]]", at)
            scanner.collect(text[at + 2:end], at, end + 2)
            at = end + 2
        elif character in "'\"":
            match = re.compile(character + r"((?:[^\\\n" + character + r"]|\\.)*)" + character).match(text, at)
            scanner.collect(match[1], at, match.end())
            at = match.end()
        else:
            if character in "([{}])":
                scanner.at = at
                scanner.bracket(character)
            at += 1
    return joined(scanner.found, text, "..")
