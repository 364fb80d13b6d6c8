"""Peers of automerge-repo's network protocol, version 1, over WebSocket: written from the protocol's description on the
packages automerge, cbor2 and websockets, and with nothing of this project.

Each line of standard input is a command in JSON, {"do": ..., "peer": NAME, ...}; each is answered by one line:

  start    a new peer; `habits` names what it does as some implementations do
  listen   becomes a server, by wss if there are a `certificate` and its `key`; answers {"url": ...}
  connect  keeps connected to `url`, with `token`; for wss the server's certificate must be vouched for by `authority`
  create   a document with a text; answers {"document": ID}
  open     asks its peers for a document until it is there
  say      adds `line` to the end of a document's list `lines`
  splice   at `at` modulo the length + 1: deletes `delete` scalars, inserts `insert`, in one change
  tell     sends `word` to all peers on the document
  drop     breaks each connection off after `after` more frames in either direction
  calm     breaks nothing off any more
  state    answers {"heads", "text", "lines", "heard", "peers"}; the first three are null without the document
  stop     leaves

Anything that fails is answered by {"error": TEXT}.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import random
import ssl
import struct
import sys
import time
import uuid

import cbor2
import websockets.asyncio.client
import websockets.asyncio.server
from automerge import core

LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def document_id(payload):
    """Base58Check without a version byte."""
    digest = hashlib.sha256(hashlib.sha256(payload).digest()).digest()
    number = int.from_bytes(payload + digest[:4], "big")
    text = ""
    while number:
        number, digit = divmod(number, 58)
        text = LETTERS[digit] + text
    return "1" * (len(payload) - len(payload.lstrip(b"\0"))) + text


def document_bytes(text):
    number = 0
    for letter in text:
        number = number * 58 + LETTERS.index(letter)
    payload = number.to_bytes(20, "big")[:16]
    if document_id(payload) != text:
        raise ValueError("not a document id: " + text)
    return payload


def object_at(document, key, kind):
    try:
        found = document.get(core.ROOT, key)
    except KeyError:
        return None
    return found[1] if found and found[0] == kind else None


def content_of(document):
    return object_at(document, "content", core.ObjType.Text)


def lines_of(document):
    return object_at(document, "lines", core.ObjType.List)


def decoded(frame):
    """A message; None for text and for bytes that are none. A document's id may come as text or as bytes."""
    try:
        message = cbor2.loads(frame) if isinstance(frame, bytes) else None
    except cbor2.CBORDecodeError:
        return None
    if not isinstance(message, dict):
        return None
    if isinstance(message.get("documentId"), bytes):
        message["documentId"] = document_id(message["documentId"])
    return message


class Link:
    """One connection, from the handshake on."""

    def __init__(self, peer, socket, name, drop_after):
        self.peer, self.socket, self.name = peer, socket, name
        self.states = {}
        self.frames_left = drop_after
        self.outbox = asyncio.Queue()

    def state(self, document):
        return self.states.setdefault(document, core.SyncState())

    def post(self, message):
        self.outbox.put_nowait(message)

    def counted(self):
        """Whether the connection lasts for another frame; else it is broken off."""
        if self.frames_left is None:
            return True
        self.frames_left -= 1
        if self.frames_left < 0:
            self.socket.transport.abort()
            return False
        return True

    async def write(self):
        while True:
            message = await self.outbox.get()
            if not self.counted():
                return
            if "text" in self.peer.habits and self.peer.chance.random() < 0.1:
                await self.socket.send('{"type": "sync"}')
            if "rubbish" in self.peer.habits and self.peer.chance.random() < 0.1:
                await self.socket.send(b"\xff\x00rubbish")
            await self.socket.send(self.peer.encoded(message))


class Shared:
    """A document, or the wish for one."""

    def __init__(self):
        self.document = core.Document()
        self.is_wanted = False
        # Peers that want to know whether we have it, those that we have asked, and those that do not have it.
        self.waiting, self.asked, self.without = set(), set(), set()

    def is_there(self):
        return bool(self.document.get_heads())


