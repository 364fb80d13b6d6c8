"""Sends hostile multicast DNS to the local network, well-formed and broken, from a seed.

usage: hostile_mdns.py ADDRESS SEED COUNT PEER_ID [PEER_ID...]

Prints one line when everything is sent. PEER_IDs are those of real people on the network; some packets name them.
"""
import random
import socket
import struct
import sys
import time

SERVICE = b"_notes-lsp._tcp.local"
address, seed, count, peers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
rng = random.Random(seed)
letters = "abcdefghijklmnopqrstuvwxyz234567"


def name(text):
    return b"".join(bytes([len(part)]) + part for part in text.split(b".")) + b"\0"


def record(owner, kind, data, ttl=120, flush=True):
    return owner + struct.pack(">HHIH", kind, 0x8001 if flush else 1, ttl, len(data)) + data


def packet(records, flags=0x8400, counts=None):
    counts = counts or (0, len(records), 0, 0)
    return struct.pack(">HHHHHH", 0, flags, *counts) + b"".join(records)


def stranger():
    return "".join(rng.choice(letters) for _ in range(51)) + "a"


def text_record(peer, person):
    strings = [b"v=1", b"peer_id=" + peer.encode(), b"name=" + person]
    return b"".join(bytes([min(len(s), 255)]) + s[:255] for s in strings)


def service(peer, person=b"Mallory", port=7000, ttl=120, host=b"10.91.0.99", texts=None):
    label = b"notes-" + peer[:16].encode()
    instance, machine = name(label + b"." + SERVICE), name(label + b".local")
    return [
        record(name(SERVICE), 12, instance, ttl, flush=False),
        record(instance, 33, struct.pack(">HHH", 0, 0, port) + machine, ttl),
        record(instance, 16, text_record(peer, person) if texts is None else texts, ttl),
        record(machine, 1, socket.inet_aton(host.decode()), ttl),
    ]


def one():
    """A packet of any of the kinds below."""
    peer = rng.choice(peers) if rng.random() < 0.4 else stranger()
    whole = packet(service(peer))
    kind = rng.randrange(13)
    if kind == 0:
        return packet(service(peer, ttl=0))  # Goodbye, also in another peer's name.
    if kind == 1:
        return packet(service(peer, port=0))
    if kind == 2:
        return packet(service(peer, person=b"\x1b[2J\x1b]0;x\x07" + bytes([0xE2, 0x80, 0xAE]) + b"evil\n"))
    if kind == 3:
        return packet(service(peer, texts=b"".join(bytes([255]) + b"x" * 255 for _ in range(32))))  # 8 KB of text.
    if kind == 4:
        loop = struct.pack(">H", 0xC000 | 12)
        return packet([record(loop, 12, loop), record(b"\x03abc" + struct.pack(">H", 0xC00C), 33, loop)])
    if kind == 5:
        return whole[: rng.randrange(len(whole))]
    if kind == 6:
        broken = bytearray(whole)
        for _ in range(rng.randrange(1, 12)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        return bytes(broken)
    if kind == 7:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(0, 600)))
    if kind == 8:
        return packet(service(peer), counts=(0, 0xFFFF, 0xFFFF, 0xFFFF))
    if kind == 9:
        question = name(SERVICE) + struct.pack(">HH", rng.choice([12, 255, 16, 33]), rng.choice([1, 255, 0x8001]))
        return struct.pack(">HHHHHH", 0, 0, 1, 0, 0, 0) + question
    if kind == 10:
        # An attacker claims the host name and the instance name of a real service: a probe, then the answer.
        return packet(service(peer, host=b"10.91.0.98"), flags=0, counts=(0, 0, 4, 0))
    if kind == 11:
        return packet([record(name(SERVICE), 12, name(b"x" * rng.choice([1, 63]) + b"." + SERVICE), flush=False)])
    return packet(service(peer, texts=bytes([200]) + b"v=1"))  # A string that is longer than its record.


sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
sender.bind(("", 5353))
for number in range(count):
    try:
        sender.sendto(one(), ("224.0.0.251", 5353))
    except OSError as error:
        print(error, file=sys.stderr)
    if number % 20 == 19:
        time.sleep(0.01)
print("said", count, flush=True)
