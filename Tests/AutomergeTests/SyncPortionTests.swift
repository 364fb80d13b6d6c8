import Automerge
import Foundation
import TestSupport
import Testing

/// What a peer lacks comes in messages of bounded size.
struct SyncPortionTests {
  @Test func aPeerThatLacksMuchGetsItInSeveralMessages() throws {
    let (ana, ben) = (Document(), Document())
    let text = try ana.putObject(obj: .ROOT, key: "content", ty: .Text)
    for _ in 0..<40 {
      try ana.spliceText(obj: text, start: 0, delete: 0, value: "word ")
      ana.commitWith()
    }
    let (toBen, toAna) = (SyncState(), SyncState())
    _ = try exchange(ana, toBen, ben, toAna)
    #expect(ana.heads() == ben.heads())

    let paste = String(repeating: "a", count: 1 << 19)
    for _ in 0..<12 {
      try ana.spliceText(obj: text, start: 0, delete: 0, value: paste)
      ana.commitWith()
    }
    try ben.spliceText(obj: text, start: 0, delete: 0, value: "Ben ")
    ben.commitWith()
    let sizes = try exchange(ana, toBen, ben, toAna)
    #expect(ana.heads() == ben.heads())
    #expect(try ana.text(obj: text) == ben.text(obj: text))
    #expect(sizes.allSatisfy { $0 < 2 << 20 }, "\(sizes)")
    // Nothing is sent twice.
    #expect(sizes.reduce(0, +) < 7 << 20, "\(sizes)")
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func muchTextGoesInPartsAlsoToAPeerThatHasNothing() throws {
    let (ana, ben) = (Document(), Document())
    let text = try ana.putObject(obj: .ROOT, key: "content", ty: .Text)
    var random = SeededGenerator(seed: 12)
    for _ in 0..<12 {
      let letters = (0..<1 << 19).map { _ in UInt8.random(in: 0x61...0x7A, using: &random) }
      try ana.spliceText(obj: text, start: 0, delete: 0, value: String(decoding: letters, as: UTF8.self))
      ana.commitWith()
    }
    let sizes = try exchange(ana, SyncState(), ben, SyncState())
    #expect(ana.heads() == ben.heads())
    #expect(try ana.text(obj: text) == ben.text(obj: text))
    #expect(sizes.allSatisfy { $0 < 1 << 20 }, "\(sizes)")
    #expect(sizes.reduce(0, +) < 7 << 20, "\(sizes)")
  }

  @Test func aPeerThatDoesNotAnswerIsToldNoMoreUntilItDoes() throws {
    let (ana, ben) = (Document(), Document())
    let text = try ana.putObject(obj: .ROOT, key: "content", ty: .Text)
    ana.commitWith()
    let (toBen, toAna) = (SyncState(), SyncState())
    _ = try exchange(ana, toBen, ben, toAna)
    var waiting: [Data] = []
    for number in 0..<1000 {
      try ana.spliceText(obj: text, start: UInt64(number), delete: 0, value: "x")
      ana.commitWith()
      if let message = ana.generateSyncMessage(state: toBen) { waiting.append(message) }
    }
    #expect(waiting.count > 100 && waiting.count < 200)
    for message in waiting { try ben.receiveSyncMessage(state: toAna, message: message) }
    #expect(ben.heads() != ana.heads())
    let sizes = try exchange(ana, toBen, ben, toAna)
    #expect(ben.heads() == ana.heads() && sizes.count < 10, "\(sizes)")
  }

  /// Returns how many bytes each message had.
  private func exchange(_ one: Document, _ toOther: SyncState, _ other: Document, _ toOne: SyncState) throws -> [Int] {
    var sizes: [Int] = []
    for _ in 0..<100 {
      let (there, back) = (one.generateSyncMessage(state: toOther), other.generateSyncMessage(state: toOne))
      if there == nil, back == nil { break }
      if let there { try other.receiveSyncMessage(state: toOne, message: there) }
      if let back { try one.receiveSyncMessage(state: toOther, message: back) }
      sizes += [there, back].compactMap { $0?.count }
    }
    return sizes
  }
}