class Peer:
    def __init__(self, name, habits, seed):
        self.name, self.habits, self.chance = name, set(habits), random.Random(seed)
        self.links, self.documents, self.heard = {}, {}, {}
        self.session, self.count, self.last_counts = "%x" % self.chance.getrandbits(64), 0, {}
        self.storage = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        self.tasks, self.server, self.drop_after = [], None, None

    # The protocol's messages

    def metadata(self):
        metadata = {"isEphemeral": True}
        if "storage" in self.habits:
            metadata = {"storageId": self.storage, "isEphemeral": False}
        return {"metadata" if "metadata" in self.habits else "peerMetadata": metadata}

    def join(self):
        message = {"type": "join", "senderId": self.name, **self.metadata()}
        if "versionMissing" not in self.habits:
            message["supportedProtocolVersions"] = "1" if "versionText" in self.habits else ["1"]
        return message

    def encoded(self, message):
        if "unknownKeys" in self.habits:
            message = {"x-unknown": [1, {"y": None}], **message, "x-undefined": cbor2.undefined}
        if "map16" not in self.habits:
            return cbor2.dumps(message)
        # As JavaScript's cbor-x does: the number of entries in two bytes.
        pairs = b"".join(cbor2.dumps(key) + cbor2.dumps(value) for key, value in message.items())
        return b"\xb9" + struct.pack(">H", len(message)) + pairs

    def about(self, kind, link, document, **fields):
        identifier = document_bytes(document) if "bytesIds" in self.habits else document
        return {"type": kind, "senderId": self.name, "targetId": link.name, "documentId": identifier, **fields}

    # Connections

    async def serve(self, socket):
        first = cbor2.loads(await socket.recv())
        versions = first.get("supportedProtocolVersions", ["1"])
        if first["type"] != "join" or "1" not in versions:
            await socket.send(cbor2.dumps({"type": "error", "message": "unsupported protocol version"}))
            return
        answer = {"type": "peer", "senderId": self.name, "targetId": first["senderId"], **self.metadata()}
        if "versionMissing" not in self.habits:
            answer["selectedProtocolVersion"] = "1"
        await socket.send(self.encoded(answer))
        await self.talk(socket, first["senderId"])

    async def listen(self, token, certificate, key):
        def check(connection, request):
            shown = request.headers.get("Authorization") == "Bearer " + (token or "")
            if token and not shown and not request.path.endswith("?token=" + token):
                return connection.respond(401, "wrong token\n")

        context = None
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate, key)
        self.server = await websockets.asyncio.server.serve(
            self.serve, "127.0.0.1", 0, ssl=context, max_size=None, ping_interval=5, process_request=check,
            compression="deflate" if "deflate" in self.habits else None)
        scheme = "wss" if context else "ws"
        return "%s://127.0.0.1:%d/" % (scheme, self.server.sockets[0].getsockname()[1])

    async def keep_connected(self, url, token, authority):
        headers = {}
        context = ssl.create_default_context(cafile=authority) if url.startswith("wss:") else None
        if token and "tokenInQuery" in self.habits:
            url += "?token=" + token
        elif token:
            headers = {"Authorization": "Bearer " + token}
        while True:
            try:
                async with websockets.asyncio.client.connect(
                    url, additional_headers=headers, ssl=context, max_size=None, proxy=None,
                    compression="deflate" if "deflate" in self.habits else None) as socket:
                    await socket.send(self.encoded(self.join()))
                    answer = cbor2.loads(await socket.recv())
                    if answer["type"] == "peer" and answer.get("selectedProtocolVersion", "1") == "1":
                        await self.talk(socket, answer["senderId"])
            except (OSError, EOFError, websockets.exceptions.WebSocketException, cbor2.CBORDecodeError):
                pass
            await asyncio.sleep(self.chance.uniform(0.01, 0.1))

    async def talk(self, socket, name):
        old = self.links.get(name)
        if old:
            await old.socket.close()
        link = self.links[name] = Link(self, socket, name, self.drop_after)
        writer = asyncio.create_task(link.write())
        try:
            self.greet(link)
            async for frame in socket:
                # One that another connection has replaced is not heard any more.
                if not link.counted() or self.links.get(name) is not link:
                    return
                message = decoded(frame)
                if message:
                    self.receive(link, message)
        except (OSError, websockets.exceptions.WebSocketException):
            pass
        finally:
            writer.cancel()
            if self.links.get(name) is link:
                del self.links[name]
                self.lost(name)

    def greet(self, link):
        if "remote" in self.habits:
            link.post({"type": "remote-subscription-change", "senderId": self.name, "targetId": link.name,
                       "add": [self.storage], "remove": cbor2.undefined})
        for identifier, shared in self.documents.items():
            shared.asked.discard(link.name)
            shared.without.discard(link.name)
            if shared.is_there():
                self.sync(link, identifier, "sync")
            elif shared.is_wanted or shared.waiting - {link.name}:
                self.ask(link, identifier)

    def lost(self, name):
        for identifier, shared in self.documents.items():
            for peers in (shared.waiting, shared.asked, shared.without):
                peers.discard(name)
            self.answer_if_unavailable(identifier)

    # Documents

    def sync(self, link, identifier, kind="sync"):
        shared = self.documents[identifier]
        message = shared.document.generate_sync_message(link.state(identifier))
        if message:
            link.post(self.about(kind, link, identifier, data=message.encode()))
        if message and "remote" in self.habits:
            heads = {self.storage: {"heads": [head.hex() for head in shared.document.get_heads()],
                                    "timestamp": time.time() * 1000}}
            link.post(self.about("remote-heads-changed", link, identifier, newHeads=heads))

    def sync_all(self, identifier):
        for link in self.links.values():
            self.sync(link, identifier)

    def ask(self, link, identifier):
        shared = self.documents[identifier]
        if link.name not in shared.asked and link.name not in shared.waiting:
            shared.asked.add(link.name)
            self.sync(link, identifier, "request")

    def want(self, identifier):
        shared = self.documents.setdefault(identifier, Shared())
        shared.is_wanted = True
        for link in self.links.values():
            self.ask(link, identifier)

    def answer_if_unavailable(self, identifier):
        shared = self.documents[identifier]
        others = set(self.links) - shared.waiting
        if not shared.is_there() and others <= shared.without:
            for name in shared.waiting & set(self.links):
                self.links[name].post(self.about("doc-unavailable", self.links[name], identifier))
            shared.waiting.clear()

    def receive(self, link, message):
        kind = message["type"]
        if kind == "ephemeral":
            self.receive_ephemeral(link, message)
        if kind not in ("request", "sync", "doc-unavailable"):
            return
        # A frame in another's name, or for another.
        if message["senderId"] != link.name or message["targetId"] != self.name:
            return
        identifier = message["documentId"]
        shared = self.documents.setdefault(identifier, Shared())
        if kind == "doc-unavailable":
            shared.without.add(link.name)
            shared.asked.discard(link.name)
            self.answer_if_unavailable(identifier)
            return
        shared.without.discard(link.name)
        shared.document.receive_sync_message(link.state(identifier), core.Message.decode(message["data"]))
        if shared.is_there():
            shared.waiting.clear()
            self.sync_all(identifier)
        elif kind == "request":
            shared.waiting.add(link.name)
            for other in self.links.values():
                if other is not link:
                    self.ask(other, identifier)
            self.answer_if_unavailable(identifier)
        else:
            self.sync(link, identifier)

    def splice(self, identifier, at, delete, insert):
        document = self.documents[identifier].document
        content = content_of(document)
        length = document.length(content)
        index = at % (length + 1)
        with document.transaction() as transaction:
            for _ in range(min(delete, length - index)):
                transaction.delete(content, index)
            for letter in reversed(insert):
                transaction.insert(content, index, core.ScalarType.Str, letter)
        self.sync_all(identifier)

    def say(self, identifier, line):
        document = self.documents[identifier].document
        lines = lines_of(document)
        with document.transaction() as transaction:
            transaction.insert(lines, document.length(lines), core.ScalarType.Str, line)
        self.sync_all(identifier)

    # Ephemeral messages

    def tell(self, identifier, word):
        self.count += 1
        for link in self.links.values():
            count = float(self.count) if "floatCounts" in self.habits else self.count
            link.post(self.about("ephemeral", link, identifier, count=count, sessionId=self.session,
                                 data=cbor2.dumps({"word": word})))

    def receive_ephemeral(self, link, message):
        author, source = message["senderId"], (message["senderId"], message["sessionId"])
        if author == self.name or message["count"] <= self.last_counts.get(source, 0):
            return
        self.last_counts[source] = message["count"]
        word = cbor2.loads(message["data"]).get("word")
        # A program of notes says where its people's carets are.
        if word is None:
            return
        heard = self.heard.setdefault(message["documentId"], {})
        heard[word] = heard.get(word, 0) + 1
        for other in self.links.values():
            if other is not link and other.name != author:
                other.post({**message, "targetId": other.name})

    # Commands

    def create(self, text):
        identifier = document_id(uuid.UUID(int=self.chance.getrandbits(128), version=4).bytes)
        shared = self.documents[identifier] = Shared()
        with shared.document.transaction() as transaction:
            transaction.put_object(core.ROOT, "content", core.ObjType.Text)
        self.splice(identifier, 0, 0, text)
        return identifier

    def state(self, identifier):
        shared = self.documents.get(identifier)
        document = shared.document if shared and shared.is_there() else None
        content = document and content_of(document)
        lines = document and lines_of(document)
        return {"heads": sorted(head.hex() for head in document.get_heads()) if document else None,
                "text": document.text(content) if content else None,
                "lines": [document.get(lines, i)[0][1] for i in range(document.length(lines))] if lines else None,
                "heard": self.heard.get(identifier, {}), "peers": sorted(self.links)}

    def drop(self, after):
        self.drop_after = after
        for link in self.links.values():
            link.frames_left = after

    async def stop(self):
        for link in list(self.links.values()):
            if "leave" in self.habits:
                with contextlib.suppress(websockets.exceptions.ConnectionClosed):
                    await link.socket.send(self.encoded({"type": "leave", "senderId": self.name}))
        for task in self.tasks:
            task.cancel()
        if self.server:
            self.server.close()
        for link in list(self.links.values()):
            await link.socket.close()


