#!/usr/bin/env python3
"""Makes the documentation a site: README and long documents, manual pages, and the reference of the libraries by DocC.

Usage: site.py FOLDER [BASE]     (after `swift build`; BASE: the path below which FOLDER will be served, "/notes-lsp" for instance)

Everything is made from files of this checkout, without a network. A link to a page is turned into one within the site, and
a link to anything else of the checkout into its path.
"""
import glob
import html
import os
import re
import shutil
import subprocess
import sys

import markdown

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.abspath(here + "/../../..")
libraries = ["Automerge", "AutomergeUtilities", "AutomergeRepo", "FileStorage", "SQLiteStorage", "PostgresStorage",
             "WebSocketNetwork", "PeerNetwork"]
sections = [
    ("Use", ["README.md", "editor-plugins/README.md", "editor-plugins/vim/README.md", "editor-plugins/neovim/README.md",
             "editor-plugins/emacs/README.md", "Sources/Documentation/OtherEditors.md", "Sources/Documentation/Serve.md", "Sources/Documentation/Messages.md"]),
    ("Protocols", ["Sources/Documentation/EditorProtocol.md", "Sources/Documentation/PeerProtocol.md",
                   "Sources/Documentation/Storage.md", "Sources/Documentation/Providers.md"]),
    ("Proof", ["Sources/Documentation/Conditions.md", "Sources/Documentation/Conformance.md", "Sources/Documentation/BadInput.md",
               "Sources/Documentation/Performance.md", "Sources/Documentation/PerformanceTable.md", "Sources/Documentation/Ledger.md"]),
    ("The code", ["Sources/Documentation/Contributing.md", "Sources/Documentation/Architecture.md", "Sources/Documentation/Glossary.md"]),
]
titles = {"editor-plugins/README.md": "Editor plugins", "README.md": "notes-lsp"}


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, **more)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done


def place(path):
    """Where a file of the checkout stands in the site; nil for a file that does not."""
    if path == "README.md":
        return "index.html"
    if path.startswith("editor-plugins/") and path.endswith(".md"):
        return path[:-len(".md")].replace("/README", "").lower() + ".html"
    if path.startswith("Sources/Documentation/"):
        rest = path[len("Sources/Documentation/"):]
        if rest.startswith("man/"):
            return rest + ".html"
        if rest.endswith(".md"):
            return rest[:-len(".md")] + ".html"
        if rest.endswith(".svg"):
            return rest
    return None


