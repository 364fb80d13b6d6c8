import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// What a guest makes of several moves, and what becomes of a move that cannot be stored; without a socket.
struct DocumentMoverTests {
  /// A guest that has document 1 from a host.
  @AutomergeRepo
  private struct Guest {
    let scene: DirectoryFixture
    let host = Identity().peerId

    init(storage: any StorageProvider = InMemoryStorage()) async throws {
      scene = try await DirectoryFixture(storage: storage)
      let document = try DirectoryFixture.document(1)
      scene.grants.join(document, Joined(access: .write, host: host))
      scene.grants.admit(.write, on: document, to: host)
    }

    func hears(of document: UInt8, movedTo successor: UInt8, from other: PeerId? = nil) throws {
      let heads = try #require(ChangeHash(bytes: [UInt8](repeating: document, count: 32)))
      var fields = DocumentMove(
        document: try DirectoryFixture.document(document), successor: try DirectoryFixture.document(successor),
        heads: [heads], removed: [Identity().peerId], host: nil, isFollowed: false
      ).fields
      fields["access"] = .text("write")
      scene.mover.receive(fields, from: other ?? host)
    }

    func isHost(of document: UInt8) throws -> Bool {
      scene.grants.host(of: try DirectoryFixture.document(document)) == host
    }
  }

  @Test func aSecondMoveThatComesWhileTheFirstIsCheckedIsFollowedToo() async throws {
    try await TestLoop.run { loop in
      let guest = try await Guest()
      for document: UInt8 in 1...3 { try guest.hears(of: document, movedTo: document + 1) }
      try await eventually("all three are followed", on: loop) { (try? guest.isHost(of: 4)) == true }
      #expect(guest.scene.mover.history.moves.count == 3)
    }
  }

  @Test func ofTwoMovesOfOneDocumentTheLaterOneCounts() async throws {
    try await TestLoop.run { loop in
      let guest = try await Guest()
      try guest.hears(of: 1, movedTo: 2)
      try guest.hears(of: 1, movedTo: 3)
      let (old, last) = (try DirectoryFixture.document(1), try DirectoryFixture.document(3))
      try await eventually("the later one", on: loop) { guest.scene.grants.host(of: last) == guest.host }
      #expect(guest.scene.mover.history.moves[old]?.successor == last)
    }
  }

  /// Each successor moves on as soon as it is here; another host's moves are taken meanwhile.
  @Test func ofTheMovesOfOneHostSoManyAreTakenInAnHourAndTheNextOneLater() async throws {
    try await TestLoop.run { loop in
      let guest = try await Guest()
      let last = UInt8(MoveLimit.maximumPerHour)
      for document in 1...last {
        try guest.hears(of: document, movedTo: document + 1)
        try await eventually("a move", on: loop) { (try? guest.isHost(of: document + 1)) == true }
      }
      try guest.hears(of: last + 1, movedTo: last + 2)
      try guest.hears(of: last + 2, movedTo: last + 3)
      let (other, mine) = (Identity().peerId, try DirectoryFixture.document(200))
      guest.scene.grants.join(mine, Joined(access: .write, host: other))
      try guest.hears(of: 200, movedTo: 201, from: other)
      let next = try DirectoryFixture.document(201)
      try await eventually("another host's move", on: loop) { guest.scene.grants.host(of: next) == other }
      #expect(try !guest.isHost(of: last + 2) && !guest.isHost(of: last + 3))
      guest.scene.network.manualClock.advance(by: .seconds(60 * 60))
      try await eventually("the next two", on: loop) { (try? guest.isHost(of: last + 3)) == true }
    }
  }

