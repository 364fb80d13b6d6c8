import Automerge
import Foundation
import TestSupport
import Testing

/// Sessions with the reference implementation over a pipe: both edit, both sync, both must agree.
@Suite(.enabled(if: Reference.python != nil, Comment(rawValue: Reference.absence)), .serialized)
struct ReferenceSyncTests {}

extension ReferenceSyncTests {
  /// One step: one side edits, or both sync.
  private func step(
    _ ours: Replica, _ theirs: ReferencePeer, _ random: inout SeededGenerator, seed: UInt64
  ) throws {
    switch Int.random(in: 0..<7, using: &random) {
    case 0...2:
      let edit = RandomEdit(of: ours.text ?? "", with: &random)
      try ours.document.spliceText(
        obj: ours.makeContent(), start: UInt64(edit.index), delete: Int64(edit.delete), value: edit.insert)
      ours.document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    case 3...4:
      let edit = RandomEdit(of: try theirs.status().text ?? "", with: &random)
      _ = try theirs.edit(at: edit.index, delete: edit.delete, insert: edit.insert)
    case 5:
      // Half a conversation: messages cross with later edits.
      if let reply = try theirs.sync(ours.document.generateSyncMessage(state: ours.state)) {
        try ours.document.receiveSyncMessage(state: ours.state, message: reply)
      }
    default:
      #expect(try ours.sync(with: theirs) < 40, "seed \(seed)")
      #expect(try theirs.status() == ReferencePeer.Status(heads: ours.heads, text: ours.text), "seed \(seed)")
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func randomSessionsAgree(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let theirs = try ReferencePeer()
    let ours = Replica()
    // One text for both; made here for odd seeds, there for even ones.
    if seed % 2 == 1 {
      _ = try ours.makeContent()
      ours.document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    } else {
      _ = try theirs.edit(at: 0, delete: 0, insert: "from there")
    }
    _ = try ours.sync(with: theirs)
    for _ in 0..<120 { try step(ours, theirs, &random, seed: seed) }
    #expect(try ours.sync(with: theirs) < 40, "seed \(seed)")
    let status = try theirs.status()
    #expect(status == ReferencePeer.Status(heads: ours.heads, text: ours.text), "seed \(seed)")

    // Each reads what the other saves.
    let here = Replica(try Document(theirs.save()))
    #expect(here.heads == status.heads, "seed \(seed)")
    #expect(here.text == status.text, "seed \(seed)")
    #expect(try theirs.load(ours.document.save()) == status, "seed \(seed)")
  }

  @Test(arguments: [false, true])
  func aLongDocumentTravelsToAnEmptyPeer(oursIsLong: Bool) throws {
    var random = SeededGenerator(seed: 9)
    let theirs = try ReferencePeer()
    let ours = Replica()
    if oursIsLong { _ = try ours.makeContent() }
    for _ in 0..<200 {
      if oursIsLong {
        let edit = RandomEdit(of: ours.text ?? "", with: &random)
        try ours.document.spliceText(
          obj: ours.makeContent(), start: UInt64(edit.index), delete: Int64(edit.delete), value: edit.insert)
        ours.document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      } else {
        let edit = RandomEdit(of: try theirs.status().text ?? "", with: &random)
        _ = try theirs.edit(at: edit.index, delete: edit.delete, insert: edit.insert)
      }
    }
    #expect(try ours.sync(with: theirs) < 12)
    #expect(try theirs.status() == ReferencePeer.Status(heads: ours.heads, text: ours.text))
    #expect(ours.text != nil)
  }

  @Test func reconnectingGoesOnFromWhatWasKept() throws {
    let theirs = try ReferencePeer()
    var ours = Replica()
    _ = try ours.makeContent()
    _ = try ours.sync(with: theirs)
    for round in 0..<5 {
      ours.state = try SyncState(bytes: ours.state.encode())
      try theirs.forgetSyncState()
      try ours.document.spliceText(obj: ours.makeContent(), start: 0, delete: 0, value: "ours \(round)\n")
      _ = try theirs.edit(at: 0, delete: 0, insert: "theirs \(round)\n")
      #expect(try ours.sync(with: theirs) < 12)
      #expect(try theirs.status() == ReferencePeer.Status(heads: ours.heads, text: ours.text))
    }
  }

  @Test(.enabled(if: Reference.oracle != nil, Comment(rawValue: Vectors.absence)))
  func whatWeSaveIsValidThere() throws {
    var random = SeededGenerator(seed: 11)
    let ours = Replica()
    _ = try ours.makeContent()
    try ours.document.put(obj: .ROOT, key: "@notes", value: .Int(1))
    try ours.document.put(obj: .ROOT, key: "title", value: .String("Grüße"))
    for _ in 0..<100 {
      let edit = RandomEdit(of: ours.text ?? "", with: &random)
      try ours.document.spliceText(
        obj: ours.makeContent(), start: UInt64(edit.index), delete: Int64(edit.delete), value: edit.insert)
      ours.document.commitWith(message: "edit")
    }
    let directory = try TemporaryDirectory()
    let path = directory.file("saved.automerge")
    try ours.document.save().write(to: URL(filePath: path))
    let verdict = try Reference.ask("validate", path)
    #expect(verdict.json["ok"].bool == true, "\(verdict.json) \(verdict.errorOutput)")
    #expect(verdict.json["heads"].strings == ours.heads)
    let dump = try Reference.ask("dump", path, "--no-changes")
    #expect(dump.json["texts"]["/content"].string == ours.text)
    #expect(dump.json["value"]["v"]["title"]["v"].string == "Grüße")
  }
}
