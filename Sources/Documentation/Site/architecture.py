#!/usr/bin/env python3
"""Draws the modules of Package.swift, and which imports which, as a picture for light and for dark pages.

Usage: architecture.py OUT.svg     (needs Graphviz)

An arrow that follows from two others is left out. Tests, tools and the system's libraries are not drawn; libraries of
others stand at the foot, each below the modules that use it.
"""
import json
import re
import subprocess
import sys

does = {
    "notes-lsp": "the command", "NotesServer": "editors: buffers, carets, undo", "JSONRPC": "frames and JSON",
    "AutomergeRepo": "documents, sync, storage, policy", "Automerge": "one document: the CRDT", "UV": "libuv as Swift",
    "AutomergeUtilities": "content as values", "AutomergeRepoConformance": "checks for providers",
    "SQLiteStorage": "storage provider", "PostgresStorage": "storage provider", "FileStorage": "storage provider",
    "Store": "working files, journals", "PeerNetwork": "nearby peers, tickets", "SyncServer": "notes-lsp serve",
    "WebSocketNetwork": "automerge-repo's peers", "PeerTransport": "TLS, frames, limits",
}
libraries = {"GRDB": "SQLite through GRDB", "CQREncode": "libqrencode", "CAvahi": "avahi-core", "CUV": "libuv", "COpenSSL": "OpenSSL",
             "CWslay": "wslay", "CPostgres": "libpq", "CZlib": "zlib", "CDeflate": "libdeflate", "ArgumentParser": "swift-argument-parser"}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    package = json.loads(subprocess.run(["swift", "package", "dump-package"], check=True, capture_output=True, text=True).stdout)
    modules = {}
    for target in package["targets"]:
        path = target.get("path") or ""
        if target["type"] in ("regular", "executable") and not path.startswith("Tests"):
            modules[target["name"]] = [next(iter(named.values()))[0] for named in target["dependencies"]]
    missing = set(modules) - set(does)
    if missing:
        sys.exit(f"architecture.py has no words for {', '.join(sorted(missing))}.")
    lines = ["digraph {", "rankdir=TB; nodesep=0.22; ranksep=0.42; bgcolor=transparent;",
             'node [shape=box, style="rounded,filled", fillcolor="#fefefe", color="#010101", fontname="Helvetica", fontsize=12, margin="0.14,0.06"];',
             'edge [color="#020202", arrowsize=0.6];']
    for name in modules:
        lines.append(f'"{name}" [label=<<b>{name}</b><br/><font point-size="10">{does[name]}</font>>];')
    for name, words in libraries.items():
        lines.append(f'"{name}" [label="{words}", shape=plaintext, style="", fontsize=10];')
    for name, needs in modules.items():
        for other in needs:
            if other in modules or other in libraries:
                lines.append(f'"{name}" -> "{other}";')
    lines.append("}")
    reduced = subprocess.run(["tred"], input="\n".join(lines), check=True, capture_output=True, text=True).stdout
    svg = subprocess.run(["dot", "-Tsvg"], input=reduced, check=True, capture_output=True, text=True).stdout
    svg = re.sub(r"<!--.*?-->\s*", "", svg[svg.index("<svg"):], flags=re.S)
    svg = re.sub(r"<title>.*?</title>\s*", "", svg, flags=re.S)
    # Stand-ins for colours become what the style below says of them.
    svg = svg.replace(' fill="#fefefe"', ' class="box"').replace(' stroke="#010101"', "").replace(' stroke="#020202"', ' class="arrow"')
    svg = svg.replace(' fill="#020202"', "").replace('fill="none" class="arrow"', 'class="arrow line"')
    svg = re.sub(r'<svg width="[^"]*" height="[^"]*"', '<svg role="img" aria-label="The modules of notes-lsp and their imports"', svg)
    style = ("<style>.box{fill:#fff;stroke:#57606a}.arrow{fill:#57606a;stroke:#57606a}.line{fill:none}text{fill:#24292f;font-family:sans-serif}"
             "@media(prefers-color-scheme:dark){.box{fill:#161b22;stroke:#8b949e}.arrow{fill:#8b949e;stroke:#8b949e}.line{fill:none}"
             "text{fill:#e6edf3}}</style>")
    svg = svg.replace(">", ">" + style, 1)
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(svg)
    print(f"{sys.argv[1]}: {len(modules)} modules")


main()
