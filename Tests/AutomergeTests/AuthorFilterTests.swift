import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Changes of which some are not to be taken, as chunks: one on top of the other, and in branches.
struct AuthorFilterTests {
  private struct Story {
    let base: Document
    let full: Document
    let authors: [ActorId]
    /// Every change behind `base`, with its author.
    let changes: [Change]
  }

  /// Three authors take turns on one text; in branches they do not wait for each other.
  private func story(seed: UInt64, isLinear: Bool) throws -> Story {
    var random = SeededGenerator(seed: seed)
    let base = Document()
    let text = try base.putObject(obj: .ROOT, key: "content", ty: .Text)
    try base.spliceText(obj: text, start: 0, delete: 0, value: "base")
    base.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    let before = base.heads()
    let copies = (0..<3).map { _ in base.fork() }
    for round in 0..<40 {
      let copy = copies[Int.random(in: 0..<3, using: &random)]
      if isLinear || round % 7 == 0 { for other in copies where other !== copy { try copy.merge(other: other) } }
      let length = copy.length(obj: text)
      try copy.spliceText(obj: text, start: UInt64.random(in: 0...length, using: &random), delete: 0, value: "abc")
      copy.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    }
    let full = copies[0]
    for other in copies.dropFirst() { try full.merge(other: other) }
    return Story(base: base, full: full, authors: copies.map(\.actor), changes: full.changes(since: before))
  }

  private func take(_ story: Story, _ filter: inout AuthorFilter) throws -> Document {
    let copy = story.base.fork()
    var message = SyncMessage()
    message.heads = story.full.heads().sorted()
    message.changes = [Array(try story.full.encodeChangesSince(heads: story.base.heads()))[...]]
    _ = try copy.receiveSyncMessageWithTextEdits(
      state: SyncState(), message: Data(message.encoded), filter: &filter)
    return copy
  }

  @Test(arguments: 1...20, [true, false])
  func onlyOthersAndWhatIsAttestedIsTaken(seed: UInt64, isLinear: Bool) throws {
    var random = SeededGenerator(seed: seed)
    let story = try story(seed: seed, isLinear: isLinear)
    let refused = story.authors[Int.random(in: 0..<3, using: &random)]
    let own = story.changes.filter { $0.actorId == refused }
    let attested = Bool.random(using: &random) ? own.randomElement(using: &random) : nil
    var filter = AuthorFilter(attested: [refused: Set([attested?.hash].compactMap(\.self))])
    let copy = try take(story, &filter)
    // What is attested brings its own ancestors, and whatever stands on something left out waits.
    var good = Set(story.base.getHistory())
    let byHash = Dictionary(uniqueKeysWithValues: story.changes.map { ($0.hash, $0) })
    var open = [attested?.hash].compactMap(\.self), vouched: Set<ChangeHash> = []
    while let hash = open.popLast() {
      guard let change = byHash[hash], vouched.insert(hash).inserted else { continue }
      open += change.deps
    }
    for change in story.changes where change.deps.allSatisfy(good.contains) {
      if change.actorId != refused || vouched.contains(change.hash) { good.insert(change.hash) }
    }
    #expect(Set(copy.getHistory()) == good, "seed \(seed)")
    let isAllVouched = own.allSatisfy { vouched.contains($0.hash) }
    #expect(filter.leftOut[refused] == (isAllVouched ? nil : own.last?.hash), "seed \(seed)")
    #expect(filter.fault == nil)
    // Nothing is lost: the rest comes with another message, from any peer.
    var none = AuthorFilter(attested: [:])
    var message = SyncMessage()
    message.changes = [Array(try story.full.encodeChangesSince(heads: story.base.heads()))[...]]
    _ = try copy.receiveSyncMessageWithTextEdits(state: SyncState(), message: Data(message.encoded), filter: &none)
    #expect(copy.heads() == story.full.heads(), "seed \(seed)")
  }

  @Test func anActorTheDocumentDoesNotKnowIsLeftOutAfterItsAttestedChange() throws {
    let story = try story(seed: 3, isLinear: true)
    let author = try #require(story.changes.first?.actorId)
    let own = story.changes.filter { $0.actorId == author }
    let first = try #require(own.first)
    var filter = AuthorFilter(attested: [author: [first.hash]])
    let copy = try take(story, &filter)
    #expect(copy.change(hash: first.hash) != nil)
    #expect(copy.changes(since: story.base.heads()).count { $0.actorId == author } == 1)
    #expect(filter.leftOut[author] == own.last?.hash)
  }
}
