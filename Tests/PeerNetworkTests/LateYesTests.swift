import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// An offer is accepted, and the other side keeps its word only when the document has come from elsewhere.
struct LateYesTests {
  /// Ben has a note that Eve may read. Eve has invited Ana to it, as if it were hers, and Ana has said yes; Eve has not.
  @AutomergeRepo
  private final class Scene {
    let loop: Loop
    let (ana, ben, eve): (Person, Person, Person)
    let note: DocHandle
    let evesCopy: DocHandle
    private(set) var answer: Result<DocumentId?, InvitationError>?

    init(_ loop: Loop) async throws {
      self.loop = loop
      ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      note = try ben.repo.create(try .note("Ben's"))
      let ticket = try #require(try await ben.directory.share(note.id, access: .read))
      evesCopy = try await eve.find(try await eve.directory.join(ticket))
      let address = try #require(ana.directory.listening)
      eve.directory.discovered(.appeared(.init(peer: ana.peerId, name: "Ana", addresses: [address])))
      _ = try await eve.directory.invite(ana.peerId, to: note.id, title: "Party list")
      let ana = ana
      try await eventually("Ana is asked", on: loop) { !ana.directory.receivedInvitations.isEmpty }
      let invitation = ana.directory.receivedInvitations[0].id
      Task { @AutomergeRepo in
        do throws(InvitationError) {
          self.answer = .success(try await ana.directory.answer(invitation, accepts: true))
        } catch {
          self.answer = .failure(error)
        }
      }
      let eve = eve
      try await eventually("Eve hears of the yes", on: loop) {
        eve.directory.sentInvitations.contains { $0.awaitsConfirmation }
      }
    }

    func evesYes() {
      for sent in eve.directory.sentInvitations { eve.directory.confirm(sent.id) }
    }

    func stop() async throws {
      for person in [ana, ben, eve] { try await person.stop() }
    }
  }

