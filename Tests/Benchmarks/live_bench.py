"""Two replicas in sync, one of which types a recorded text: what each keystroke costs both, in other libraries.

    live_bench.py --lib loro|pycrdt|automerge TRACE.json.gz [--keystrokes N]

One JSON line a measure, named as notes-bench names them; microseconds of processor time a keystroke, the mean over the trace.
live_send_each is the edit, the commit, the version read and the message for one peer; live_receive_each is that message
taken in with the edits that it makes of the text, the version read there, and the answer made and taken. One run of a
long trace, three of a short one. Python's garbage collector is off meanwhile.
"""

import argparse
import bisect
import gc
import gzip
import json
import os
import statistics
import sys
import time


class Loro:
    """An update is what the other's version vector lacks; the answer is the vector that it has then."""

    uses_utf8 = False

    def __init__(self):
        import loro
        self.loro = loro
        self.writer, self.reader = loro.LoroDoc(), loro.LoroDoc()
        self.writer.peer_id, self.reader.peer_id = 1, 2
        self.text = self.writer.get_text("t")
        self.edits = []
        self.subscription = self.reader.get_text("t").subscribe(self.edits.append)
        self.shared = self.reader.oplog_vv

    def send(self, patches):
        for position, deleted, inserted in patches:
            if deleted:
                self.text.delete(position, deleted)
            if inserted:
                self.text.insert(position, inserted)
        self.writer.commit()
        self.writer.oplog_frontiers
        return self.writer.export(self.loro.ExportMode.Updates(self.shared))

    def receive(self, message):
        self.reader.import_(message)
        self.reader.oplog_frontiers
        self.shared = self.loro.VersionVector.decode(self.reader.oplog_vv.encode())

    def result(self):
        return self.reader.get_text("t").to_string()


class Pycrdt:
    """An update is what the transaction tells its observers; the answer is the state vector that the other has then."""

    uses_utf8 = True

    def __init__(self):
        import pycrdt
        self.writer, self.reader = pycrdt.Doc(client_id=1), pycrdt.Doc(client_id=2)
        self.writer["t"], self.reader["t"] = pycrdt.Text(), pycrdt.Text()
        self.text = self.writer.get("t", type=pycrdt.Text).integrated
        self.edits, self.updates = [], []
        self.read = self.reader.get("t", type=pycrdt.Text)
        self.subscriptions = [self.read.observe(lambda event: self.edits.append(event.delta)),
                              self.writer.observe(lambda event: self.updates.append(event.update))]
        self.shared = self.reader.get_state()

    def send(self, patches):
        self.updates.clear()
        with self.writer.transaction() as transaction:
            native = transaction._txn
            for position, deleted, inserted in patches:
                if deleted:
                    self.text.remove_range(native, position, deleted)
                if inserted:
                    self.text.insert(native, position, inserted)
        self.writer.get_state()
        return self.updates

    def receive(self, message):
        for update in message:
            self.reader.apply_update(update)
        self.shared = self.reader.get_state()

    def result(self):
        return str(self.read)


class Automerge:
    """The same protocol as here. The binding inserts one character a call."""

    uses_utf8 = False

    def __init__(self):
        from automerge import core
        self.core = core
        self.writer, self.reader = core.Document(), core.Document()
        with self.writer.transaction() as transaction:
            self.text = transaction.put_object(core.ROOT, "text", core.ObjType.Text)
        self.writers, self.readers = core.SyncState(), core.SyncState()
        self.edits = []
        while True:
            there = self.pass_on(self.writer, self.writers, self.reader, self.readers)
            if not self.pass_on(self.reader, self.readers, self.writer, self.writers) and not there:
                break
        self.heads = self.reader.get_heads()

    def pass_on(self, source, own, target, others):
        message = source.generate_sync_message(own)
        if message is not None:
            target.receive_sync_message(others, self.core.Message.decode(message.encode()))
        return message is not None

    def send(self, patches):
        with self.writer.transaction() as transaction:
            for position, deleted, inserted in patches:
                for _ in range(deleted):
                    transaction.delete(self.text, position)
                for offset, character in enumerate(inserted):
                    transaction.insert(self.text, position + offset, self.core.ScalarType.Str, character)
        self.writer.get_heads()
        message = self.writer.generate_sync_message(self.writers)
        return None if message is None else message.encode()

    def receive(self, message):
        if message is not None:
            self.reader.receive_sync_message(self.readers, self.core.Message.decode(message))
        heads = self.reader.get_heads()
        self.edits.append(self.reader.diff(self.heads, heads))
        self.heads = heads
        self.pass_on(self.reader, self.readers, self.writer, self.writers)

    def result(self):
        return self.reader.text(self.text)


LIBRARIES = {"loro": Loro, "pycrdt": Pycrdt, "automerge": Automerge}


def in_utf8(transactions):
    """The same patches in bytes of UTF-8. Keeps where the characters of several bytes stand."""
    places, extra, result = [], [], []

    def offset(position):
        return position + sum(extra[:bisect.bisect_left(places, position)])

    for patches in transactions:
        row = []
        for position, deleted, inserted in patches:
            start = offset(position)
            row.append((start, offset(position + deleted) - start, inserted))
            if places or not inserted.isascii():
                first, last = bisect.bisect_left(places, position), bisect.bisect_left(places, position + deleted)
                new = [(position + i, len(c.encode()) - 1) for i, c in enumerate(inserted) if ord(c) > 127]
                behind = [place + len(inserted) - deleted for place in places[last:]]
                places[first:] = [place for place, _ in new] + behind
                extra[first:last] = [more for _, more in new]
        result.append(row)
    return result


def session(library, transactions):
    """Both replicas at the end, and the nanoseconds that sending and receiving took."""
    pair, clock = library(), time.process_time_ns
    start = clock()
    for _ in range(10_000):
        clock()
    own = (clock() - start) // 10_000
    sending = receiving = 0
    gc.collect()
    gc.disable()
    for patches in transactions:
        start = clock()
        message = pair.send(patches)
        sent = clock()
        pair.receive(message)
        received = clock()
        sending += sent - start - own
        receiving += received - sent - own
    gc.enable()
    return pair, sending, receiving


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", choices=LIBRARIES, required=True)
    parser.add_argument("--keystrokes", type=int, help="only so many of the trace")
    parser.add_argument("trace")
    arguments = parser.parse_args()
    library = LIBRARIES[arguments.lib]
    name = os.path.basename(arguments.trace).replace(".json.gz", "")
    with gzip.open(arguments.trace, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    transactions = [[tuple(patch[:3]) for patch in t["patches"]] for t in trace["txns"]][:arguments.keystrokes]
    if library.uses_utf8:
        transactions = in_utf8(transactions)
    samples = []
    for _ in range(1 if len(transactions) > 20_000 else 3):
        pair, *nanoseconds = session(library, transactions)
        if arguments.keystrokes is None and pair.result() != trace["endContent"]:
            sys.exit("the replay ended with another text than the trace says")
        if len(pair.edits) == 0:
            sys.exit("no update was reported for an edit")
        samples.append([total / len(transactions) / 1000 for total in nanoseconds])
    for measure, values in zip(["live_send_each", "live_receive_each"], zip(*samples)):
        print(json.dumps({"lib": arguments.lib, "trace": name, "measure": measure, "unit": "µs",
                          "value": round(statistics.median(values), 4), "reps": len(values)}), flush=True)


main()
