import Automerge
import Foundation
import Testing

@testable import AutomergeRepo

/// Which peer's word counts, as values: no document, no network, no clock.
struct AuthorshipTests {
  private let carol = PeerId("carol")
  private let bob = PeerId("bob")
  private let dora = PeerId("dora")
  private let carols: ActorId
  private let own: ActorId
  private let change: ChangeHash

  init() throws {
    (carols, own) = (try AuthorshipTests.actor(1), try AuthorshipTests.actor(9))
    change = try #require(ChangeHash(bytes: Array(repeating: 7, count: 32)))
  }

  private static func actor(_ number: Int) throws -> ActorId {
    try #require(ActorId(data: Data([UInt8(number >> 8), UInt8(number & 255)])))
  }

  private func withholding() -> Authorship {
    var authorship = Authorship()
    #expect(authorship.receive(.claimed([carols], by: carol)) == [])
    #expect(authorship.receive(.withheld([carols: change], from: bob, own: own)) == [.startTimer])
    return authorship
  }

  private func refused(by authorship: Authorship, for peer: PeerId) -> Set<ActorId> {
    Set(authorship.filter(for: peer, own: own) { _ in [] }.attested.keys)
  }

  @Test func onlyOthersAreNotBelieved() {
    let authorship = withholding()
    #expect(refused(by: authorship, for: bob) == [own, carols])
    #expect(refused(by: authorship, for: carol) == [own])
    #expect(authorship.filter(for: bob, own: own) { _ in [change] }.attested[carols] == [change])
    // Other peers bring the changes of a peer whose own changes we refuse.
    #expect(Set(authorship.filter(for: bob, own: own) { _ in nil }.attested.keys) == [own])
  }

  @Test func whatTheAuthorBringsIsSettled() {
    var authorship = withholding()
    #expect(authorship.isWithholding(from: bob))
    #expect(authorship.receive(.arrived([change])) == [.settled(bob)])
    #expect(!authorship.isWithholding)
    #expect(authorship.receive(.ticked) == [])
  }

  @Test func whatTheAuthorKnowsIsWantedAgain() {
    var authorship = withholding()
    #expect(authorship.receive(.ticked) == [.ask(carol, [change]), .startTimer])
    #expect(authorship.receive(.answered(known: [change], unknown: [], by: dora)) == [])
    #expect(authorship.receive(.answered(known: [change], unknown: [], by: carol)) == [.wantAgain(bob)])
    #expect(authorship.filter(for: bob, own: own) { _ in [] }.attested[carols] == [change])
    #expect(authorship.forgers.isEmpty)
  }

  @Test func whatTheAuthorDoesNotKnowIsForgedWhenItHasSaidSoTwice() {
    var authorship = withholding()
    #expect(authorship.receive(.ticked) == [.ask(carol, [change]), .startTimer])
    #expect(authorship.receive(.answered(known: [], unknown: [change], by: carol)) == [])
    for _ in 2..<Authorship.patience { #expect(authorship.receive(.ticked) == [.startTimer]) }
    #expect(authorship.receive(.ticked) == [.ask(carol, [change]), .startTimer])
    #expect(
      authorship.receive(.answered(known: [], unknown: [change], by: carol)) == [.forged(by: bob, author: carol)])
    #expect(authorship.forgers == [bob])
    // It is over: nothing is asked any more, and no peer is reported twice.
    #expect(authorship.receive(.ticked) == [])
    #expect(authorship.receive(.withheld([carols: change], from: bob, own: own)) == [])
    #expect(authorship.isWithholding(from: bob))
    // Until the author is gone: then the peers that are connected are believed.
    #expect(authorship.receive(.left(carol)) == [.wantAgain(bob)])
    #expect(refused(by: authorship, for: bob) == [own])
  }

  @Test func anAuthorThatDoesNotAnswerCountsAsAbsent() {
    var authorship = withholding()
    #expect(authorship.receive(.ticked) == [.ask(carol, [change]), .startTimer])
    for _ in 2..<Authorship.silence { #expect(authorship.receive(.ticked) == [.startTimer]) }
    #expect(authorship.receive(.ticked) == [.wantAgain(bob)])
    #expect(refused(by: authorship, for: bob) == [own])
    #expect(authorship.forgers.isEmpty)
    // It speaks again.
    #expect(authorship.receive(.heard(carol)) == [])
    #expect(refused(by: authorship, for: bob) == [own, carols])
  }

  @Test func anAuthorThatDeniesOnceAndFallsSilentCountsAsAbsent() {
    var authorship = withholding()
    _ = authorship.receive(.ticked)
    _ = authorship.receive(.answered(known: [], unknown: [change], by: carol))
    for _ in 1...Authorship.patience { _ = authorship.receive(.ticked) }
    for _ in 2..<Authorship.silence { #expect(authorship.receive(.ticked) == [.startTimer]) }
    #expect(authorship.receive(.ticked) == [.wantAgain(bob)])
    #expect(authorship.forgers.isEmpty)
  }

  @Test func everyPeerThatTheAuthorSpeaksToIsBelieved() {
    var authorship = withholding()
    #expect(authorship.receive(.relayed(carol, by: [bob])) == [.wantAgain(bob)])
    #expect(refused(by: authorship, for: bob) == [own])
    // Dora is not one of those that Carol speaks to.
    #expect(refused(by: authorship, for: dora) == [own, carols])
    #expect(authorship.receive(.relayed(carol, by: [bob])) == [])
    #expect(authorship.receive(.relayed(carol, by: nil)) == [])
    #expect(refused(by: authorship, for: bob) == [own, carols])
  }

  @Test func anActorThatAPeerWritesAsCannotBeClaimedByAnother() throws {
    var authorship = withholding()
    let dorasActor = try AuthorshipTests.actor(2)
    #expect(authorship.receive(.claimed([carols, dorasActor], by: dora)) == [.refusedClaim(dora)])
    #expect(authorship.actors(of: dora) == [dorasActor])
    #expect(refused(by: authorship, for: dora) == [own, carols])
    // An actor that a peer no longer claims is free, and so is what was withheld for it.
    #expect(authorship.receive(.claimed([], by: carol)) == [.wantAgain(bob)])
    #expect(authorship.receive(.claimed([carols], by: dora)) == [])
  }

  @Test func aPeerThatWritesInOurNameIsNamedAtOnce() {
    var authorship = Authorship()
    #expect(authorship.receive(.withheld([own: change], from: bob, own: own)) == [.forged(by: bob, author: nil)])
    #expect(authorship.receive(.withheld([own: change], from: bob, own: own)) == [])
    #expect(authorship.isWithholding(from: bob))
  }

  @Test func aFloodOfClaimsAndForgeriesCostsNoMemory() throws {
    var authorship = Authorship()
    for number in 0..<2000 {
      _ = authorship.receive(.claimed([try AuthorshipTests.actor(number)], by: bob))
      let hash = try #require(ChangeHash(bytes: Array(repeating: UInt8(number & 255), count: 32)))
      _ = authorship.receive(.withheld([carols: hash], from: bob, own: own))
    }
    let all = try (0..<2000).map { try AuthorshipTests.actor($0) }
    _ = authorship.receive(.claimed(Set(all), by: bob))
    #expect(authorship.actors(of: bob).count == Authorship.maximumActors)
    #expect(authorship.withheldHashes.count == 1)
  }
}
