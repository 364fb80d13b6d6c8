#!/usr/bin/env python3
"""Writes what the three plugins have alike, from description.json: commands, keys, menus and colours.

Usage: generate.py           writes the files
       generate.py --check   exit code 1 if a file is not what the description says, or a manual lacks a command

Of a command the description has, besides its name, its arguments and what it does:

    bang      what ! adds to it
    range     whether it takes lines: in both editors, or in Neovim only ("lua")
    complete  what its argument completes to
    plug      whether there is a <Plug> map
    key       its key behind the prefix of Emacs
    vim, lua  what it calls
    flow      instead of those: the request that it makes. `confirm`: asks first, but not with !, and of an item of a meeting `confirmItem`; `about`: the note of the current buffer, or of a list; `argument`: the
              member that the argument becomes; `prompt`: asks for it; `isFile`; `params`: what else is sent; `opens`: whether it
              opens what the answer names; `say`: what is said then, with the argument for {}, by default what the service says
    emacs     where the command is generated for Emacs, too: its docstring `doc`, what is said while it `waiting`s, its own `prompt`
              and `params`, or what is `interactive` instead of the prompt
"""
import json
import os
import re
import sys

root = os.path.dirname(os.path.abspath(__file__))
with open(root + "/description.json", encoding="utf-8") as file:
    description = json.load(file)
commands, menu, colors = description["commands"], description["menu"], description["colors"]
notice = "Generated from editor-plugins/description.json by generate.py; change those."
completions = {
    "file": "file", "titles": "customlist,notes_lsp#commands#CompleteTitle", "share": "customlist,notes_lsp#commands#CompleteShare",
    "near": "customlist,notes_lsp#nearby#CompleteName", "here": "customlist,notes_lsp#going#CompletePeer",
}


def nargs(command, editor):
    arguments = command.get("arguments", "")
    if not arguments:
        return "0"
    if arguments.count("[") + arguments.count("{") > 1 and arguments.startswith("["):
        return "*"
    if arguments.startswith("["):
        return "?"
    # In Vim one argument may contain blanks; in Neovim, too, but then it cannot be split.
    return "+" if editor == "lua" and re.search(r"[} ] \[|words", arguments) else "1"


def heading(command):
    """As in a manual: `:[range]NotesPoint [text]`."""
    text = ("[range]" if command.get("range") == "both" else "") + command["name"] + ("[!]" if "bang" in command else "")
    return ":" + " ".join([text] + ([command["arguments"]] if "arguments" in command else []))


def help_line(command):
    return command["help"] + (f"; ! {command['bang']}" if "bang" in command else "")


def vim_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(vim_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {vim_value(it)}" for key, it in value.items()) + "}"
    return "'" + value.replace("'", "''") + "'"


def lua_value(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, list):
        return "{ " + ", ".join(map(lua_value, value)) + " }"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {lua_value(it)}" for key, it in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def vim():
    lines = ["vim9script", f"# {notice}", "#"]
    shown = [command for command in commands if "vim" in command or "flow" in command]
    lines += [f"#   {heading(command):<30} {help_line(command)}" for command in shown]
    lines += ["", "# The commands. By their full names, so that they also work when a legacy script calls them.", "export def Define()"]
    for command in shown:
        count = nargs(command, "vim")
        parts = ["command!"] + (["-bar"] if count == "0" else [f"-nargs={count}"])
        parts += ["-bang"] if "bang" in command else []
        parts += ["-range"] if command.get("range") == "both" else []
        parts += [f"-complete={completions[command['complete']]}"] if "complete" in command else []
        given = "''" if count == "0" else "<q-args>"
        sure = ", {}, <bang>0" if "confirm" in command.get("flow", {}) else ""
        call = command.get("vim") or f"commands#CarryOut('{command['name']}', {given}{sure})"
        lines.append("  " + " ".join(parts + [command["name"], "call", "notes_lsp#" + call]))
    lines += [f"  nnoremap <silent> <Plug>({command['name']}) <Cmd>{command['name']}<CR>" for command in shown if "plug" in command]
    lines += ["enddef", "", "# What the commands that make one request ask for, send and say.", "export const flows: dict<dict<any>> = {"]
    for command in shown:
        if "flow" in command:
            lines.append(f"  {command['name']}: {{")
            lines += [f"    {key}: {vim_value(value)}," for key, value in command["flow"].items()]
            lines.append("  },")
    lines += ["}", "", "# Twelve colours that can be told apart, for light and for dark backgrounds: the number of 256 and the RGB of a",
              "# caret, the same of a selection. Then the nearest of eight colours."]
    for name in ["light", "dark"]:
        lines += [f"export const {name}: list<list<any>> = ["] + [f"  {vim_value(color[name])}," for color in colors] + ["]"]
    lines += [f"export const basic = {vim_value([color['basic'] for color in colors])}"]
    return "\n".join(lines) + "\n"