  /// One host says where a document goes on that is another one's successor.
  @Test func aMoveThatAnotherHostMakesMeanwhileIsNotTaken() async throws {
    try await TestLoop.run { loop in
      let guest = try await Guest()
      try guest.hears(of: 1, movedTo: 2)
      let stranger = Identity().peerId
      let fields = DocumentMove(
        document: try DirectoryFixture.document(2), successor: try DirectoryFixture.document(3),
        heads: [try #require(ChangeHash(bytes: [UInt8](repeating: 7, count: 32)))], removed: [], host: nil,
        isFollowed: false
      ).fields.merging(["access": .text("write")]) { $1 }
      guest.scene.mover.receive(fields, from: stranger)
      try await eventually("the host's move", on: loop) { guest.scene.mover.history.moves.count == 1 }
      #expect(guest.scene.grants.host(of: try DirectoryFixture.document(3)) == nil)
    }
  }

  /// The last of what a move writes finds the disk full. The person tries again, in another document.
  @Test func noGuestHearsOfAMoveThatWasNotStored() async throws {
    try await TestLoop.run { _ in
      let disk = FaultyStorage(InMemoryStorage())
      let scene = try await DirectoryFixture(storage: disk)
      let (ben, eve) = (Identity().peerId, Identity().peerId)
      let (old, first, second) = (
        try DirectoryFixture.document(1), try DirectoryFixture.document(2), try DirectoryFixture.document(3)
      )
      for peer in [ben, eve] {
        scene.grants.admit(.write, on: old, to: peer)
        scene.network.peers[peer] = PeerMetadata(name: "Guest")
      }
      let heads: Set = [try #require(ChangeHash(bytes: [UInt8](repeating: 1, count: 32)))]
      disk.failSaves(1, of: KnownPeer.ticketsKey[0])
      await #expect(throws: StorageError.full) {
        try await scene.mover.move(old, to: first, heads: heads, without: [eve])
      }
      for peer in [ben, eve] { scene.mover.tellOfMoves(to: peer) }
      #expect(scene.network.sent.isEmpty && scene.mover.history.moves.isEmpty)
      #expect(scene.grants.guests(on: old) == [ben: .write, eve: .write] && scene.grants.guests(on: first).isEmpty)

      try await scene.mover.move(old, to: second, heads: heads, without: [eve])
      let told = scene.network.sent.filter { $0.type == DocumentMove.type }
      #expect(told.map(\.peer) == [ben] && told.first?.fields["successor"]?.text == second.description)
      #expect(scene.grants.guests(on: second) == [ben: .write] && scene.grants.guests(on: old).isEmpty)
    }
  }

  @Test func aGuestFollowsAgainIfThatWasNotStored() async throws {
    try await TestLoop.run { loop in
      let disk = FaultyStorage(InMemoryStorage())
      let guest = try await Guest(storage: disk)
      let (scene, ben) = (guest.scene, Identity().peerId)
      let (old, new) = (try DirectoryFixture.document(1), try DirectoryFixture.document(2))
      scene.grants.admit(.read, on: old, to: ben)
      scene.network.peers[ben] = PeerMetadata(name: "Ben")
      try guest.hears(of: 1, movedTo: 2)
      try await eventually("the move", on: loop) { scene.grants.host(of: new) == guest.host }
      await scene.admissions.finishStoring(new)
      disk.failSaves(1, of: KnownPeer.ticketsKey[0])
      await #expect(throws: StorageError.full) { try await scene.mover.followed(old) }
      #expect(scene.mover.history.toFollow.count == 1 && scene.grants.host(of: old) == guest.host)
      #expect(scene.network.sent.isEmpty)
      try await scene.mover.followed(old)
      #expect(scene.mover.history.toFollow.isEmpty && scene.grants.host(of: old) == nil)
      #expect(scene.grants.guests(on: new)[ben] == .read && scene.network.sent.contains { $0.peer == ben })
      let later = try await Grants.load(from: disk)
      #expect(later.guests(on: new)[ben] == .read && later.peers(on: old).isEmpty && later.host(of: old) == nil)
    }
  }

  @Test func aGuestThatIsBlockedWhileAMoveIsStoredDoesNotGetTheSuccessor() async throws {
    try await TestLoop.run { loop in
      let disk = FaultyStorage(InMemoryStorage())
      let scene = try await DirectoryFixture(storage: disk)
      let (ben, eve) = (Identity().peerId, Identity().peerId)
      let (old, new) = (try DirectoryFixture.document(1), try DirectoryFixture.document(2))
      for peer in [ben, eve] { scene.grants.admit(.write, on: old, to: peer) }
      let heads: Set = [try #require(ChangeHash(bytes: [UInt8](repeating: 1, count: 32)))]
      disk.holdSaves(of: DocumentMove.key)
      let removal = Task { @AutomergeRepo in try await scene.mover.move(old, to: new, heads: heads, without: [eve]) }
      try await eventually("the store is asked", on: loop) { disk.heldSaveCount > 0 }
      try await scene.trust.decide(.blocked, about: ben, name: nil)
      disk.holdSaves(of: nil)
      try await removal.value
      #expect(scene.grants.guests(on: new).isEmpty && scene.mover.history.moves[old]?.guests.isEmpty == true)
      #expect(try await Grants.load(from: disk).guests(on: new).isEmpty)
    }
  }
}
