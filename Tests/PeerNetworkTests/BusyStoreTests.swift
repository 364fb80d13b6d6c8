import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// What our person takes from a peer is gone at once, however long the store takes, and whatever the peer sends meanwhile.
struct BusyStoreTests {
  /// Ana's note, which Ben has.
  @AutomergeRepo
  private struct Scene {
    let disk = FaultyStorage(InMemoryStorage())
    let (ana, ben): (Person, Person)
    let (note, copy): (DocHandle, DocHandle)

    init(on loop: Loop) async throws {
      ana = try await Person.start("Ana", on: loop, storage: disk)
      ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      note = try ana.repo.create(try .note("soup"))
      let ticket = try #require(try await ana.directory.share(note.id))
      copy = try await ben.find(try await ben.directory.join(ticket))
    }

    /// Returns when the receiver has all that was sent before.
    func settle(_ sender: Person, _ receiver: Person) async throws {
      var isHere = false
      receiver.repo.onMessage(ofType: "mark") { _, _ in isHere = true }
      sender.repo.send(type: "mark", fields: [:], to: receiver.peerId)
      try await eventually("the mark", on: receiver.provider.loop) { isHere }
    }

    func stop() async throws { for person in [ana, ben] { try await person.stop() } }
  }

  /// Ben's program does as if it had not heard that the sharing has ended.
  @Test func nothingIsSentToAGuestOnceTheSharingHasEndedThoughTheStoreIsBusy() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop)
      let (ana, ben, note) = (scene.ana, scene.ben, scene.note)
      ben.repo.onMessage(ofType: GuestList.type) { _, _ in }
      scene.disk.holdSaves(of: "introduced")
      let ending = Task { @AutomergeRepo in try await ana.directory.unshare(note.id, from: ben.peerId) }
      try await eventually("the store is asked", on: loop) { scene.disk.heldSaveCount > 0 }
      try note.splice(0, "secret ")
      try await scene.settle(ana, ben)
      #expect(try scene.copy.document.content() == "soup")
      scene.disk.holdSaves(of: nil)
      #expect(try await ending.value)
      try await scene.stop()
    }
  }

  /// The end of a link takes a moment to arrive.
  @Test func aBlockedPeerThatIsStillLinkedCannotUseATicket() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop)
      let (ana, ben) = (scene.ana, scene.ben)
      let other = try ana.repo.create(try .note("plans"))
      let ticket = try #require(try await ana.directory.share(other.id))
      _ = ana.directory.registry.decide(.blocked, about: ben.peerId, name: nil)
      ben.repo.send(
        type: TicketMessage.type, fields: TicketMessage.present(other.id, secret: ticket.secret).fields, to: ana.peerId)
      try await scene.settle(ben, ana)
      #expect(ana.grants.access(other.id, for: ben.peerId) == .none)
      #expect(ana.directory.problem(of: ticket) == nil)
      try await scene.stop()
    }
  }

  @Test func aPeerThatIsBlockedBeforeItHasIntroducedItselfIsNotLetIn() async throws {
    try await TestLoop.run { loop in
      let ana = try Station(loop)
      var questionCount = 0
      ana.provider.policy.isBlocked = { _ in
        questionCount += 1
        return questionCount > 1
      }
      let raw = try await RawPeer.connect(to: ana.address, on: loop)
      try raw.join()
      try await eventually("sent away, or let in", on: loop) { raw.isClosed || !ana.heard.connected.isEmpty }
      #expect(raw.isClosed && ana.heard.connected.isEmpty)
      raw.stream.close()
      ana.provider.stop()
    }
  }
}
