import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork

/// A document goes on as another one without one guest: which peers that concerns, which hear of it, and which are believed.
struct DocumentMoveTests {
  /// Ana's note, which Ben and Eve have.
  @AutomergeRepo
  private struct Scene {
    var ana: Person
    let ben: Person
    let eve: Person
    let note: DocHandle
    let disk = InMemoryStorage()

    init(on loop: Loop) async throws {
      ana = try await Person.start("Ana", on: loop, storage: disk)
      ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      eve = try await Person.start("Eve", on: loop, storage: InMemoryStorage())
      note = try ana.repo.create(try .note("plans"))
      let ticket = try #require(try await ana.directory.share(note.id, uses: 2))
      for guest in [ben, eve] {
        _ = try await guest.directory.join(ticket)
        _ = try await guest.find(note.id)
      }
      try await eventually("the guests are linked", on: loop) { [ben, eve] in ben.provider.isConnected(eve.peerId) }
    }

    func stop() async throws { for person in [ana, ben, eve] { try await person.stop() } }
  }

  @Test func allButTheRemovedHaveTheSuccessorAndOnlyThey() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop)
      let (ana, ben, eve) = (scene.ana, scene.ben, scene.eve)
      let new = try ana.repo.create(scene.note.document.fork())
      try await ana.directory.move(
        scene.note.id, to: new.id, heads: scene.note.document.heads(), without: [eve.peerId])
      try await eventually("Ben hears", on: loop) { ben.grants.host(of: new.id) == ana.peerId }
      #expect(try await ben.find(new.id).document.content() == "plans")
      #expect(ben.grants.host(of: new.id) == ana.peerId && ana.grants.access(new.id, for: ben.peerId) == .write)
      try await ben.directory.followed(scene.note.id)
      #expect(ben.grants.host(of: scene.note.id) == nil && ben.grants.peers(on: scene.note.id).isEmpty)

      // Eve keeps what she had, as her own, and gets nothing of the new one, even by its id.
      try await eventually("Eve hears that it ended", on: loop) { eve.grants.host(of: scene.note.id) == nil }
      #expect(eve.directory.mover.history.moves.isEmpty)
      #expect(try await eve.find(scene.note.id).document.content() == "plans")
      for person in [ana, ben] { #expect(person.grants.access(new.id, for: eve.peerId) == .none) }
      eve.repo.send(
        type: TicketMessage.type,
        fields: TicketMessage.present(new.id, secret: [UInt8](repeating: 0, count: 16)).fields,
        to: ana.peerId)
      // What Ben writes there comes to Ana, and a moment later there is still nothing at Eve.
      try await ben.find(new.id).splice(0, "more ")
      try await eventually("Ana has it", on: loop) { (try? new.document.content()) == "more plans" }
      #expect(eve.repo.handle(of: new.id) == nil)
      try await scene.stop()
    }
  }

  @Test func aGuestThatWasAwayHearsOfItAlsoAfterARestartOfTheHost() async throws {
    try await TestLoop.run { loop in
      var scene = try await Scene(on: loop)
      let (ben, eve, old) = (scene.ben, scene.eve, scene.note.id)
      ben.directory.disconnect(scene.ana.peerId)
      let new = try scene.ana.repo.create(scene.note.document.fork())
      try await scene.ana.directory.move(
        old, to: new.id, heads: scene.note.document.heads(), without: [eve.peerId])
      try await scene.ana.stop()
      scene.ana = try await Person.start("Ana", on: loop, storage: scene.disk)
      let address = try #require(scene.ana.directory.listening)
      _ = try await ben.directory.connect(address: address.description)
      try await eventually("Ben hears", on: loop) { ben.grants.host(of: new.id) != nil }
      #expect(try await ben.find(new.id).document.content() == "plans")
      try await scene.stop()
    }
  }

  @Test func aGuestThatWasAwayForTwoMovesGoesOnWhereTheDocumentIsNow() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop)
      let (ana, ben, eve, old) = (scene.ana, scene.ben, scene.eve, scene.note.id)
      let dave = try await Person.start("Dave", on: loop, storage: InMemoryStorage())
      let ticket = try #require(try await ana.directory.share(old))
      _ = try await dave.directory.join(ticket)
      try await eventually("Dave is in", on: loop) { ana.grants.access(old, for: dave.peerId) == .write }
      // Neither calls the other while Ben is away, however slow the machine is.
      for (one, other) in [(ana, ben), (ben, ana)] { one.provider.forget(other.peerId) }
      ben.directory.disconnect(ana.peerId)
      let first = try ana.repo.create(scene.note.document.fork())
      try await ana.directory.move(
        old, to: first.id, heads: scene.note.document.heads(), without: [eve.peerId])
      let second = try ana.repo.create(first.document.fork())
      try await ana.directory.move(first.id, to: second.id, heads: first.document.heads(), without: [dave.peerId])
      let address = try #require(ana.directory.listening)
      _ = try await ben.directory.connect(address: address.description)
      try await eventually("Ben hears", on: loop) { ben.grants.host(of: second.id) == ana.peerId }
      #expect(ben.directory.mover.history.moves[old]?.successor == second.id)
      #expect(ben.directory.mover.history.moves[old]?.removed == [eve.peerId, dave.peerId])
      #expect(try await ben.find(second.id).document.content() == "plans")
      // Dave, who stayed the first time, keeps what he had when he was removed, as his own.
      try await eventually("Dave hears that it ended", on: loop) {
        dave.grants.host(of: first.id) == nil && dave.grants.access(second.id, for: ana.peerId) == .none
      }
      try await dave.stop()
      try await scene.stop()
    }
  }

  /// A guest has brought more changes that know nothing of each other than a message may name.
  @Test func aDocumentWithMoreHeadsThanAGuestAcceptsIsMovedAllTheSame() async throws {
    try await TestLoop.run { loop in
      var scene = try await Scene(on: loop)
      let (ben, eve, old) = (scene.ben, scene.eve, scene.note.id)
      try scene.note.take(try Document.changes(onTopOf: scene.note.document, count: DocumentMove.maximumHeads + 76))
      #expect(scene.note.document.heads().count == DocumentMove.maximumHeads + 76)
      let new = try scene.ana.repo.create(scene.note.document.fork())
      try await scene.ana.directory.move(old, to: new.id, heads: new.document.heads(), without: [eve.peerId])
      try await eventually("Ben hears", on: loop) { ben.grants.host(of: new.id) != nil }
      try await eventually("Ben has it all", on: loop) {
        ben.repo.handle(of: new.id)?.document.heads() == new.document.heads()
      }
      // The host remembers the move after a restart.
      try await scene.ana.stop()
      scene.ana = try await Person.start("Ana", on: loop, storage: scene.disk)
      #expect(scene.ana.directory.mover.history.moves[old]?.successor == new.id)
      try await scene.stop()
    }
  }

  @Test func onlyTheHostMovesADocumentAndNeverToOneThatIsHere() async throws {
    try await TestLoop.run { loop in
      let scene = try await Scene(on: loop)
      let (ana, ben, eve, id) = (scene.ana, scene.ben, scene.eve, scene.note.id)
      let bait = try eve.repo.create(scene.note.document.fork())
      try await eve.grants.grant(.write, on: bait.id, to: ben.peerId)
      let own = try ben.repo.create(try .note("Ben's own"))
      let heads = scene.note.document.heads()
      func move(_ document: DocumentId, to successor: DocumentId, removed: Set<PeerId> = []) -> [String: CBOR] {
        var fields = DocumentMove(
          document: document, successor: successor, heads: heads, removed: removed, host: nil, isFollowed: false
        ).fields
        fields["access"] = .text("write")
        return fields
      }
      // A guest, about the note it has itself; the host, to a note that is Ben's own, and without Ben himself.
      eve.repo.send(type: DocumentMove.type, fields: move(id, to: bait.id, removed: [ana.peerId]), to: ben.peerId)
      eve.repo.send(type: DocumentMove.type, fields: move(own.id, to: bait.id), to: ben.peerId)
      ana.repo.send(type: DocumentMove.type, fields: move(id, to: own.id), to: ben.peerId)
      ana.repo.send(type: DocumentMove.type, fields: move(id, to: bait.id, removed: [ben.peerId]), to: ben.peerId)
      ana.repo.send(type: DocumentMove.type, fields: move(own.id, to: bait.id), to: ben.peerId)
      // Nonsense.
      for (name, value) in [
        ("documentId", CBOR.text("x")), ("successor", .text(id.description)), ("heads", .array([])),
        ("heads", .array([.bytes(Data(count: 31))])), ("removed", .text("all")), ("access", .text("none")),
        ("heads", .array((0..<2000).map { _ in .bytes(Data(count: 32)) })),
      ] {
        var fields = move(id, to: bait.id)
        fields[name] = value
        ana.repo.send(type: DocumentMove.type, fields: fields, to: ben.peerId)
      }
      let note = try await ben.find(id)
      try note.splice(0, "still here: ")
      try await eventually("the note goes on as it was", on: loop) {
        (try? scene.note.document.content()) == "still here: plans"
      }
      #expect(ben.directory.mover.history.moves.isEmpty && ben.grants.host(of: id) == ana.peerId)
      #expect(ben.grants.host(of: own.id) == nil && ben.grants.host(of: bait.id) == nil)
      #expect(!ben.events.contains { if case .moved = $0 { true } else { false } })
      #expect(ben.provider.isConnected(ana.peerId) && ben.provider.isConnected(eve.peerId))
      try await scene.stop()
    }
  }
}
