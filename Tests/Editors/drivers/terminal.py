"""The common parts of the three drivers: an editor in a terminal of its own, a connection to it, and the loop over the runner's lines."""
import errno
import fcntl
import json
import os
import pty
import random
import signal
import socket
import struct
import sys
import tempfile
import termios
import threading
import time

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
patience = 60
rows, columns = 30, 100


def place(text):
    """`2:5` as a line and a column, both from 1."""
    line, column = text.split(":")
    return int(line), int(column)


class Terminal:
    """A program in a pseudo-terminal. Keeps the end of its output, to show when it dies."""

    def __init__(self, command, environment):
        self.drawn = b""
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.environ.update(environment)
            os.execvp(command[0], command)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while drawn := os.read(self.file, 65536):
                self.drawn = (self.drawn + drawn)[-4000:]
        except OSError:
            pass

    def type(self, keys):
        while keys:
            keys = keys[os.write(self.file, keys):]

    def end(self):
        try:
            os.kill(self.process, signal.SIGTERM)
            os.waitpid(self.process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


class Driver:
    """Carries out the runner's steps, one JSON object a line, in one editor process.

    A step `{"do": "delete-line", …}` is the method `delete_line` of the editor's driver.
    """

    # Rows that this editor cannot pass, by name, with the reasons.
    skips = {}
    # Steps that this editor cannot do, with the reasons: all rows with such a step are skipped.
    cannot = {}
    # The names under which a row may list keys or commands for this editor: the first that is there counts.
    families = ()
    # The class of the editor's terminal; a benchmark has its own.
    terminal_class = Terminal

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="notes-conformance-")
        self.terminal = None
        self.last_id = 0
        self.unread = b""

    def launch(self, command):
        """Starts the editor, whose test script connects to this process."""
        listener = self.listener()
        listener.settimeout(patience)
        self.terminal = self.terminal_class(command, {
            "TERM": "screen-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "HOME": self.folder,
            "NOTES_TEST_PORT": str(listener.getsockname()[1])})
        try:
            self.connection, _ = listener.accept()
        except TimeoutError:
            raise TimeoutError(f"{command[0]} did not come up: {self.terminal.drawn[-600:]}") from None
        self.connection.settimeout(patience)
        listener.close()

    @staticmethod
    def listener():
        """Listens below the ports that systems give out: a service of another test may call one that a peer had before."""
        while True:
            try:
                return socket.create_server(("127.0.0.1", random.randrange(20000, 30000)))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise

    def send(self, message):
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def ask(self, code, sign=1):
        """The value of an expression in the editor's language."""
        self.last_id += 1
        self.send(["expr", code, self.last_id * sign])
        while True:
            while b"\n" not in self.unread:
                received = self.connection.recv(1 << 20)
                if not received:
                    raise RuntimeError(f"the editor has ended: {self.terminal.drawn[-600:]}")
                self.unread += received
            line, self.unread = self.unread.split(b"\n", 1)
            answer = json.loads(line)
            if answer[0] == self.last_id * sign:
                return answer[1]

    def wait(self, what, condition):
        deadline = time.monotonic() + patience
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited in vain for {what}")
            time.sleep(0.002)

    def abilities(self):
        return {"families": self.families, "cannot": self.cannot, "skips": self.skips}

    def serve(self):
        for line in sys.stdin:
            step = json.loads(line)
            if step["do"] == "quit":
                break
            try:
                answer = getattr(self, step["do"].replace("-", "_"))(step) or {}
            except AttributeError as problem:
                answer = {"error": f"this driver does not know {step['do']}: {problem}"}
            except (RuntimeError, OSError, KeyError, ValueError) as problem:
                answer = {"error": f"{type(problem).__name__}: {problem}"}
            print(json.dumps(answer), flush=True)
        if self.terminal:
            self.terminal.end()
