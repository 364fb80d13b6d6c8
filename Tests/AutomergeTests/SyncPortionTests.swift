import Automerge
import Foundation
import Testing

/// What a peer lacks comes in messages of bounded size.
@Suite struct SyncPortionTests {
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