async def perform(peers, command):
    what, name = command["do"], command["peer"]
    if what == "start":
        peers[name] = Peer(name, command.get("habits", []), command.get("seed", 0))
        return {}
    peer = peers[name]
    if what == "listen":
        return {"url": await peer.listen(command.get("token"), command.get("certificate"), command.get("key"))}
    if what == "connect":
        call = peer.keep_connected(command["url"], command.get("token"), command.get("authority"))
        peer.tasks.append(asyncio.create_task(call))
    elif what == "create":
        return {"document": peer.create(command["text"])}
    elif what == "open":
        peer.want(command["document"])
    elif what == "say":
        peer.say(command["document"], command["line"])
    elif what == "splice":
        peer.splice(command["document"], command["at"], command["delete"], command["insert"])
    elif what == "tell":
        peer.tell(command["document"], command["word"])
    elif what == "drop":
        peer.drop(command["after"])
    elif what == "calm":
        peer.drop(None)
    elif what == "state":
        return peer.state(command["document"])
    elif what == "stop":
        await peers.pop(name).stop()
    else:
        raise ValueError(what)
    return {}


async def main():
    peers = {}
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(sys.stdin.fileno(), "rb"))
    while line := await reader.readline():
        try:
            answer = await perform(peers, json.loads(line))
        except Exception as error:  # noqa: BLE001: whatever it is, the tests are told.
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