def lua():
    lines = [f"-- {notice}", "", "local M = {}", "",
             "-- The commands. `complete` has a function for each kind of completion, `lines` returns the lines that a command was given,",
             "-- and `commands` loads what they call.",
             "function M.define(complete, lines, commands)",
             "  local function define(name, act, options)",
             "    options.bang = true",
             "    vim.api.nvim_create_user_command(name, function(arguments) act(commands(), arguments) end, options)",
             "  end"]
    for command in commands:
        count = nargs(command, "lua")
        options = ["nargs = " + (count if count.isdigit() else f'"{count}"')]
        if "complete" in command:
            options.append("complete = " + ('"file"' if command["complete"] == "file" else "complete." + command["complete"]))
        options += ["range = true"] if "range" in command else []
        given = '""' if count == "0" else "a.args"
        sure = ", nil, a.bang" if "confirm" in command.get("flow", {}) else ""
        call = command.get("lua") or f"c.carry_out(\"{command['name']}\", {given}{sure})"
        if call.startswith("arrival."):
            call = 'require("notes_lsp.arrival")' + call[len("arrival"):]
        used = ["_" if "c." not in call else "c"] + (["a"] if re.search(r"\ba\b", call) else [])
        used = [] if used == ["_"] else used
        lines += [f"  -- {help_line(command)}",
                  f"  define(\"{command['name']}\", function({', '.join(used)}) {call} end, {{ {', '.join(options)} }})"]
    lines += ["end", "", "-- What the commands that make one request ask for, send and say.", "M.flows = {"]
    for command in commands:
        if "flow" in command:
            lines.append(f"  {command['name']} = {{")
            lines += [f"    {key} = {lua_value(value)}," for key, value in command["flow"].items()]
            lines.append("  },")
    lines += ["}", "", "-- Twelve colours that can be told apart, for light and for dark backgrounds: the number of 256 and the RGB of a",
              "-- caret, the same of a selection."]
    for name in ["light", "dark"]:
        lines += [f"M.{name} = {{"] + [f"  {lua_value(color[name])}," for color in colors] + ["}"]
    return "\n".join(lines + ["", "return M"]) + "\n"


def emacs_name(name):
    return "notes" + "".join("-" + part.lower() for part in re.findall("[A-Z][a-z]*", name[len("Notes"):]))


def lisp_value(value):
    if isinstance(value, bool):
        return "t" if value else "nil"
    if isinstance(value, dict):
        return "(" + " ".join(f":{key} {lisp_value(it)}" for key, it in value.items()) + ")"
    return json.dumps(value, ensure_ascii=False)


def lisp_text(text):
    """A docstring, with its line ends as they are."""
    return lisp_value(text).replace("\\n", "\n")


def lisp_flow(command):
    """As a plist: the method and the argument are keywords, as the package sends them."""
    flow, own = command["flow"], command["emacs"]
    parts = [f":method :{flow['method']}"]
    parts += [f":argument :{flow['argument']}"] if "argument" in flow else []
    parts += [f":about {flow['about']}"] if "about" in flow else []
    parts += [f":first :{flow['first']}", f":prompt {lisp_value(flow['prompt'])}"] if "first" in flow else []
    parts += [f":params {lisp_value(own.get('params', flow.get('params')))}"] if "params" in flow else []
    parts += [f":{name} t" for name in ("isFile", "opens") if name in flow]
    parts += [f":{name} {lisp_value(flow[name])}" for name in ("say", "confirm", "confirmItem") if name in flow]
    parts.append(f":waiting {lisp_value(own['waiting'])}")
    return f"({command['name']}\n     " + "\n     ".join(parts) + ")"


