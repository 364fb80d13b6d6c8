#!/usr/bin/env python3
"""Reads the site in Chromium, as a reader with a narrow screen would, and fails if anything in it is broken.

Usage: check.py FOLDER     (made by site.py for the base "")

Every page of ours, and of the libraries' reference the landing pages, the articles and one symbol in twenty: no error on the
console, nothing wider than 360 pixels, and every link leads to a page, and to a heading where it names one.
"""
import functools
import glob
import http.server
import os
import re
import shutil
import sys
import threading
from urllib.parse import unquote, urldefrag, urljoin, urlparse

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

width = 360


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Windows have a least width; what a page is told of its screen has none.
    options.add_experimental_option("mobileEmulation", {"deviceMetrics": {"width": width, "height": 740, "pixelRatio": 1.0}})
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


def chosen(folder):
    """The pages to read, as paths in the site."""
    ours = [path for path in glob.glob(folder + "/**/*.html", recursive=True) if not path.startswith(folder + "/api/")]
    symbols = sorted(glob.glob(folder + "/api/documentation/*/**/index.html", recursive=True))
    # What has no parameters and no type in its address: landing pages and articles.
    words = [path for path in symbols if path.count("/") - folder.count("/") == 4]
    return [os.path.relpath(path, folder) for path in sorted(ours) + sorted(set(words) | set(symbols[::20]))]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    folder = os.path.abspath(sys.argv[1])
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}/"
    faults = []
    anchors = {}
    links = []
    driver = browser()
    pages = chosen(folder)
    for path in pages:
        is_reference = path.startswith("api/")
        # The reference knows its pages by their folders.
        driver.get(site + (path.removesuffix("index.html") if is_reference else path))
        if is_reference:
            WebDriverWait(driver, 60).until(lambda page: page.execute_script("return !!document.querySelector('h1')"))
        wide = driver.execute_script("return document.scrollingElement.scrollWidth")
        if wide > width:
            faults.append(f"{path} is {wide} pixels wide")
        if not driver.title:
            faults.append(f"{path} has no title")
        for entry in driver.get_log("browser"):
            if entry["level"] == "SEVERE":
                faults.append(f"{path}: {entry['message']}")
        anchors[path] = set(driver.execute_script("return [...document.querySelectorAll('[id]')].map(each => each.id)"))
        found = driver.execute_script("return [...document.querySelectorAll('a[href]')].map(each => each.getAttribute('href'))")
        links += [(path, urljoin(site + path, target)) for target in found]
    driver.quit()
    for path, target in sorted(set(links)):
        address, anchor = urldefrag(target)
        if not address.startswith(site):
            if urlparse(address).scheme not in ("http", "https", "mailto"):
                faults.append(f"{path} links to {target}")
            continue
        name = unquote(address[len(site):]) or "index.html"
        file = f"{folder}/{name}"
        if os.path.isdir(file):
            name = os.path.normpath(name + "/index.html")
            file = f"{folder}/{name}"
        if not os.path.exists(file):
            faults.append(f"{path} links to {name}, which is not there")
        elif anchor and name in anchors and unquote(anchor) not in anchors[name] and not re.match(r"api/", name):
            faults.append(f"{path} links to {name}#{anchor}, which has no such heading")
    for fault in sorted(set(faults)):
        print(fault)
    print(f"{len(pages)} pages read, {len(set(links))} links followed, {len(set(faults))} faults")
    sys.exit(1 if faults else 0)


main()
