import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// What a guest makes of several moves that come at once; without a socket.
@Suite struct DocumentMoverTests {
  /// A guest that has document 1 from a host.
  @AutomergeRepo
  private struct Guest {
    let scene: DirectoryFixture
    let host = Identity().peerId

    init() async throws {
      scene = try await DirectoryFixture()
      let document = try DirectoryFixture.document(1)
      scene.grants.join(document, Joined(access: .write, host: host))
      scene.grants.admit(.write, on: document, to: host)
    }

    func hears(of document: UInt8, movedTo successor: UInt8) throws {
      let heads = try #require(ChangeHash(bytes: [UInt8](repeating: document, count: 32)))
      var fields = DocumentMove(
        document: try DirectoryFixture.document(document), successor: try DirectoryFixture.document(successor),
        heads: [heads], removed: [Identity().peerId], host: nil, isFollowed: false
      ).fields
      fields["access"] = .text("write")
      scene.mover.receive(fields, from: host)
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
}
