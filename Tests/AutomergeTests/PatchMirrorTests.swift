import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Patches applied to a plain copy make what the document holds.
struct PatchMirrorTests {
  private final class Replica {
    let document: Document
    var mirror = PatchMirror()
    private var heads: Set<ChangeHash> = []
    private var states: [ObjectIdentifier: SyncState] = [:]

    init(_ document: Document) throws {
      self.document = document
      try follow()
    }

    /// Brings the mirror up to what was edited here.
    func follow() throws {
      try mirror.apply(document.difference(since: heads))
      heads = document.heads()
    }

    func receive(_ patches: [Patch], _ note: Comment) throws {
      #expect(patches.map(\.description) == document.difference(since: heads).map(\.description), note)
      try mirror.apply(patches)
      heads = document.heads()
    }

    func merge(_ other: Replica, _ way: Int, _ note: Comment) throws {
      switch way {
      case 0: try receive(document.mergeWithPatches(other: other.document), note)
      case 1:
        let encoded = try other.document.encodeChangesSince(heads: heads.subtracting(other.document.unknown(heads)))
        try receive(document.applyEncodedChangesWithPatches(encoded: encoded), note)
      default: try sync(other, note)
      }
    }

    private func sync(_ other: Replica, _ note: Comment) throws {
      let state = state(other), theirs = other.state(self)
      while true {
        let message = document.generateSyncMessage(state: state)
        if let message {
          try other.receive(other.document.receiveSyncMessageWithPatches(state: theirs, message: message), note)
        }
        let answer = other.document.generateSyncMessage(state: theirs)
        if let answer { try receive(document.receiveSyncMessageWithPatches(state: state, message: answer), note) }
        if message == nil, answer == nil { return }
      }
    }

    private func state(_ other: Replica) -> SyncState {
      let state = states[ObjectIdentifier(other)] ?? SyncState()
      states[ObjectIdentifier(other)] = state
      return state
    }

    func check(_ note: Comment) throws {
      #expect(try mirror.tree() == document.contentTree(), note)
      #expect(document.brokenInvariant() == nil, note)
    }
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
  func patchesOfEveryKindKeepAMirrorEqual(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let first = try Document(actor: "5a")
    let text = try first.putObject(obj: .ROOT, key: "text", ty: .Text)
    try first.spliceText(obj: text, start: 0, delete: 0, value: "some words")
    _ = try first.putObject(obj: .ROOT, key: "a", ty: .List)
    var replicas = [try Replica(first)]
    for actor in ["01", "a0"] {
      let fork = first.fork()
      try fork.rename(actor)
      replicas.append(try Replica(fork))
    }
    for step in 0..<120 {
      let note: Comment = "seed \(seed), step \(step)"
      let replica = replicas[Int.random(in: 0..<3, using: &random)]
      if Int.random(in: 0..<3, using: &random) > 0 {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          try RandomEditor.edit(replica.document, using: &random)
        }
        try replica.follow()
      } else {
        let other = replicas[Int.random(in: 0..<3, using: &random)]
        if other !== replica { try replica.merge(other, Int.random(in: 0..<3, using: &random), note) }
      }
      try replica.check(note)
    }
    for _ in 0..<2 {
      for replica in replicas {
        for other in replicas where other !== replica { try replica.merge(other, 0, "seed \(seed), at the end") }
      }
    }
    for replica in replicas {
      try replica.check("seed \(seed), at the end")
      #expect(try replica.mirror.tree() == replicas[0].mirror.tree(), "seed \(seed)")
    }
  }

  @Test(arguments: [11, 12, 13, 14, 15, 16] as [UInt64])
  func differencesLeadFromAnyStateToAnyOtherAndBack(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let first = try Document(actor: "5a")
    let fork = first.fork()
    try fork.rename("a0")
    var states: [(heads: Set<ChangeHash>, tree: ContentTree)] = []
    for _ in 0..<40 {
      let (one, other) = Bool.random(using: &random) ? (first, fork) : (fork, first)
      for _ in 0..<3 { try RandomEditor.edit(one, using: &random) }
      states.append((one.heads(), try one.contentTree()))
      if Int.random(in: 0..<3, using: &random) == 0 {
        try one.merge(other: other)
        states.append((one.heads(), try one.contentTree()))
      }
    }
    try first.merge(other: fork)
    for step in 0..<60 {
      let note: Comment = "seed \(seed), step \(step)"
      let (from, to) = (
        try require(states.randomElement(using: &random)), try require(states.randomElement(using: &random))
      )
      var mirror = PatchMirror()
      try mirror.apply(first.difference(from: [], to: from.heads))
      #expect(try mirror.tree() == from.tree, note)
      try mirror.apply(first.difference(from: from.heads, to: to.heads))
      #expect(try mirror.tree() == to.tree, note)
      try mirror.apply(first.difference(from: to.heads, to: from.heads))
      #expect(try mirror.tree() == from.tree, note)
      #expect(first.difference(from: from.heads, to: from.heads).isEmpty, note)
    }
  }
}
