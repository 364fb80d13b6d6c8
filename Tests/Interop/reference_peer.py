"""A peer that is the reference implementation (the Python package automerge 1.0.0rc1), as a child process.

Frames both ways: one letter, four bytes big-endian length, that many bytes. Each frame read is answered by one frame.

  m MESSAGE    takes a sync message (empty: none came), answers m with the next one (empty: nothing to say)
  r            forgets the sync state, as after reconnecting; answers r
  e JSON       [[index, delete, text], ...]: edits the text at root key `content` in one change; answers q
  q            answers q JSON {"heads": [...], "text": ... or null}
  s            answers s with the saved document
  l DOCUMENT   loads it instead of what was there; answers q

Anything that fails is answered by x and the error's text.
"""

import json
import struct
import sys

from automerge import core


class Peer:
    def __init__(self):
        self.document = core.Document()
        self.state = core.SyncState()

    def content(self):
        try:
            found = self.document.get(core.ROOT, "content")
        except KeyError:
            return None
        return found[1] if found and found[0] == core.ObjType.Text else None

    def edit(self, edits):
        with self.document.transaction() as transaction:
            content = self.content()
            if content is None:
                content = transaction.put_object(core.ROOT, "content", core.ObjType.Text)
            for index, delete, text in edits:
                for _ in range(delete):
                    transaction.delete(content, index)
                for offset, character in enumerate(text):
                    transaction.insert(content, index + offset, core.ScalarType.Str, character)

    def status(self):
        content = self.content()
        text = None if content is None else self.document.text(content)
        heads = sorted(head.hex() for head in self.document.get_heads())
        return json.dumps({"heads": heads, "text": text}).encode()

    def answer(self, kind, payload):
        if kind == b"m":
            if payload:
                self.document.receive_sync_message(self.state, core.Message.decode(payload))
            message = self.document.generate_sync_message(self.state)
            return b"m", b"" if message is None else message.encode()
        if kind == b"r":
            self.state = core.SyncState()
            return b"r", b""
        if kind == b"s":
            return b"s", self.document.save()
        if kind == b"e":
            self.edit(json.loads(payload))
        elif kind == b"l":
            self.document = core.Document.load(payload)
        elif kind != b"q":
            raise ValueError("unknown frame %r" % kind)
        return b"q", self.status()


def main():
    peer = Peer()
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        head = source.read(5)
        if len(head) < 5:
            return
        payload = source.read(struct.unpack(">I", head[1:])[0])
        try:
            kind, reply = peer.answer(head[:1], payload)
        except Exception as error:
            kind, reply = b"x", str(error).encode()
        sink.write(kind + struct.pack(">I", len(reply)) + reply)
        sink.flush()


main()
