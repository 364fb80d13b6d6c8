#!/usr/bin/env python3
"""Forwards messages between an editor and notes-lsp, and sends the editor's first change twice, as no client should.

    doubling_proxy.py notes-lsp --home ...
"""
import subprocess
import sys


def next_frame(stream):
    """The next frame with its header; empty at the end."""
    header = b""
    while not header.endswith(b"\r\n\r\n"):
        byte = stream.read(1)
        if not byte:
            return b""
        header += byte
    lengths = [line.split(b":")[1] for line in header.split(b"\r\n") if line.lower().startswith(b"content-length")]
    return header + stream.read(int(lengths[0]))


def main():
    service = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
    is_doubled = False
    while frame := next_frame(sys.stdin.buffer):
        if b"contentChanges" in frame and not is_doubled:
            is_doubled = True
            service.stdin.write(frame)
        service.stdin.write(frame)
        service.stdin.flush()
    service.stdin.close()
    sys.exit(service.wait())


if __name__ == "__main__":
    main()
