#!/usr/bin/env python3
"""A service that knows nothing: it answers, writes down what it was told, and says what a test tells it to say.

Arguments: the file to write one JSON message a line to. The request test/say sends its params as a message, test/die
ends the process; so does starting it while FILE.broken exists. After test/hang it reads nothing more. To join by the ticket "slow"
is answered at test/answer, and so is the next request of a method that test/slow names.
"""
import json
import os
import signal
import sys

log = open(sys.argv[1], "a", buffering=1)
if os.path.exists(sys.argv[1] + ".broken"):
    sys.exit(3)


def send(message):
    body = json.dumps(message, ensure_ascii=False).encode()
    sys.stdout.buffer.write(b"content-length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, value = line.split(b":", 1)
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {"serverInfo": {"name": "fake", "version": "1"},
                "capabilities": {"positionEncoding": "utf-8", "experimental": {"notes": {"protocol": 1, "undo": True}}}}
    if method in ("notes/create", "notes/open", "notes/join", "notes/copy", "notes/import"):
        path = os.environ["NOTES_TEST_DIR"] + "/" + params.get("title", "Joined") + ".md"
        open(path, "a").close()
        return {"id": "id-of-" + params.get("title", "Joined"), "uri": "file://" + path, "path": path, "near": params.get("near", ""),
                "access": "read" if method == "notes/join" else "write"}
    if method == "notes/invitations":
        return {"invitations": [], "sent": [], "open": [], "message": "No invitations"}
    if method == "notes/adopt":
        return {"id": "adopted"}
    if method == "notes/share":
        return {"id": "adopted", "ticket": "a-ticket", "base64": "YS10aWNrZXQ=",
                "lines": ["What it allows", "", "a-ticket"]}
    if method == "notes/connect":
        return {"url": params["url"], "state": "connected"}
    if method == "notes/publish":
        return {"url": "automerge:published", "ticket": "wss://host/#automerge:published"}
    if method == "notes/history":
        return {"lines": ["Today", "  noon  Ben"], "rows": [{}, {"heads": ["h"], "before": [], "when": "noon", "author": "Ben"}]}
    if method == "notes/list" and "width" in params:
        return {"lines": ["Your notes", "  Tea", "  Coffee"], "rows": [{}, {"id": "a", "title": "Tea"}, {"id": "b", "title": "Coffee"}]}
    if method == "notes/list":
        return {"notes": [{"id": "a", "title": "Tea", "modified": "2024-02-29T12:00:00Z", "words": 3, "peers": ["Bo"],
                           "created": "2024-02-29T12:00:00Z", "unread": False, **({"path": "/tmp/Tea.md"} if "query" in params else {})}]}
    if method == "notes/status":
        return statuses.get(params.get("uri"), {"stored": True, "network": "on", "discovery": "on", "peers": []})
    if method in ("notes/undo", "notes/redo"):
        return {"applied": False, "message": "Nothing of yours to undo."}
    return {}


held = []
slow = ""
# What the test has said about notes is what the service answers about them.
statuses = {}

while message := receive():
    log.write(json.dumps(message) + "\n")
    method = message.get("method")
    if method == "exit":
        sys.exit(0)
    if method == "test/die":
        sys.exit(9)
    if method == "test/say":
        said = message["params"]
        if said["method"] == "notes/statusChanged":
            statuses[said["params"]["uri"]] = said["params"]
        elif said["params"].get("kind") == "unshared":
            statuses.pop(said["params"].get("uri"), None)
        send({"jsonrpc": "2.0", **said})
    if method == "notes/unshare":
        send({"jsonrpc": "2.0", "method": "notes/event", "params": {"kind": "tickets", "id": "adopted"}})
    if method == "test/hang":
        signal.pause()
    if method == "test/slow":
        slow = message["params"]["method"]
    if method == "test/answer":
        for question in held:
            send({"jsonrpc": "2.0", "id": question["id"], "result": answer(question)})
        held = []
    if (message.get("params") or {}).get("ticket") == "slow" or method == slow:
        held.append(message)
        slow = ""
    elif "id" in message:
        send({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)})