def lisp_command(command):
    flow, own = command["flow"], command["emacs"]
    name = "file" if "isFile" in flow else flow.get("argument", "")
    prompt = ("f" if "isFile" in flow else "s") + own.get("prompt", flow.get("prompt", ""))
    if "confirm" in flow:
        return ["", ";;;###autoload", f"(defun {emacs_name(command['name'])} (&optional sure)", f"  {lisp_text(own['doc'])}",
                '  (interactive "P")', f"  (notes-lsp--carry-out '{command['name']} nil nil sure))"]
    if "first" in flow:
        return ["", ";;;###autoload", f"(defun {emacs_name(command['name'])} (&optional {name})", f"  {lisp_text(own['doc'])}",
                "  (interactive)", f"  (notes-lsp--carry-out '{command['name']} {name}))"]
    return ["", ";;;###autoload", f"(defun {emacs_name(command['name'])} ({name})", f"  {lisp_text(own['doc'])}",
            f"  (interactive {own.get('interactive', lisp_value(prompt))})" if name else "  (interactive)",
            f"  (notes-lsp--carry-out '{command['name']}{' ' + name if name else ''}))"]


def emacs():
    lines = [";;; notes-lsp-definitions.el --- Keys, menu and colours of notes  -*- lexical-binding: t -*-", "",
             ";; SPDX-License-Identifier: Apache-2.0", "", ";;; Commentary:", "",
             ";; Generated from editor-plugins/description.json by generate.py; change", ";; those.", "", ";;; Code:", "",
             "(defconst notes-lsp--keys", "  '("]
    keys = [f'("{command["key"]}" . {emacs_name(command["name"])})' for command in commands if "key" in command]
    lines[-1] += "\n    ".join(keys) + ")"
    lines += ['  "Keys behind the prefix of notes, and their commands.")', "", "(defconst notes-lsp--menu-items", '  \'("Notes"']
    for item in menu:
        lines.append(f'    ["{item[0]}" {emacs_name(item[1])}]' if item else '    "--"')
    lines[-1] += ")"
    lines += ['  "The menu of notes, as for `easy-menu-define\'.")', "", "(defconst notes-lsp--palette", "  '("]
    names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
    lines[-1] += "\n    ".join(f'("{it["light"][1]}" "{it["dark"][1]}" "{names[it["basic"]]}")' for it in colors) + ")"
    lines += ['  "For each colour number: on a light background, on a dark one, with 8 colours.")', ""]
    made = [command for command in commands if "emacs" in command]
    lines += ["(defconst notes-lsp--flows", "  '(" + "\n    ".join(map(lisp_flow, made)) + ")",
              '  "What the commands below that make one request send and say.")', "",
              '(declare-function notes-lsp--carry-out "notes-lsp-commands" (name &optional argument row sure))']
    for command in made:
        lines += lisp_command(command)
    lines += ["",
              "(provide 'notes-lsp-definitions)", ";;; notes-lsp-definitions.el ends here"]
    return "\n".join(lines) + "\n"


def lacking():
    """What the manuals do not name."""
    for page, editor in [("vim/doc/notes_lsp.txt", "vim"), ("neovim/doc/notes-lsp.txt", "lua")]:
        with open(f"{root}/{page}", encoding="utf-8") as manual:
            text = manual.read()
        for command in commands:
            if ("vim" in command or "flow" in command) and not re.search(rf":(\[range\])?{command['name']}\b|\]{command['name']}\b", text):
                yield f"{page} lacks {command['name']}"
    sources = ""
    for name in sorted(os.listdir(root + "/emacs")):
        if name.endswith(".el"):
            with open(f"{root}/emacs/{name}", encoding="utf-8") as source:
                sources += source.read()
    for command in commands:
        if "vim" in command or "flow" in command:
            if f"(defun {emacs_name(command['name'])} (" not in sources:
                yield f"Emacs lacks {emacs_name(command['name'])}"


def main():
    files = {"vim/autoload/notes_lsp/definitions.vim": vim(), "neovim/lua/notes_lsp/definitions.lua": lua(),
             "emacs/notes-lsp-definitions.el": emacs()}
    problems = list(lacking())
    for path, text in files.items():
        if "--check" not in sys.argv:
            with open(f"{root}/{path}", "w", encoding="utf-8") as out:
                out.write(text)
        elif not os.path.exists(f"{root}/{path}") or open(f"{root}/{path}", encoding="utf-8").read() != text:
            problems.append(f"{path} is not what description.json says: run editor-plugins/generate.py")
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
