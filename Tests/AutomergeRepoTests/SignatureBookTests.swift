import Automerge
import Foundation
import Testing

@testable import AutomergeRepo

/// Signing and its books as values: no network, no clock.
struct SignatureBookTests {
  private let carol: ChangeSigner
  private let mallory: ChangeSigner
  private let actor: ActorId
  private let document = Document()

  init() throws {
    carol = try #require(ChangeSigner(seed: [UInt8](repeating: 3, count: 32)))
    mallory = try #require(ChangeSigner(seed: [UInt8](repeating: 4, count: 32)))
    actor = carol.newActor()
    document.actor = actor
    for number in 0..<3 {
      try document.put(obj: .ROOT, key: "n", value: .Int(Int64(number)))
      document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    }
  }

  private func change(_ number: Int) throws -> ChangeHash {
    try #require(document.changes(by: actor, number...number).first)
  }

  private func signature(_ number: Int) throws -> ChangeSignature {
    try #require(carol.sign(actor, number, try change(number)))
  }

  private func numbers(_ book: SignatureBook) -> [Int] { book.proven.values.map(\.number) }

  @Test func aSignatureHoldsForItsActorAndChangeOnly() throws {
    let good = try signature(2)
    #expect(good.isValid)
    #expect(ChangeSignature(encoded: good.encoded) == good)
    // No key can sign for the actor of another key.
    #expect(mallory.sign(actor, 2, try change(2)) == nil)
    // Every flipped bit ends it, and no cut makes a signature.
    let bytes = good.encoded
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 1
      let isValid = ChangeSignature(encoded: other)?.isValid ?? false
      #expect(!isValid, "byte \(place)")
    }
    for count in 0..<bytes.count {
      let isValid = ChangeSignature(encoded: bytes.prefix(count))?.isValid ?? false
      #expect(!isValid, "\(count) bytes")
    }
    #expect(ChangeSignature(encoded: bytes + Data(count: 100)) == nil)
  }

  @Test func theLastSignatureSpeaksForAllChangesBefore() throws {
    var book = SignatureBook()
    #expect(book.take([try signature(2)], document.authorship).count == 1)
    #expect(book.take([try signature(1)], document.authorship).isEmpty)
    #expect(numbers(book) == [2])
    let vouching = ChangeVouching(signed: book.proven.mapValues(\.number), linked: [:])
    #expect(vouching.covers(try change(1), of: document))
    #expect(vouching.covers(try change(2), of: document))
    #expect(!vouching.covers(try change(3), of: document))
    #expect(!vouching.covers(actor, 2...3) && !vouching.covers(mallory.newActor(), 1...1))
  }

  @Test func whatSpeaksOfAMissingChangeIsNeitherProvenNorInTheWay() throws {
    let early = Document()
    try early.applyEncodedChanges(encoded: try #require(document.change(hash: try change(1))).bytes)
    var book = SignatureBook()
    #expect(book.take([try signature(3)], early.authorship).isEmpty)
    #expect(book.take([try signature(1)], early.authorship).map(\.number) == [1])
    let digest = book.digest
    #expect(book.settle(early.authorship).isEmpty && book.digest == digest)
    #expect(book.settle(document.authorship).map(\.number) == [3])
    #expect(book.awaited.isEmpty && book.digest != digest)
  }

  @Test func aSignatureOfAnothersChangeProvesNothing() throws {
    // Mallory owns the key and the actor, and signs that a change of Carol's is hers.
    let hers = mallory.newActor()
    let signature = try #require(mallory.sign(hers, 2, try change(2)))
    #expect(signature.isValid)
    var book = SignatureBook()
    #expect(book.take([signature], document.authorship).isEmpty && book.proven.isEmpty && book.awaited.isEmpty)
  }

  @Test func aPeerMayOfferSoManyAMinute() {
    var book = SignatureBook()
    let peer = PeerId("mallory")
    #expect(book.admit(2000, from: peer, now: .zero) == 2000)
    #expect(book.admit(2000, from: peer, now: .seconds(30)) == SignatureBook.maximumOffersPerMinute - 2000)
    #expect(book.admit(1, from: peer, now: .seconds(59)) == 0)
    #expect(book.admit(1, from: PeerId("ben"), now: .seconds(59)) == 1)
    #expect(book.admit(7, from: peer, now: .seconds(60)) == 7)
  }

  @Test func theWordOfALinkCountsFromWhenItBegan() throws {
    var linked = LinkedAuthors()
    linked.update([actor]) { document.changeCount(by: $0) }
    // What came while the author was away stays what it was; what came since has its word.
    var vouching = ChangeVouching(signed: [:], linked: linked.counts)
    #expect(!vouching.covers(actor, 3...3) && !vouching.covers(actor, 3...4) && vouching.covers(actor, 4...9))
    vouching = ChangeVouching(signed: [actor: 3], linked: linked.counts)
    #expect(vouching.covers(actor, 1...9))
    vouching = ChangeVouching(signed: [actor: 2], linked: linked.counts)
    #expect(!vouching.covers(actor, 2...4))
    // It is kept while the link is, and forgotten with it.
    linked.update([actor]) { _ in 99 }
    #expect(linked.counts == [actor: 3])
    linked.update([]) { _ in 99 }
    linked.update([actor]) { _ in 99 }
    #expect(linked.counts == [actor: 99])
  }

  @Test func aBurstIsSignedOnceAfterAPause() {
    var schedule = SigningSchedule()
    #expect(schedule.receive(.changed) == .startTimer)
    for _ in 0..<50 { #expect(schedule.receive(.changed) == nil) }
    #expect(schedule.receive(.ticked) == .startTimer)
    #expect(schedule.receive(.ticked) == .sign)
    #expect(schedule.receive(.signed) == nil && !schedule.isUnsigned)
    #expect(schedule.receive(.changed) == .startTimer)
    // Signed meanwhile, for the process was about to end.
    #expect(schedule.receive(.signed) == nil)
    #expect(schedule.receive(.ticked) == nil)
  }

  @Test func typingWithoutAPauseIsSignedEveryFewSeconds() {
    var schedule = SigningSchedule()
    var signedCount = 0, timerCount = 0
    for _ in 0..<40 {
      for _ in 0..<10 { if schedule.receive(.changed) == .startTimer { timerCount += 1 } }
      switch schedule.receive(.ticked) {
      case .sign:
        signedCount += 1
        _ = schedule.receive(.signed)
      case .startTimer: timerCount += 1
      case nil: break
      }
    }
    #expect(signedCount == 10 && timerCount == 40)
  }
}