  /// Whether the note is in memory or only in the store makes no difference.
  @Test(arguments: [true, false])
  func anInviterThatConfirmsLateDoesNotBecomeTheHostOfWhatCameFromAnother(isOpen: Bool) async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      let (ana, ben, eve, id) = (scene.ana, scene.ben, scene.eve, scene.note.id)
      let ticket = try #require(try await ben.directory.share(id, access: .read))
      _ = try await ana.find(try await ana.directory.join(ticket))
      try await ana.repo.flush()
      if !isOpen {
        try await eventually("closed", on: loop) { ana.repo.release(id) }
        #expect(ana.repo.handle(of: id) == nil)
      }
      scene.evesYes()
      try await eventually("Ana is told", on: loop) { scene.answer != nil }
      #expect(scene.answer == .failure(.alreadyHere(id)))
      #expect(ana.grants.joined[id]?.host == ben.peerId)
      #expect(ana.directory.ownAccess(to: id) == .read)
      // What Ben lets Eve do counts, and nothing else.
      #expect(ana.grants.guests(on: id)[eve.peerId] == nil && ana.grants.access(id, for: eve.peerId) <= .read)
      // They have met: both have compared the digits.
      #expect(ana.directory.registry.hasMet(eve.peerId))
      let copy = try await ana.find(id)
      try scene.evesCopy.splice(0, "Eve was here. ")
      try scene.note.splice(0, "Still ")
      try await eventually("Ben's words arrive", on: loop) {
        (try? copy.document.content()) == "Still Ben's"
      }
      try await scene.stop()
    }
  }

  @Test func norOfWhatWasMadeHereMeanwhile() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(loop)
      let (ana, eve, id) = (scene.ana, scene.eve, scene.note.id)
      _ = try await ana.repo.create(doc: try .note("Ana's own"), id: id)
      try await ana.repo.flush()
      try await eventually("closed", on: loop) { ana.repo.release(id) }
      scene.evesYes()
      try await eventually("Ana is told", on: loop) { scene.answer != nil }
      #expect(scene.answer == .failure(.alreadyHere(id)))
      #expect(ana.grants.joined[id] == nil && ana.directory.ownAccess(to: id) == .write)
      #expect(ana.grants.access(id, for: eve.peerId) == .none)
      #expect(try await ana.find(id).document.content() == "Ana's own")
      try await scene.stop()
    }
  }

  /// Our person has stopped waiting long ago, and is told of the offer.
  @Test func aPersonThatNoLongerWaitsIsToldOfTheOffer() async throws {
    try await TestLoop.run { loop in
      let parts = try await DirectoryFixture()
      let (eve, id) = (Identity().peerId, try DirectoryFixture.document(1))
      var events: [SharingEvent] = []
      parts.news.onEvent = { events.append($0) }
      parts.provider.connected = [eve]
      let exchange = parts.invitations
      let invitation: [UInt8] = try await parts.acceptInvitation(from: eve, to: id, on: loop)
      parts.network.manualClock.advance(by: PendingInvitation.grantTimeout)
      parts.network.documents = [id]
      events = []
      exchange.receive(
        InviteMessage.inviteType, InviteMessage.granted(.write).fields(of: invitation), from: eve, nonce: [])
      try await eventually("told", on: loop) { !events.isEmpty }
      #expect(events == [.offeredAgain(eve, name: parts.registry.name(of: eve), id)])
      #expect(parts.grants.joined.isEmpty && parts.grants.allPeers.isEmpty)
    }
  }

  /// The inviter sends its guests' names right behind its grant, and only once.
  @Test(arguments: [Access.write, .read])
  func theGuestsThatAnInviterNamesBehindItsGrantAreIntroduced(access: Access) async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let parts = try await DirectoryFixture(storage: disk)
      let (ana, fellow, stranger) = (Identity().peerId, Identity().peerId, Identity().peerId)
      let id = try DirectoryFixture.document(1)
      parts.provider.connected = [ana]
      let invitation: [UInt8] = try await parts.acceptInvitation(from: ana, to: id, on: loop)
      func list(_ peer: PeerId) -> GuestList {
        let own = GuestList.Guest(peer: parts.network.peerId, access: access, name: nil, addresses: [])
        let other = GuestList.Guest(peer: peer, access: .write, name: nil, addresses: [])
        return GuestList(document: id, guests: [own, other])
      }
      parts.invitations.receive(
        InviteMessage.inviteType, InviteMessage.granted(.write).fields(of: invitation), from: ana, nonce: [])
      // The inviter has changed the access, or invited another guest, in the moment of the grant.
      parts.guests.receive(list(fellow), from: ana)
      // The control: only the inviter may name guests meanwhile.
      parts.guests.receive(list(stranger), from: stranger)
      try await eventually("let in", on: loop) { parts.grants.host(of: id) == ana }
      try await eventually("introduced", on: loop) { parts.grants.introductions[id] == [fellow: .write] }
      #expect(parts.grants.ownAccess(to: id) == access)
      await parts.admissions.finishStoring(id)
      #expect(try await Grants.load(from: disk).ownAccess(to: id) == access)
    }
  }

  /// The inviter has ended the sharing in the moment of the grant.
  @Test func aSharingThatEndsRightBehindTheGrantHasEnded() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let parts = try await DirectoryFixture(storage: disk)
      let (ana, id) = (Identity().peerId, try DirectoryFixture.document(1))
      var events: [SharingEvent] = []
      parts.news.onEvent = { events.append($0) }
      parts.provider.connected = [ana]
      let invitation: [UInt8] = try await parts.acceptInvitation(from: ana, to: id, on: loop)
      parts.invitations.receive(
        InviteMessage.inviteType, InviteMessage.granted(.write).fields(of: invitation), from: ana, nonce: [])
      parts.guests.receive(GuestList(document: id, guests: []), from: ana)
      try await eventually("told", on: loop) {
        events.contains { if case .unshared(ana, _, id) = $0 { true } else { false } }
      }
      #expect(parts.grants.host(of: id) == nil && parts.grants.access(id, for: ana) == .none)
      await parts.admissions.finishStoring(id)
      let stored = try await Grants.load(from: disk)
      #expect(stored.host(of: id) == nil && stored.access(id, for: ana) == .none && stored.formerHosts[id] == ana)
    }
  }

  /// A decision of our person counts, even while the store is asked.
  @Test func aPeerThatIsBlockedWhenItKeepsItsWordGetsNothing() async throws {
    try await TestLoop.run { loop in
      let parts = try await DirectoryFixture()
      let (eve, id) = (Identity().peerId, try DirectoryFixture.document(1))
      parts.provider.connected = [eve]
      let invitation: [UInt8] = try await parts.acceptInvitation(from: eve, to: id, on: loop)
      parts.invitations.receive(
        InviteMessage.inviteType, InviteMessage.granted(.write).fields(of: invitation), from: eve, nonce: [])
      try await parts.trust.decide(.blocked, about: eve, name: nil)
      try await eventually("nothing more happens", on: loop) { true }
      #expect(parts.grants.joined.isEmpty && parts.grants.allPeers.isEmpty)
      #expect(parts.registry.isBlocked(eve) && !parts.registry.hasMet(eve))
    }
  }

  // MARK: Tickets

  @Test func aHostThatAnswersATicketLateDoesNotTakeOverWhatIsHereByNow() async throws {
    try await TestLoop.run { loop in
      let scene = try await JoinScene()
      let outcome = Attempt { await scene.join(scene.tickets[0]) }
      try await eventually("presented", on: loop) { scene.presented == 1 }
      scene.parts.network.manualClock.advance(by: PendingJoin.checkLifetime)
      scene.parts.network.documents = [scene.document]
      scene.accept(0)
      let result = try await outcome.result(on: loop)
      #expect(result == .failure(.alreadyHere(scene.document)))
      #expect(scene.parts.grants.allPeers.isEmpty && scene.parts.grants.joined.isEmpty)
    }
  }

  /// While the first host's document is on its way it is neither in memory nor in the store.
  @Test func ofTwoHostsThatAcceptAtOnceTheFirstStays() async throws {
    try await TestLoop.run { loop in
      let scene = try await JoinScene()
      let first = Attempt { await scene.join(scene.tickets[0]) }
      let second = Attempt { await scene.join(scene.tickets[1]) }
      try await eventually("presented", on: loop) { scene.presented == 2 }
      scene.accept(0)
      scene.accept(1)
      let results = (try await first.result(on: loop), try await second.result(on: loop))
      #expect(results.0 == .success(scene.document))
      #expect(results.1 == .failure(.alreadyHere(scene.document)))
      #expect(scene.parts.grants.host(of: scene.document) == scene.tickets[0].peer)
      #expect(scene.parts.grants.allPeers == [scene.tickets[0].peer])
    }
  }

  /// The control: a late answer about what is not here lets our person in.
  @Test func aHostThatAnswersLateIsTheHostOfWhatIsNotHere() async throws {
    try await TestLoop.run { loop in
      let scene = try await JoinScene()
      let outcome = Attempt { await scene.join(scene.tickets[0]) }
      try await eventually("presented", on: loop) { scene.presented == 1 }
      scene.parts.network.manualClock.advance(by: PendingJoin.checkLifetime)
      scene.accept(0)
      let result = try await outcome.result(on: loop)
      #expect(result == .success(scene.document))
      #expect(scene.parts.grants.host(of: scene.document) == scene.tickets[0].peer)
    }
  }

  /// The host sends its guests' names right behind its answer, and only once.
  @Test func theGuestsThatAHostNamesBehindALateAnswerAreIntroduced() async throws {
    try await TestLoop.run { loop in
      let scene = try await JoinScene()
      let (host, fellow, stranger) = (scene.tickets[0].peer, Identity().peerId, Identity().peerId)
      func list(_ peer: PeerId) -> GuestList {
        let guests = [scene.parts.network.peerId, peer].map {
          GuestList.Guest(peer: $0, access: .write, name: nil, addresses: [])
        }
        return GuestList(document: scene.document, guests: guests)
      }
      let outcome = Attempt { await scene.join(scene.tickets[0]) }
      try await eventually("presented", on: loop) { scene.presented == 1 }
      scene.parts.network.manualClock.advance(by: PendingJoin.checkLifetime)
      scene.accept(0)
      scene.parts.guests.receive(list(fellow), from: host)
      // The control: only the host may name guests meanwhile.
      scene.parts.guests.receive(list(stranger), from: stranger)
      let result = try await outcome.result(on: loop)
      #expect(result == .success(scene.document))
      try await eventually("introduced", on: loop) { scene.parts.grants.introductions[scene.document] != nil }
      #expect(scene.parts.grants.introductions[scene.document] == [fellow: .write])
    }
  }

  /// Two hosts with tickets for one document.
  @AutomergeRepo
  private struct JoinScene {
    let parts: DirectoryFixture
    let holder: TicketHolder
    let document: DocumentId
    let tickets: [Ticket]
    var presented: Int { parts.network.sent.count { $0.type == TicketMessage.type } }

    init() async throws {
      parts = try await DirectoryFixture()
      holder = TicketHolder(parts.provider, parts.registry, parts.links, parts.admissions, parts.guests)
      let document = try DirectoryFixture.document(1)
      self.document = document
      tickets = try [UInt8(1), 2].map { number in
        try #require(
          Ticket(
            peer: Identity().peerId, document: document, secret: [UInt8](repeating: number, count: 16),
            access: .write, expires: nil, addresses: [DirectoryFixture.address(number)]))
      }
      parts.provider.answering = Set(tickets.flatMap(\.addresses))
    }

    func join(_ ticket: Ticket) async -> Result<DocumentId, JoinError> {
      do throws(JoinError) {
        return .success(try await holder.join(ticket))
      } catch {
        return .failure(error)
      }
    }

    func accept(_ number: Int) {
      holder.accepted(document, .write, host: tickets[number].peer, isSpoken: false)
    }
  }
}

