import Automerge
import Foundation
import TestSupport
import Testing

/// A document goes on as if some changes had never come.
struct DiscardTests {
  private func document(_ words: String...) throws -> (document: Document, text: ObjId, hashes: [ChangeHash]) {
    let document = Document(textEncoding: .utf8)
    let text = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
    document.commitWith()
    var hashes: [ChangeHash] = []
    for word in words {
      try document.spliceText(obj: text, start: document.length(obj: text), delete: 0, value: word)
      document.commitWith()
      hashes.append(try #require(document.heads().first))
    }
    return (document, text, hashes)
  }

  @Test func whatWasMadeOnTopOfADiscardedChangeGoesWithIt() throws {
    let (document, text, hashes) = try document("one ", "two ", "three ")
    #expect(document.heads(without: [hashes[1]]) == [hashes[0]])
    let gone = try document.discard([hashes[1]], goingOnAs: ActorId())
    #expect(gone == [hashes[1], hashes[2]])
    #expect(try document.text(obj: text) == "one ")
    #expect(document.heads() == [hashes[0]])
    #expect(document.getHistory().count == 2)
    #expect(document.unknown([hashes[1]]) == [hashes[1]])
  }

  @Test func concurrentChangesStayAndTheObjectsKeepTheirIds() throws {
    let (document, text, hashes) = try document("one ")
    let other = document.fork()
    try document.spliceText(obj: text, start: 0, delete: 0, value: "mine ")
    document.commitWith()
    let mine = try #require(document.heads().first)
    try other.spliceText(obj: text, start: 0, delete: 0, value: "theirs ")
    other.commitWith()
    try document.merge(other: other)
    try document.discard([mine], goingOnAs: ActorId())
    #expect(document.heads() == other.heads())
    #expect(try document.text(obj: text) == "theirs one ")
    // The document goes on under its new name, and what was discarded may come again from others.
    try document.spliceText(obj: text, start: 0, delete: 0, value: "later ")
    document.commitWith()
    try other.merge(other: document)
    #expect(try other.text(obj: text) == document.text(obj: text))
    #expect(hashes.count == 1)
  }

  @Test func nothingHappensWhereNothingIsKnownOfTheChanges() throws {
    let (document, _, hashes) = try document("one ")
    let (actor, stranger) = (document.actor, try self.document("else").hashes[0])
    #expect(try document.discard([stranger], goingOnAs: ActorId()).isEmpty)
    #expect(document.actor == actor && document.heads() == [hashes[0]])
  }

  @Test(arguments: 1...20)
  func itIsAsIfTheOthersHadBeenMergedAlone(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (base, text, _) = try document("some words to begin with ")
    let copies = [base.fork(), base.fork(), base.fork()]
    for copy in copies {
      for _ in 0..<10 {
        let at = UInt64(Int.random(in: 0...Int(copy.length(obj: text)), using: &random))
        try copy.spliceText(obj: text, start: at, delete: 0, value: "\(Int.random(in: 0..<100, using: &random)) ")
        copy.commitWith()
      }
    }
    let all = base.fork(), some = base.fork()
    for copy in copies { try all.merge(other: copy) }
    for copy in copies.dropFirst() { try some.merge(other: copy) }
    let unwanted = Set(copies[0].changes(since: base.heads()).map(\.hash))
    #expect(all.heads(without: unwanted) == some.heads())
    #expect(try all.discard(unwanted, goingOnAs: ActorId()) == unwanted)
    #expect(all.heads() == some.heads())
    #expect(try all.text(obj: text) == some.text(obj: text))
    #expect(try Document(all.save()).heads() == some.heads())
  }
}
