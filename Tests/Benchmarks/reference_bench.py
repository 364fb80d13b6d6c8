"""Measures the reference Automerge core through its Python package (automerge 1.0.0rc1) on one sequential trace.

    reference_bench.py TRACE.json.gz

One JSON line a measure, named as notes-bench names them; processor milliseconds. The binding inserts one character a
call, so its own cost is part of the local measures; long traces are measured in one transaction only.
"""

import gzip
import json
import os
import statistics
import sys
import time

from automerge import core


def replay(transactions, each):
    document = core.Document()
    with document.transaction() as transaction:
        text = transaction.put_object(core.ROOT, "text", core.ObjType.Text)
    groups = transactions if each else [[patch for patches in transactions for patch in patches]]
    for patches in groups:
        with document.transaction() as transaction:
            for position, deleted, inserted in patches:
                for _ in range(deleted):
                    transaction.delete(text, position)
                for offset, character in enumerate(inserted):
                    transaction.insert(text, position + offset, core.ScalarType.Str, character)
    return document, text


def report(trace, measure, work, unit="ms", repetitions=3):
    times, result = [], None
    for _ in range(repetitions):
        start = time.process_time()
        result = work()
        times.append((time.process_time() - start) * 1e3)
    print(json.dumps({"lib": "automerge", "trace": trace, "measure": measure, "unit": unit,
                      "value": statistics.median(times), "reps": repetitions}), flush=True)
    return result


def main():
    path = sys.argv[1]
    name = os.path.basename(path).replace(".json.gz", "")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    transactions = [t["patches"] for t in trace["txns"]]
    is_long = len(transactions) > 20_000
    document, text = report(name, "local_one_txn", lambda: replay(transactions, False), repetitions=1)
    assert document.text(text) == trace["endContent"]
    if not is_long:
        document, text = report(name, "local_txn_each", lambda: replay(transactions, True), repetitions=1)
    saved = report(name, "save", document.save)
    print(json.dumps({"lib": "automerge", "trace": name, "measure": "size", "unit": "bytes", "value": len(saved)}))
    if not is_long:
        loaded = report(name, "load_verified", lambda: core.Document.load(saved))
        assert loaded.text(text) == trace["endContent"]


main()
