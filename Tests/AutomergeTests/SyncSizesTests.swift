import Foundation
import TestSupport
import Testing

@testable import Automerge

/// What sync does differently by size: small filters, and large messages in portions.
struct SyncSizesTests {
  /// The filter of up to six changes takes no memory of its own, and is the same to its users.
  @Test(arguments: 0...8) func aFilterReadAgainIsEqualToTheOneThatWasWritten(count: Int) throws {
    let hashes = (0..<count).map { Chunk.hash(.change, body: [UInt8($0)]) }
    let filter = BloomFilter(containing: hashes)
    #expect(filter.byteCount == (10 * count + 7) / 8)
    let read = try BloomFilter(decoding: filter.encoded[...])
    #expect(read == filter && read.encoded == filter.encoded)
    #expect(hashes.allSatisfy { filter.contains($0) && read.contains($0) })
  }

  /// A document is locked while a portion is applied, so it ends after some thousand operations, even small ones.
  @Test func aPortionHoldsNoMoreThanSomeThousandOperations() throws {
    let base = try Document(actor: "aa")
    try base.put(obj: .ROOT, key: "k0", value: .Int(0))
    let sender = try Document(base.save())
    let perChange = IncomingMessage.Limit.pieces / 2
    for number in 0..<3 {
      for key in 0..<perChange { try sender.put(obj: .ROOT, key: "k\(key)", value: .Int(Int64(number + 1))) }
      sender.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    var message = SyncMessage()
    message.changes = [Array(try sender.encodeChangesSince(heads: base.heads()))[...]]
    let incoming = try IncomingMessage(Data(message.encoded), known: base.getHistory())
    let first = try #require(incoming.nextPortion())
    #expect(first.byteCount < IncomingMessage.Limit.byteCount)
    #expect(first.pieceCount == 2 * (perChange + 1) && first.changes.count == 2)
    #expect(first.wholeDocument == nil && first.wholeDocumentChangeCount == 0 && !incoming.isAtEnd)
    let second = try #require(incoming.nextPortion())
    #expect(second.changes.count == 1 && incoming.nextPortion() == nil && incoming.isAtEnd)
    var filter = AuthorFilter(attested: [:])
    for portion in [first, second] { _ = base.takeIn(portion, of: incoming, filter: &filter) }
    #expect(base.heads() == sender.heads())
  }

  @Test func aWholeDocumentIsOnePortionThatSaysHowManyChangesItHas() throws {
    let sender = try Document(actor: "aa")
    for number in 1...5 {
      try sender.put(obj: .ROOT, key: "k", value: .Int(Int64(number)))
      sender.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    var message = SyncMessage()
    message.changes = [Array(sender.save())[...]]
    let incoming = try IncomingMessage(Data(message.encoded), known: [])
    let portion = try #require(incoming.nextPortion())
    #expect(portion.wholeDocumentChangeCount == 5 && portion.changes.isEmpty)
    #expect(portion.wholeDocument.map(Array.init) == Array(sender.save()))
  }

  /// The rest comes with later messages; until then the head that the message names is unknown.
  @Test func whatAPartOfTheChangesBringsIsSharedFromThenOn() throws {
    let base = try Document(actor: "aa")
    try base.put(obj: .ROOT, key: "k", value: .Int(0))
    let receiver = try Document(base.save()), first = receiver.getHistory().count
    for number in 1...3 {
      try base.put(obj: .ROOT, key: "k", value: .Int(Int64(number)))
      base.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    }
    let hashes = base.getHistory()
    var message = SyncMessage()
    message.heads = [try #require(hashes.last)]
    message.changes = [try #require(base.change(hash: hashes[first])).bytes].map { Array($0)[...] }
    let state = SyncState()
    try receiver.receiveSyncMessage(state: state, message: Data(message.encoded))
    #expect(receiver.heads() == [hashes[first]])
    #expect(state.progress.withLock { $0.sharedHeads } == [hashes[first]])
    // A peer that brings only what is here already shows nothing of what else it has.
    let other = SyncState()
    try receiver.receiveSyncMessage(state: other, message: Data(message.encoded))
    #expect(other.progress.withLock { $0.sharedHeads }.isEmpty)
  }

  @Test func aHeaderWithMoreHeadsThanAMessageMayHaveIsNotPlausible() throws {
    for (count, isPlausible) in [(1, true), (SyncMessage.Limit.heads, true), (SyncMessage.Limit.heads + 1, false)] {
      var message = SyncMessage()
      message.heads = Array(repeating: Chunk.hash(.change, body: []), count: count)
      let header = try #require(SyncHeader(Data(message.encoded)))
      #expect(header.isPlausible == isPlausible && header.heads.count == count)
      #expect((try? SyncMessage(decoding: message.encoded[...])) != nil || !isPlausible)
    }
  }

  /// No other thread is needed to refuse it.
  @Test func aMessageThatEndsWithinAChangeIsLight() throws {
    let document = try Document(actor: "aa")
    try document.put(obj: .ROOT, key: "k", value: .Int(1))
    document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
    var message = SyncMessage()
    message.changes = [Array(try document.encodeChangesSince(heads: []))[...]]
    let cut = Data(message.encoded.dropLast(5))
    #expect(SyncHeader(cut) != nil && IncomingWeight.isLight(cut))
    #expect(throws: ReceiveSyncError.self) { try Document().receiveSyncMessage(state: SyncState(), message: cut) }
  }
}
