"""The other person of a row: their service, and a buffer that follows the rules of the version gate (EditorProtocol.md)."""
import json
import os
import queue
import subprocess
import threading
import time

patience = 60


class Service:
    """A notes-lsp process of one person, which gets the messages that a plugin sends. Columns count Unicode scalars."""

    def __init__(self, command, name, on_notification):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers = {}
        self.on_notification = on_notification
        self.last_id = 0
        self.received = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.request("initialize", {
            "processId": os.getpid(), "capabilities": {"general": {"positionEncodings": ["utf-32"]}},
            "initializationOptions": {"notes": {"protocol": 1, "userName": name, "client": "conformance"}}})
        self.notify("initialized", {})

    def _read(self):
        stream = self.process.stdout
        while True:
            length = None
            while line := stream.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length is None:
                self.received.put(None)
                return
            self.received.put(json.loads(stream.read(length)))

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method, params):
        self._send({"method": method, **({"params": params} if params is not None else {})})

    def request(self, method, params):
        self.last_id += 1
        self._send({"id": self.last_id, "method": method, **({"params": params} if params is not None else {})})
        deadline = time.monotonic() + patience
        while self.last_id not in self.answers:
            if not self.take(deadline - time.monotonic()):
                raise TimeoutError(f"the other person's service did not answer {method}")
        answer = self.answers.pop(self.last_id)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def take(self, seconds):
        """Handles one message, if one arrives within this time; returns whether one did."""
        try:
            message = self.received.get(timeout=max(seconds, 0)) if seconds > 0 else self.received.get_nowait()
        except queue.Empty:
            return False
        if message is None:
            raise RuntimeError("the other person's service has ended")
        if "method" not in message:
            self.answers[message["id"]] = message
        elif "id" in message:
            self._send({"id": message["id"], "error": {"code": -32601, "message": "not here"}})
        else:
            self.on_notification(message["method"], message["params"])
        return True

    def take_all(self):
        while self.take(0):
            pass

    def end(self):
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def place(text):
    """`2:5`, line and column from 1, as a position from 0."""
    line, column = text.split(":")
    return {"line": int(line) - 1, "character": int(column) - 1}


def offset(text, position):
    start = 0
    for _ in range(position["line"]):
        end = text.find("\n", start)
        if end < 0:
            return len(text)
        start = end + 1
    end = text.find("\n", start)
    return min(start + position["character"], len(text) if end < 0 else end)


class Buffer:
    """The other person's buffer of one note."""

    def __init__(self, service, note):
        self.service, self.uri, self.id = service, note["uri"], note["id"]
        with open(note["path"], encoding="utf-8", newline="") as file:
            self.text = file.read()
        self.version, self.rev = 1, 0
        self.is_held = False
        self.queue = []
        self.changes = []
        self.carets = []
        # This buffer's edits since the last one of other people: the version before each, the text, and what it
        # replaced.
        self.made = []
        self.complaints = []
        service.notify("textDocument/didOpen", {"textDocument": {
            "uri": self.uri, "languageId": "markdown", "version": 1, "text": self.text}})

    def receive(self, method, params):
        if params.get("uri") == self.uri and method in ("notes/edit", "notes/cursors", "notes/check", "notes/resync"):
            self.queue.append((method, params))
            self.drain()

    def drain(self):
        while self.queue and not self.is_held:
            self.flush()
            method, params = self.queue.pop(0)
            if method == "notes/resync":
                self.complaints.append(f"the service asked for the full text: {params['reason']}")
                self._send([{"text": self.text}])
            elif method == "notes/cursors" and params["rev"] == self.rev:
                self.carets = params["peers"]
                # The carets may be older than edits that the service had not seen then.
                for version, text, first, last, new in self.made:
                    if version >= params["version"]:
                        self.carry_carets(text, first, last, new)
            elif params.get("version") != self.version:
                continue
            elif method == "notes/edit":
                for edit in reversed(params["edits"]):
                    start, end = (offset(self.text, edit["range"][it]) for it in ("start", "end"))
                    self.text = self.text[:start] + edit["newText"] + self.text[end:]
                self.rev = params["rev"]
                self.made = []
                if len(self.text.encode()) != params["bytes"]:
                    self.complaints.append(f"the text is {len(self.text.encode())} bytes long after {params}")
                    self._send([{"text": self.text}])

    def edit(self, start, end, new):
        """Replaces a range, `2:5` to `2:7`; tells the service at once unless the buffer is held."""
        start, end = place(start), place(end)
        self.changes.append({"range": {"start": start, "end": end}, "text": new})
        first, last = offset(self.text, start), offset(self.text, end)
        self.made.append((self.version, self.text, first, last, new))
        self.carry_carets(self.text, first, last, new)
        self.text = self.text[:first] + new + self.text[last:]
        if not self.is_held:
            self.flush()

    def carry_carets(self, before_edit, first, last, new):
        """Moves other people's carets over an edit of this editor that touches none: the service does not send them again."""
        text = before_edit[:first] + new + before_edit[last:]
        for peer in self.carets:
            for span in peer["ranges"]:
                for end in ("start", "end"):
                    at = offset(before_edit, span[end])
                    if at > last:
                        before = text[:at + len(new) - (last - first)]
                        span[end] = {"line": before.count("\n"), "character": len(before) - (before.rfind("\n") + 1)}

    def flush(self):
        if self.changes:
            changes, self.changes = self.changes, []
            self._send(changes)

    def _send(self, changes):
        self.version += 1
        self.service.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": changes,
            "notes": {"rev": self.rev}})

    def move(self, start, end):
        self.service.notify("notes/cursor", {
            "uri": self.uri, "version": self.version, "rev": self.rev,
            "ranges": [{"start": place(start), "end": place(end)}]})

    def caret_of(self, name):
        for peer in self.carets:
            if peer["name"] == name and peer["ranges"]:
                last = peer["ranges"][0]
                ends = [f"{last[it]['line'] + 1}:{last[it]['character'] + 1}" for it in ("start", "end")]
                return ends[1] if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"
        return None

    def hold(self, is_held):
        """While held, the buffer sends nothing and applies no edits, as on a slow network."""
        self.is_held = is_held
        if not is_held:
            self.flush()
            self.drain()
