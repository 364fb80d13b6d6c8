#!/usr/bin/env python3
"""Records the demo as a picture that moves: Vim and Emacs side by side, drawn from what the terminal showed.

Usage: pictures.py OUT.svg     (NOTES_LSP_BINARY: the program; else .build/debug/notes-lsp)

Looks at both panes ten times a second while `demo.sh --record` plays, and draws each line of the terminal for as long as it
stood there. Nothing is edited by hand. The picture has colours for light and for dark pages, and shows its last frame only
where the reader asked for no motion.
"""
import html
import os
import re
import subprocess
import sys
import time
import unicodedata

here = os.path.dirname(os.path.abspath(__file__))
columns, lines = 112, 17
cell = (8.4, 17)
margin, title, gap = 10, 24, 14
pace = 0.11
look = 0.1
"""Seconds between two looks at the screen."""

light = ["#24292f", "#b3261e", "#116329", "#7d4e00", "#0a50b0", "#8250df", "#0b6e75", "#6e7781",
         "#57606a", "#c62828", "#1a7f37", "#8a5a00", "#0969da", "#a475f9", "#1b7c83", "#424a53"]
dark = ["#0d1117", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9",
        "#8b949e", "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc"]


def tmux(socket, *arguments):
    done = subprocess.run(["tmux", "-L", socket, "-u", *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def separate(text):
    """A terminal's lines, each with the escapes that say all of its colours; the terminal says only what changes."""
    active = ""
    found = []
    for line in text.split("\n")[:lines]:
        found.append(active + line)
        for escape in re.findall(r"\x1b\[[0-9;]*m", line):
            active = "" if escape in ("\x1b[m", "\x1b[0m") else active + escape
    return found


def panes(socket):
    """Both panes as lists of lines with escapes, and where each cursor is; nil when there is no such screen."""
    found = []
    for pane in ("demo:0.0", "demo:0.1"):
        place = tmux(socket, "display-message", "-p", "-t", pane, "#{cursor_x} #{cursor_y} #{cursor_flag} #{pane_width}")
        text = tmux(socket, "capture-pane", "-e", "-p", "-t", pane)
        if not place or text is None:
            return None
        x, y, shown, width = (int(part) for part in place.split())
        found.append((separate(text), (x, y) if shown else None, width))
    return found


def record():
    """What stood on the screen, as [(seconds, panes)], each differing from the one before."""
    socket = f"notes-lsp-picture-{os.getpid()}"
    environment = dict(os.environ, NOTES_DEMO_SOCKET=socket, NOTES_DEMO_PACE=str(pace), TERM="xterm-256color",
                       NOTES_DEMO_SIZE=f"{columns} {lines}", NOTES_DEMO_CAPTURE=os.devnull, LC_ALL="C.UTF-8", LANG="C.UTF-8",
                       NOTES_LSP_BINARY=os.environ.get("NOTES_LSP_BINARY", here + "/../../.build/debug/notes-lsp"))
    demo = subprocess.Popen([here + "/demo.sh", "--record"], env=environment, stdout=subprocess.DEVNULL)
    frames = []
    start = time.monotonic()
    while demo.poll() is None:
        now = panes(socket)
        if now and (not frames or frames[-1][1] != now):
            frames.append((time.monotonic() - start, now))
        time.sleep(look)
    if demo.returncode:
        sys.exit("The demo failed, so there is no picture.")
    # From Ben's arrival on: what comes before is two editors that start.
    first = next(at for at, (_, shown) in enumerate(frames) if any("Shopping" in line for line in shown[1][0]))
    zero = frames[first][0]
    return [(at - zero, shown) for at, shown in frames[first:]], time.monotonic() - start - zero


def color(number):
    if number < 16:
        return f"var(--c{number})"
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"rgb({level},{level},{level})"
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return f"rgb({levels[number // 36]},{levels[number // 6 % 6]},{levels[number % 6]})"


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def runs(line):
    """A terminal's line as [(text, foreground, background, is bold, is underlined)]; a colour that is nil is the screen's own."""
    found = []
    fore = back = None
    bold = underlined = reverse = False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b"):
            part = re.sub(r"\x1b.|[\x00-\x1f]", "", part)
            if part:
                shown = (back or "var(--back)", fore or "var(--fore)") if reverse else (fore, back)
                found.append((part, *shown, bold, underlined))
            continue
        codes = [int(code or 0) for code in part[2:-1].split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                fore = back = None
                bold = underlined = reverse = False
            elif code in (1, 22):
                bold = code == 1
            elif code in (4, 24):
                underlined = code == 4
            elif code in (7, 27):
                reverse = code == 7
            elif code in (38, 48):
                kind = codes.pop(0)
                if kind == 5:
                    value = color(codes.pop(0))
                else:
                    value = "rgb(%d,%d,%d)" % tuple(codes[:3])
                    del codes[:3]
                fore, back = (value, back) if code == 38 else (fore, value)
            elif code == 39:
                fore = None
            elif code == 49:
                back = None
            elif 30 <= code <= 37 or 90 <= code <= 97:
                fore = color(code - 30 if code < 90 else code - 82)
            elif 40 <= code <= 47 or 100 <= code <= 107:
                back = color(code - 40 if code < 100 else code - 92)
    return found


def drawn(line, x, y):
    """One line of a terminal as elements of SVG."""
    parts = []
    column = 0
    for text, fore, back, bold, underlined in runs(line):
        cells = width(text)
        left = x + column * cell[0]
        if back:
            parts.append(f'<rect x="{left:.1f}" y="{y}" width="{cells * cell[0]:.1f}" height="{cell[1]}" style="fill:{back}"/>')
        if text.strip():
            inner = text.rstrip()
            shift = len(inner) - len(inner.lstrip())
            left += shift * cell[0]
            inner = inner.lstrip()
            style = (f"fill:{fore};" if fore else "") + ("font-weight:bold;" if bold else "")
            style += "text-decoration:underline;" if underlined else ""
            style = f' style="{style}"' if style else ""
            parts.append(f'<text x="{left:.1f}" y="{y + 13}" textLength="{width(inner) * cell[0]:.1f}"{style}>'
                         f'{html.escape(inner, quote=False)}</text>')
        column += cells
    return "".join(parts)


def stretches(values):
    """[(start, end, value)] of what stood unchanged, from [(seconds, value)] and the end; nothing where the value is empty."""
    found = []
    for at, value in values:
        if found and found[-1][2] == value:
            continue
        if found:
            found[-1][1] = at
        found.append([at, None, value])
    return found


def picture(frames, seconds):
    names = ("Ana, in Vim", "Ben, in Emacs")
    widths = [frames[-1][1][side][2] for side in (0, 1)]
    lefts = [margin, margin + widths[0] * cell[0] + gap]
    whole = (lefts[1] + widths[1] * cell[0] + margin, title + lines * cell[1] + margin)
    animations = {}

    def during(start, end, content):
        """An element that is seen from `start` to `end`."""
        if not content:
            return ""
        if start <= 0 and end is None:
            return f"<g>{content}</g>"
        span = (round(max(start, 0) / seconds * 100, 2), 100 if end is None else round(end / seconds * 100, 2))
        name = animations.setdefault(span, f"a{len(animations)}")
        last = " z" if end is None else ""
        return f'<g class="m {name}{last}">{content}</g>'

    body = []
    for side in (0, 1):
        x = lefts[side]
        body.append(f'<rect class="screen" x="{x:.1f}" y="{title}" width="{widths[side] * cell[0]:.1f}" height="{lines * cell[1]}"/>')
        body.append(f'<text class="name" x="{x:.1f}" y="16">{names[side]}</text>')
        for row in range(lines):
            y = title + row * cell[1]
            values = [(at, shown[side][0][row] if row < len(shown[side][0]) else "") for at, shown in frames]
            body += [during(start, end, drawn(line, x, y)) for start, end, line in stretches(values)]
        cursors = [(at, shown[side][1]) for at, shown in frames]
        for start, end, place in stretches(cursors):
            if place:
                at = (x + place[0] * cell[0], title + place[1] * cell[1])
                body.append(during(start, end, f'<rect class="cursor" x="{at[0]:.1f}" y="{at[1]}" width="{cell[0]}" height="{cell[1]}"/>'))
    steps = []
    for (start, end), name in animations.items():
        first = "0%{visibility:hidden}" if start > 0 else ""
        last = f"{end}%{{visibility:hidden}}" if end < 100 else ""
        steps.append(f"@keyframes {name}{{{first}{start}%{{visibility:visible}}{last}}}.{name}{{animation-name:{name}}}")

    def variables(palette, fore, back, page):
        colors = "".join(f"--c{number}:{value};" for number, value in enumerate(palette))
        return f":root{{{colors}--fore:{fore};--back:{back};--page:{page}}}"

    style = (variables(light, "#24292f", "#fff", "#eaeef2")
             + "@media(prefers-color-scheme:dark){" + variables(dark, "#e6edf3", "#0d1117", "#21262d") + "}"
             + "text{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:14px;fill:var(--fore);white-space:pre}"
             + ".page{fill:var(--page)}.screen{fill:var(--back)}.name{font-family:sans-serif;font-size:13px}"
             + ".cursor{fill:var(--fore);opacity:.45}"
             + f".m{{visibility:hidden;animation-duration:{seconds:.1f}s;animation-timing-function:step-end;animation-iteration-count:infinite}}"
             + "@media(prefers-reduced-motion:reduce){.m{animation:none}.z{visibility:visible}}"
             + "".join(steps))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]:.0f} {whole[1]}" role="img" '
            f'aria-label="Ana types in Vim and Ben in Emacs, in one note; each sees the other\'s words and caret.">'
            f"<style>{style}</style><rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n"
            + "\n".join(part for part in body if part) + "\n</svg>\n")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    frames, seconds = record()
    drawing = picture(frames, seconds)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(drawing)
    print(f"{sys.argv[1]}: {len(frames)} frames in {seconds:.0f} s, {len(drawing) // 1024} KiB")


main()
