#!/usr/bin/env python3
"""Runs a command on a machine of its own, as far as its network goes, from which one port of ours is a fixed time away.

    slow_link.py --port 4711 --ms 20 -- notes-lsp --home …

What the command connects to at 127.0.0.1:PORT is our 127.0.0.1:PORT, and every byte takes so many milliseconds each way.
Needs root.
"""
import argparse
import ctypes
import queue
import socket
import subprocess
import sys
import threading
import time

clone_new_network = 0x40000000


def pass_on(source, sink, seconds):
    """Passes what `source` sends on to `sink`, in order, each piece so many seconds later."""
    pieces = queue.SimpleQueue()

    def read():
        while True:
            try:
                piece = source.recv(65536)
            except OSError:
                piece = b""
            pieces.put((time.monotonic() + seconds, piece))
            if not piece:
                return

    def write():
        while True:
            due, piece = pieces.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                if not piece:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(piece)
            except OSError:
                return

    for work in (read, write):
        threading.Thread(target=work, daemon=True).start()


def serve(listeners, port, seconds):
    """Runs in a thread that is older than the new network, and so connects in ours."""
    listener = listeners.get()
    while True:
        near, _ = listener.accept()
        try:
            far = socket.create_connection(("127.0.0.1", port))
        except OSError:
            near.close()
            continue
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pass_on(near, far, seconds)
        pass_on(far, near, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ms", type=float, required=True)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    listeners = queue.SimpleQueue()
    threading.Thread(target=serve, args=(listeners, options.port, options.ms / 1000), daemon=True).start()
    if ctypes.CDLL(None, use_errno=True).unshare(clone_new_network) != 0:
        sys.exit("a network of its own needs root")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    listeners.put(socket.create_server(("127.0.0.1", options.port)))
    sys.exit(subprocess.run(options.command, check=False).returncode)


main()
