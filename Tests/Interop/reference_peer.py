"""A peer that is the reference implementation (the Python package automerge 1.0.0rc1), as a child process.

Frames both ways: one letter, four bytes big-endian length, that many bytes. Each frame read is answered by one frame.

  m MESSAGE    takes a sync message (empty: none came), answers m with the next one (empty: nothing to say)
  r            forgets the sync state, as after reconnecting; answers r
  e JSON       [[index, delete, text], ...]: edits the text at root key `content` in one change; answers q
  q            answers q JSON {"heads": [...], "text": ... or null}
  s            answers s with the saved document
  l DOCUMENT   loads it instead of what was there; answers q
  g JSON       [seed, count, marks]: so many random edits of objects and values of all kinds; answers q
  v            answers v JSON: all values with their types, and marks; keys that begin with c are left out, since the
               package cannot read counters
  n ACTOR      goes on as this actor; answers q
  a CHANGES    merges what is in another document's file; answers q

Anything that fails is answered by x and the error's text.
"""

import json
import random
import struct
import sys

from automerge import core

WORDS = ["a", "the ", "é", "\n", "😀", "e\u0301", "漢字", ""]
KEYS = ["k", "key", "é", "z" * 40] + ["x%d" % number for number in range(8)]

TYPES = {
    "str": core.ScalarType.Str, "int": core.ScalarType.Int, "uint": core.ScalarType.Uint, "f64": core.ScalarType.F64,
    "bool": core.ScalarType.Boolean, "bytes": core.ScalarType.Bytes, "null": core.ScalarType.Null}


def random_scalar(chance):
    kind = chance.randrange(7)
    if kind == 0:
        return core.ScalarType.Str, chance.choice(WORDS)
    if kind == 1:
        return core.ScalarType.Int, chance.choice([0, -1, 63, 64, -(2**63), 2**63 - 1])
    if kind == 2:
        return core.ScalarType.Uint, chance.choice([0, 127, 128, 2**63 - 1])
    if kind == 3:
        return core.ScalarType.F64, chance.choice([0.0, -0.0, 1.5, -1e300])
    if kind == 4:
        return core.ScalarType.Boolean, chance.random() < 0.5
    if kind == 5:
        return core.ScalarType.Bytes, bytes(chance.randrange(256) for _ in range(chance.randrange(4)))
    return core.ScalarType.Null, None


def random_type(chance):
    return chance.choice([core.ObjType.Map, core.ObjType.List, core.ObjType.Text])


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

    def objects(self, found=None):
        """All objects that can be reached, with their types."""
        found = [(core.ROOT, core.ObjType.Map)] if found is None else found
        for parent, kind in found:
            if kind == core.ObjType.Text:
                continue
            for place in self.places(parent, kind):
                value = self.document.get(parent, place)
                if value and not isinstance(value[0], tuple):
                    found.append((value[1], value[0]))
        return found

    def places(self, parent, kind):
        if kind == core.ObjType.Map:
            return [key for key in self.document.keys(parent) if not key.startswith("c")]
        return range(self.document.length(parent))

    def edit_anything(self, seed, count, marks):
        chance = random.Random(seed)
        for _ in range(count):
            parent, kind = chance.choice(self.objects())
            length = self.document.length(parent)
            with self.document.transaction() as transaction:
                self.edit_object(transaction, chance, parent, kind, length, marks)

    def edit_object(self, transaction, chance, parent, kind, length, marks):
        what = chance.randrange(5)
        if kind == core.ObjType.Map:
            key = chance.choice(KEYS)
            if what == 0:
                transaction.put_object(parent, key, random_type(chance))
            elif what == 1 and key in self.document.keys(parent):
                transaction.delete(parent, key)
            else:
                transaction.put(parent, key, *random_scalar(chance))
        elif what == 0 and length:
            transaction.delete(parent, chance.randrange(length))
        elif kind == core.ObjType.Text:
            if what == 1 and length > 1 and marks:
                start = chance.randrange(length - 1)
                end = chance.randrange(start + 1, length)
                expand = chance.choice(
                    [core.ExpandMark.Before, core.ExpandMark.After, core.ExpandMark.Both, core.ExpandMark.Neither])
                transaction.mark(parent, start, end, "bold", core.ScalarType.Int, chance.randrange(2), expand)
                return
            place = chance.randrange(length + 1)
            for offset, character in enumerate(chance.choice(WORDS)):
                transaction.insert(parent, place + offset, core.ScalarType.Str, character)
        elif what == 1:
            transaction.insert_object(parent, chance.randrange(length + 1), random_type(chance))
        elif what == 2 and length:
            transaction.put(parent, chance.randrange(length), *random_scalar(chance))
        else:
            transaction.insert(parent, chance.randrange(length + 1), *random_scalar(chance))

    def typed(self, value):
        """A value in typed JSON."""
        content, name = value
        if isinstance(content, tuple):
            kind, scalar = content
            typed = {"t": next(name for name, other in TYPES.items() if other == kind)}
            if kind == core.ScalarType.F64:
                typed["bits"] = struct.pack(">d", scalar).hex()
            elif kind == core.ScalarType.Bytes:
                typed["v"] = bytes(scalar).hex()
            elif kind in (core.ScalarType.Int, core.ScalarType.Uint):
                typed["v"] = str(scalar)
            elif kind != core.ScalarType.Null:
                typed["v"] = scalar
            return typed
        if content == core.ObjType.Text:
            marks = [
                {"start": mark.start, "end": mark.end, "name": mark.name, "value": str(mark.value[1])}
                for mark in self.document.marks(name)]
            return {"t": "text", "v": self.document.text(name), "marks": sorted(marks, key=lambda mark: mark["start"])}
        places = self.places(name, content)
        if content == core.ObjType.Map:
            return {"t": "map", "v": {key: self.typed(self.document.get(name, key)) for key in places}}
        return {"t": "list", "v": [self.typed(self.document.get(name, place)) for place in places]}

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
        elif kind == b"g":
            self.edit_anything(*json.loads(payload))
        elif kind == b"n":
            self.document.set_actor(payload)
        elif kind == b"a":
            self.document.merge(core.Document.load(payload))
        elif kind == b"v":
            return b"v", json.dumps(self.typed((core.ObjType.Map, core.ROOT))).encode()
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