class Site:
    def __init__(self, folder, base):
        self.folder, self.base = folder, base
        decisions = sorted(
            (os.path.relpath(path, root) for path in glob.glob(root + "/Sources/Documentation/Decisions/*.md")),
            key=lambda path: (not path.endswith("README.md"), path))
        named = [path for _, paths in sections for path in paths]
        others = sorted(os.path.relpath(path, root) for path in glob.glob(root + "/Sources/Documentation/*.md"))
        self.sections = [(name, [path for path in paths if os.path.exists(f"{root}/{path}")]) for name, paths in sections]
        self.sections[-1][1].extend(path for path in others if path not in named)
        self.decisions = decisions
        self.manual = sorted(os.path.relpath(path, root) for path in glob.glob(root + "/Sources/Documentation/man/*.[1-8]"))
        self.pages = {path: place(path) for _, paths in self.sections for path in paths}
        self.pages.update({path: place(path) for path in decisions + self.manual})

    def title(self, path):
        if path in titles:
            return titles[path]
        if path in self.manual:
            return re.sub(r"(.*)\.(\d)$", r"\1(\2)", os.path.basename(path))
        with open(f"{root}/{path}", encoding="utf-8") as file:
            for line in file:
                if line.startswith("# "):
                    return line[2:].strip().replace("`", "")
        return os.path.basename(path)

    def write(self, name, text):
        path = f"{self.folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def navigation(self, page):
        up = "../" * page.count("/")

        def item(path):
            here_now = ' aria-current="page"' if self.pages[path] == page else ""
            return f'<li><a href="{up}{self.pages[path]}"{here_now}>{html.escape(self.title(path))}</a></li>'

        parts = []
        for name, paths in self.sections:
            parts.append(f"<h2>{name}</h2><ul>{''.join(item(path) for path in paths)}</ul>")
            if name == "Use":
                parts.append(f"<h2>Manual pages</h2><ul>{''.join(item(path) for path in self.manual)}</ul>")
        links = "".join(f'<li><a href="{up}api/documentation/{name.lower()}/">{name}</a></li>' for name in libraries)
        parts.append(f"<h2>Libraries</h2><ul>{links}</ul>")
        parts.append(f"<details><summary>Decisions</summary><ul>{''.join(item(path) for path in self.decisions)}</ul></details>")
        return "".join(parts)

    def framed(self, page, title, body):
        up = "../" * page.count("/")
        name = title if title == "notes-lsp" else title + " · notes-lsp"
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{html.escape(name)}</title>'
                f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{up}site.css"></head><body>'
                f'<header><a href="{up}index.html">notes-lsp</a><a class="to-pages" href="#pages">Pages</a></header>'
                f'<main>{body}</main><nav id="pages">{self.navigation(page)}</nav></body></html>\n')

    def link(self, source, target):
        """A link of a page, as it is within the site: (address, or nil where the site has no such page)."""
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        path, _, anchor = target.partition("#")
        path = os.path.relpath(os.path.normpath(f"{root}/{os.path.dirname(source)}/{path}"), root)
        found = self.pages.get(path) or place(path)
        if found is None or not os.path.exists(f"{root}/{path}"):
            return None
        page = self.pages[source]
        return os.path.relpath(found, os.path.dirname(page) or ".") + ("#" + anchor if anchor else "")

    def page(self, path):
        with open(f"{root}/{path}", encoding="utf-8") as file:
            text = file.read()
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists", "attr_list"],
                                 extension_configs={"toc": {"slugify": slug}})

        def anchor(found):
            address = self.link(path, html.unescape(found[1]))
            return f"<code>{html.escape(html.unescape(found[1]))}</code>" if address is None else f'<a href="{html.escape(address)}">{found[2]}</a>'

        def image(found):
            address = self.link(path, html.unescape(found[2]))
            if address is None:
                sys.exit(f"{path}: the site has no picture {found[2]}")
            return f'<img{found[1]}src="{html.escape(address)}"'

        body = re.sub(r'<a href="([^"]*)">(.*?)</a>', anchor, body, flags=re.S)
        body = re.sub(r'<img([^>]*?)src="([^"]*)"', image, body)
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        self.write(self.pages[path], self.framed(self.pages[path], self.title(path), body))

    def manual_page(self, path):
        body = run("mandoc", "-T", "html", "-O", "fragment", path).stdout
        body = body.replace('<table class="head">', '<table class="head" role="presentation">')
        self.write(self.pages[path], self.framed(self.pages[path], self.title(path), f'<div class="manual">{body}</div>'))

    def reference(self):
        """The libraries by DocC, in one archive below `api`."""
        work = self.folder + ".docc"
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        maps = glob.glob(root + "/Sources/*/module.modulemap") + glob.glob(root + "/.build/checkouts/*/Sources/*/module.modulemap")
        flags = [flag for path in maps for flag in ("-Xcc", "-fmodule-map-file=" + path)]
        includes = run("pkg-config", "--cflags-only-I", "libuv", "libssl", "libpq").stdout.split()
        flags += [flag for include in includes for flag in ("-Xcc", include)]
        target = run("swiftc", "-print-target-info").stdout
        target = re.search(r'"triple": "([^"]*)"', target)[1]
        archives = []
        for name in libraries:
            graphs = f"{work}/{name}.symbols"
            os.makedirs(graphs)
            run("swift", "symbolgraph-extract", "-module-name", name, "-I", ".build/debug/Modules", *flags, "-target", target,
                "-output-dir", graphs, "-minimum-access-level", "public", "-skip-synthesized-members")
            catalogue = f"{root}/Sources/{name}/{name}.docc"
            archive = f"{work}/{name}.doccarchive"
            done = run("docc", "convert", *([catalogue] if os.path.exists(catalogue) else []), "--additional-symbol-graph-dir", graphs,
                       "--output-path", archive, "--fallback-display-name", name, "--fallback-bundle-identifier", "notes-lsp." + name)
            broken = [line for line in (done.stdout + done.stderr).split("\n") if "doesn't exist" in line or "unresolved" in line.lower()]
            if broken:
                sys.exit("DocC found broken links:\n" + "\n".join(broken))
            archives.append(archive)
        merged = f"{work}/all.doccarchive"
        run("docc", "merge", *archives, "--output-path", merged, "--synthesized-landing-page-name", "notes-lsp's libraries")
        run("docc", "process-archive", "transform-for-static-hosting", merged, "--output-path", self.folder + "/api",
            "--hosting-base-path", self.base.strip("/") + "/api" if self.base.strip("/") else "api")
        # DocC's pages ask for it, and say so on the console where it is missing.
        self.write("api/theme-settings.json", "{}\n")
        shutil.rmtree(work)

    def build(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.reference()
        shutil.copy(here + "/site.css", self.folder + "/site.css")
        for path in glob.glob(root + "/Sources/Documentation/**/*.svg", recursive=True):
            name = place(os.path.relpath(path, root))
            os.makedirs(os.path.dirname(f"{self.folder}/{name}"), exist_ok=True)
            shutil.copy(path, f"{self.folder}/{name}")
        for path in self.pages:
            self.manual_page(path) if path in self.manual else self.page(path)
        print(f"{self.folder}: {len(self.pages)} pages, and the reference of {len(libraries)} libraries")


def slug(text, separator):
    """The anchor of a heading, as code hosts make it."""
    text = re.sub(r"<[^>]*>", "", text).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", separator)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    Site(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else "").build()
