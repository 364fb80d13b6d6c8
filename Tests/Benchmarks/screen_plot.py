#!/usr/bin/env python3
"""What screen_bench.py has written, as tables in Markdown, and as a plot.

    screen_plot.py RESULTS.json [PLOT.svg]

The plot has, for what was measured on loopback in a short note, the share of the letters that stood on the other person's screen
within a time.
"""
import json
import math
import sys

names = {"vim": "Vim", "neovim": "Neovim", "emacs": "Emacs"}
colors = ["#0a5", "#28d", "#d50", "#a4a", "#a80", "#077"]
left, top, right, bottom = 80, 50, 570, 400
# Milliseconds at both ends of the axis.
low, high = 0.1, 100
style = ("<style>rect{fill:#fff}text{fill:#222}line{stroke:#ddd}@media(prefers-color-scheme:dark)"
         "{rect{fill:#0d1117}text{fill:#ddd}line{stroke:#333}}</style>")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cells(values):
    return " | ".join(f"{percentile(values, share):.2f}" for share in (0.5, 0.9, 0.99)) + f" | {max(values):.1f}"


def size_of(result):
    return f"{result['bytes'] // 1_000_000} MB" if result["bytes"] >= 1_000_000 else f"{result['bytes']:,} bytes"


def name_of(result):
    return f"{names[result['from']]} to {names[result['to']]}"


def tables(results):
    yield "| | letters | median | 90 of 100 | 99 of 100 | slowest | five at once, the last: median | 99 of 100 | load |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for it in results:
        if "bare" in it:
            what, values, bursts = f"{names[it['bare']]} alone, without the plugin: the own screen", it["own"], it["own_bursts"]
        else:
            away = f", {it['delay']:g} ms away" if it["delay"] else ""
            what, values, bursts = name_of(it) + away, it["theirs"], it["their_bursts"]
        what += ", " + size_of(it) if it["bytes"] >= 1_000_000 else ""
        yield (f"| {what} | {len(values)} | {cells(values)} | {percentile(bursts, 0.5):.2f} | {percentile(bursts, 0.99):.2f}"
               f" | {it['load']:.1f} |")
        if "bare" not in it:
            yield (f"| … the typist's own screen | {len(it['own'])} | {cells(it['own'])} | {percentile(it['own_bursts'], 0.5):.2f}"
                   f" | {percentile(it['own_bursts'], 0.99):.2f} | |")
    yield ""
    yield "| processor time a keystroke | note | typing | reading |"
    yield "|---|---:|---:|---:|"
    for it in results:
        size = size_of(it)
        if "bare" in it:
            yield f"| {names[it['bare']]} alone, without the plugin | {size} | {it['typist_ms_a_key']:.2f} ms | |"
        elif not it["delay"]:
            yield f"| {name_of(it)} | {size} | {it['typist_ms_a_key']:.2f} ms | {it['reader_ms_a_key']:.2f} ms |"


def x(milliseconds):
    share = math.log(min(max(milliseconds, low), high) / low) / math.log(high / low)
    return left + share * (right - left)


def y(share):
    return bottom - share * (bottom - top)


def text(words, at_x, at_y, more=""):
    return f'<text x="{at_x:.1f}" y="{at_y:.1f}" {more}>{words}</text>'


def rule(from_x, from_y, to_x, to_y):
    return f'<line x1="{from_x:.1f}" y1="{from_y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}"/>'


def curve(values, color, dashes):
    ordered = sorted(values)
    points = " ".join(f"{x(value):.1f},{y((index + 1) / len(ordered)):.1f}" for index, value in enumerate(ordered))
    return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{dashes}/>'


def plot(results):
    shown = [it for it in results if it["bytes"] < 100_000 and not it.get("delay")]
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 460" font-family="sans-serif" font-size="13">' + style
             + '<rect width="100%" height="100%"/>',
             text("From the key to the screen", left, 28, 'font-size="17"'),
             text("milliseconds", (left + right) / 2, 440, 'text-anchor="middle"'),
             text("letters on the screen by then", 0, 0, 'transform="translate(20 225) rotate(-90)" text-anchor="middle"')]
    for milliseconds in (0.1, 0.3, 1, 3, 10, 30, 100):
        parts.append(rule(x(milliseconds), top, x(milliseconds), bottom))
        parts.append(text(f"{milliseconds:g}", x(milliseconds), bottom + 18, 'text-anchor="middle"'))
    for percent in (0, 25, 50, 75, 100):
        parts.append(rule(left, y(percent / 100), right, y(percent / 100)))
        parts.append(text(f"{percent} %", left - 8, y(percent / 100) + 4, 'text-anchor="end"'))
    pairs, alone = [it for it in shown if "bare" not in it], [it for it in shown if "bare" in it]
    lines = [(name_of(it), it["theirs"], colors[number % len(colors)], "") for number, it in enumerate(pairs)]
    lines += [(names[it["bare"]] + " alone", it["own"], "#888", f' stroke-dasharray="{2 + 3 * number} 3"')
              for number, it in enumerate(alone)]
    for number, (name, values, color, dashes) in enumerate(lines):
        parts.append(curve(values, color, dashes))
        at = top + 20 * (number + 1)
        parts.append(f'<polyline points="{right + 10},{at - 4} {right + 34},{at - 4}" fill="none" stroke="{color}"'
                     f' stroke-width="2"{dashes}/>')
        parts.append(text(name, right + 40, at, f'style="fill:{color}"'))
    return "\n".join(parts) + "\n</svg>\n"


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        results = [json.loads(line) for line in file]
    print("\n".join(tables(results)))
    if len(sys.argv) == 3:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(plot(results))


main()
