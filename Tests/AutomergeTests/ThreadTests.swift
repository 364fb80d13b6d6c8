import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Automerge

/// One document, many threads, everything at once.
struct ThreadTests {
  private struct Model: Codable {
    struct Item: Codable { var title, note: String }

    var items: [Item]

    init(_ number: Int) { items = (0..<100).map { Item(title: "item \($0)", note: "round \(number)") } }
  }

  private final class End: Sendable { let isHere = Atomic(false) }

  /// Other threads commit, and merge the document into another one, all the time.
  @Test func whatIsEncodedIsOneChangeWhateverOtherThreadsDo() async throws {
    let document = Document(), rounds = 30
    let end = End()
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while !end.isHere.load(ordering: .relaxed) {
          document.commitWith(message: "of another thread")
          await Task.yield()
        }
      }
      group.addTask {
        let copy = Document()
        while !end.isHere.load(ordering: .relaxed) {
          try copy.merge(other: document)
          await Task.yield()
        }
      }
      group.addTask {
        defer { end.isHere.store(true, ordering: .relaxed) }
        for number in 0..<rounds {
          try AutomergeEncoder(doc: document).encode(Model(number))
          document.commitWith()
        }
      }
    }
    #expect(document.getHistory().count == rounds)
  }

  @Test(arguments: SeedCount.part(of: 1...4 as ClosedRange<UInt64>))
  func whateverThreadsDoToOneDocumentItStaysWhole(seed: UInt64) async throws {
    let document = try Document(actor: "0a"), other = try Document(actor: "0b")
    let state = SyncState(), otherState = SyncState()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 as Range<UInt64> {
        group.addTask {
          var editor = RandomSession(seed: seed * 10 + number)
          for _ in 0..<60 {
            // What it is about to edit may be gone by then, which is an error and nothing else.
            do { try editor.edit(document) } catch is DocError {}
            if editor.number(0...9) == 0 { document.commitWith() }
          }
        }
      }
      group.addTask {
        var editor = RandomSession(seed: seed * 10 + 9)
        for _ in 0..<40 {
          do { try editor.edit(other) } catch is DocError {}
          if editor.number(0...3) == 0 { try document.merge(other: other) }
          if editor.number(0...3) == 0 { try other.merge(other: document) }
        }
      }
      group.addTask {
        var heads = document.heads()
        for _ in 0..<40 {
          #expect(try Document(document.save()).brokenInvariant() == nil, "seed \(seed)")
          _ = document.difference(since: heads)
          heads = document.heads()
          _ = try document.forkAt(heads: heads).typedValue()
        }
      }
      group.addTask {
        for _ in 0..<40 {
          if let message = document.generateSyncMessage(state: state) {
            try other.receiveSyncMessage(state: otherState, message: message)
          }
          if let message = other.generateSyncMessage(state: otherState) {
            try document.receiveSyncMessage(state: state, message: message)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(document.brokenInvariant() == nil && other.brokenInvariant() == nil, "seed \(seed)")
    try document.merge(other: other)
    try other.merge(other: document)
    #expect(document.heads() == other.heads() && document.typedValue() == other.typedValue(), "seed \(seed)")
    #expect(try Document(document.save()).typedValue() == document.typedValue(), "seed \(seed)")
  }

  @Test func aThreadThatOnlyLooksCutsNoChangeInTwo() async throws {
    let document = Document()
    let done = Atomic(false)
    let looking = Task.detached {
      while !done.load(ordering: .relaxed) { _ = document.heads() }
    }
    for number in 0..<150 {
      try document.withoutOtherThreads {
        let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
        try document.withoutOtherThreads { try document.spliceText(obj: text, start: 0, delete: 0, value: "tea") }
        document.commitWith()
      }
      #expect(document.getHistory().count == number + 1)
    }
    done.store(true, ordering: .relaxed)
    await looking.value
  }
}
