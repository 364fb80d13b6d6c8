import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// Waiting for a host's answer to a ticket; without a socket, and with a clock that stands still.
struct TicketHolderTests {
  @AutomergeRepo
  private struct Scene {
    let parts: DirectoryFixture
    let holder: TicketHolder
    let ticket: Ticket
    var host: PeerId { ticket.peer }
    var presented: Int { parts.network.sent.count { $0.type == TicketMessage.type } }

    init() async throws {
      parts = try await DirectoryFixture()
      holder = TicketHolder(parts.provider, parts.registry, parts.links, parts.admissions, parts.guests)
      let address = DirectoryFixture.address(1)
      ticket = try #require(
        Ticket(
          peer: Identity().peerId, document: try DirectoryFixture.document(1), secret: [UInt8](repeating: 7, count: 16),
          access: .write, expires: nil, addresses: [address]))
      parts.provider.answering = [address]
    }

    func outcome() async -> Result<DocumentId, JoinError> {
      do throws(JoinError) {
        return .success(try await holder.join(ticket))
      } catch {
        return .failure(error)
      }
    }

    /// Returns when the ticket was presented for the first time.
    func presents(on loop: Loop) async throws { try await eventually("presented", on: loop) { presented == 1 } }

    /// Returns when the host has been called, which takes a pause of the clock.
    func calls(on loop: Loop) async throws {
      try await eventually("called again", on: loop) {
        parts.network.manualClock.advance(by: .milliseconds(10))
        return parts.provider.isConnected(host)
      }
    }

    /// A link to the host is up, and the host accepts the ticket on it.
    func accepts() {
      holder.connected(to: host)
      holder.accepted(ticket.document, .write, host: host, isSpoken: false)
    }
  }

  @Test func anAcceptedGuestKnowsTheHostAndMayTakeItsChanges() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene()
      let outcome = Attempt { await scene.outcome() }
      try await scene.presents(on: loop)
      #expect(scene.holder.isAwaited(scene.host) && !scene.parts.registry.hasMet(scene.host))
      // Messages on a link that was cut may be lost.
      scene.holder.connected(to: scene.host)
      #expect(scene.presented == 2)
      scene.holder.accepted(scene.ticket.document, .read, host: Identity().peerId, isSpoken: false)
      #expect(scene.holder.isAwaited(scene.host), "another peer's answer is none")
      scene.holder.accepted(scene.ticket.document, .read, host: scene.host, isSpoken: false)
      let result = try await outcome.result(on: loop)
      #expect(result == .success(scene.ticket.document))
      #expect(scene.parts.registry.hasMet(scene.host) && !scene.holder.isAwaited(scene.host))
      #expect(scene.parts.grants.ownAccess(to: scene.ticket.document) == .read)
      #expect(scene.parts.grants.host(of: scene.ticket.document) == scene.host)
    }
  }

  @Test func aRefusalIsReportedAndNothingIsGranted() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene()
      let outcome = Attempt { await scene.outcome() }
      try await scene.presents(on: loop)
      scene.holder.refused(scene.ticket.document, kind: "ticketUsed", by: scene.host)
      let result = try await outcome.result(on: loop)
      #expect(result == .failure(.ticket(.ticketUsed)))
      #expect(scene.parts.grants.allPeers.isEmpty && !scene.parts.registry.isTrusted(scene.host))
      // An answer that comes too late is none.
      scene.holder.accepted(scene.ticket.document, .write, host: scene.host, isSpoken: false)
      #expect(scene.parts.grants.allPeers.isEmpty)
    }
  }

  @Test func aHostThatDoesNotAnswerIsNotWaitedForForever() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene()
      let outcome = Attempt { await scene.outcome() }
      try await scene.presents(on: loop)
      scene.parts.network.manualClock.advance(by: PendingJoin.timeout)
      let result = try await outcome.result(on: loop)
      #expect(result == .failure(.timedOut))
    }
  }

  @Test func aJoinGoesOnOverTheNextLinkHoweverOftenOneEnds() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene()
      let outcome = Attempt { await scene.outcome() }
      try await scene.presents(on: loop)
      for count in 2...6 {
        scene.parts.provider.connected = []
        scene.holder.linkEnded(scene.host)
        try await scene.calls(on: loop)
        scene.holder.connected(to: scene.host)
        #expect(scene.presented == count)
      }
      scene.holder.accepted(scene.ticket.document, .write, host: scene.host, isSpoken: false)
      let result = try await outcome.result(on: loop)
      #expect(result == .success(scene.ticket.document))
    }
  }

  @Test(arguments: 1...3) func aLinkThatEndsBeforeTheTicketIsPresentedIsMadeAgain(count: Int) async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene()
      scene.parts.provider.endingCount = count
      let outcome = Attempt { await scene.outcome() }
      try await scene.calls(on: loop)
      scene.accepts()
      let result = try await outcome.result(on: loop)
      #expect(result == .success(scene.ticket.document))
    }
  }

  /// A host whose places for strangers are all taken closes a connection before it knows who calls.
  @Test func aCallThatFailsIsPlacedAgain() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene()
      let outcome = Attempt { await scene.outcome() }
      try await scene.presents(on: loop)
      (scene.parts.provider.connected, scene.parts.provider.answering) = ([], [])
      scene.holder.linkEnded(scene.host)
      try await eventually("called in vain", on: loop) { scene.parts.provider.failureCount == 1 }
      scene.parts.provider.answering = Set(scene.ticket.addresses)
      try await scene.calls(on: loop)
      scene.accepts()
      let result = try await outcome.result(on: loop)
      #expect(result == .success(scene.ticket.document))
    }
  }

  @Test func aHostThatIsGoneIsReportedSoon() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene()
      let outcome = Attempt { await scene.outcome() }
      try await scene.presents(on: loop)
      (scene.parts.provider.connected, scene.parts.provider.answering) = ([], [])
      let clock = scene.parts.network.manualClock
      scene.holder.linkEnded(scene.host)
      try await eventually("given up", on: loop) {
        clock.advance(by: .milliseconds(1))
        return !scene.holder.isAwaited(scene.host) || clock.now >= .seconds(2)
      }
      try #require(!scene.holder.isAwaited(scene.host), "within two seconds of the clock")
      let result = try await outcome.result(on: loop)
      guard case .failure(.unreachable) = result else { throw NeverHappened(what: "an error, but \(result)") }
    }
  }

  @Test func aDocumentThatIsHereFromElsewhereIsNotAskedFor() async throws {
    try await TestLoop.run { _ in
      let scene = try await Scene()
      scene.parts.network.documents = [scene.ticket.document]
      await #expect(throws: JoinError.alreadyHere(scene.ticket.document)) { try await scene.holder.join(scene.ticket) }
      #expect(scene.presented == 0)
    }
  }
}