extension DirectoryFixture {
  /// Our person accepts an invitation from this peer, which has not kept its word yet.
  ///
  /// - Returns: the invitation's id.
  fileprivate func acceptInvitation(
    from peer: PeerId, to document: DocumentId, on loop: Loop
  ) async throws -> [UInt8] {
    let id = [UInt8](repeating: 5, count: InviteMessage.idByteCount)
    let nonce = [UInt8](repeating: 6, count: InviteMessage.nonceByteCount)
    let commitment = ShortAuthenticationString.commitment(
      to: nonce, inviter: Identity.fingerprint(of: peer) ?? [], invited: Identity.fingerprint(of: network.peerId) ?? [])
    let offer = InviteMessage.Offer(
      document: document, title: "Party list", access: .write, name: "Eve", commitment: commitment,
      knowsInvited: false)
    for message in [InviteMessage.offer(offer), .opening(nonce: nonce)] {
      invitations.receive(InviteMessage.inviteType, message.fields(of: id), from: peer, nonce: nonce)
    }
    let exchange = invitations
    Task { _ = try? await exchange.answer(id, accepts: true) }
    try await eventually("accepted", on: loop) {
      exchange.received.isEmpty
        && network.sent.contains { $0.type == InviteMessage.answerType && $0.fields["accept"] != nil }
    }
    return id
  }
}
