#!/usr/bin/env python3
"""Forwards messages between an editor and notes-lsp, delays them, and records them.

    delay_proxy.py --seed 7 --max-ms 50 --record PREFIX -- notes-lsp --home ...

Forwards both directions in order, each chunk after a random wait of 0 to --max-ms milliseconds.
Every frame goes to PREFIX-<number>-<pid of the service>.traffic as a line "c LENGTH" (from the editor) or "s LENGTH" (from the
service), the body, and a line feed. When one side ends, the proxy closes the input of the other; the service's
exit code becomes this one's.
"""
import argparse
import glob
import os
import queue
import random
import signal
import subprocess
import sys
import threading
import time


class Recorder:
    """Writes whole frames, as they arrive, from both directions into one file."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=0)
        self.lock = threading.Lock()
        self.pending = {"c": b"", "s": b""}

    def add(self, direction, chunk):
        data = self.pending[direction] + chunk
        while True:
            head, separator, rest = data.partition(b"\r\n\r\n")
            if not separator:
                break
            length = None
            for line in head.split(b"\r\n"):
                name, _, value = line.partition(b":")
                if name.strip().lower() == b"content-length":
                    length = int(value)
            if length is None or len(rest) < length:
                break
            with self.lock:
                self.file.write(b"%s %d\n%s\n" % (direction.encode(), length, rest[:length]))
            data = rest[length:]
        self.pending[direction] = data


def pump(source, sink, direction, seed, max_ms, recorder):
    """Forwards `source` to `sink` in order and late, then closes `sink`. Returns the writing thread."""
    chunks = queue.Queue()
    numbers = random.Random(seed)

    def read():
        due = 0.0
        while True:
            try:
                chunk = os.read(source, 65536)
            except OSError:
                chunk = b""
            if chunk and recorder:
                recorder.add(direction, chunk)
            due = max(due, time.monotonic() + numbers.random() * max_ms / 1000)
            chunks.put((due, chunk))
            if not chunk:
                return

    def write():
        while True:
            due, chunk = chunks.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                while chunk:
                    chunk = chunk[os.write(sink, chunk):]
                    if not chunk:
                        break
                else:
                    break
            except OSError:
                break
        os.close(sink)

    threading.Thread(target=read, daemon=True).start()
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return writer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-ms", type=float, default=0)
    parser.add_argument("--record")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    # The proxy forwards everything it has recorded even if the editor's terminal hangs up. The service receives the
    # signal as usual.
    signal.signal(signal.SIGHUP, lambda *_: None)
    service = subprocess.Popen(options.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    recorder = None
    if options.record:
        number = len(glob.glob(glob.escape(options.record) + "-*.traffic"))
        recorder = Recorder("%s-%03d-%d.traffic" % (options.record, number, service.pid))
    pump(sys.stdin.fileno(), os.dup(service.stdin.fileno()), "c", options.seed * 2, options.max_ms, recorder)
    service.stdin.close()
    answers = pump(
        service.stdout.fileno(), sys.stdout.fileno(), "s", options.seed * 2 + 1, options.max_ms, recorder)
    code = service.wait()
    answers.join(timeout=5)
    os._exit(code if code >= 0 else 1)


main()
