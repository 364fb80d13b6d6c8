import Automerge
import Foundation
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo
@testable import NotesServer

/// The robot of the tutorial has no key, so a peer might pose as it: its caret could have any name, and its words no
/// mark.
@AutomergeRepo struct BorrowedRobotTests {
  @Test func aPeersCaretIsNotTheRobots() async throws {
    let note = try await WatchedNote(seed: 41)
    let (world, id, service) = (note.world, note.id, note.service)
    world.start("mallory")
    world.connect("ben", "mallory")
    service.open(note.uri, "tea\n")
    try await service.wait(for: "the note") { service.binding(note.uri) != nil }
    let theirs = try #require(try await world.handle(id, at: "mallory"))
    try await service.wait(for: "the peer") { note.handle.peers.contains(PeerId("mallory")) }
    func payload(_ name: String) -> Data {
      Data(PresencePayload.update(PresenceState(name: name, color: nil, ranges: [])).cbor.encoded())
    }
    for (number, robot) in ["robot", "robot/1"].enumerated() {
      let message = RepoMessage.EphemeralMessage(
        senderId: PeerId(robot), targetId: PeerId("ben"), documentId: id, count: UInt64(number + 1), sessionId: robot,
        data: payload("Ana"))
      world.repos["mallory"]?.connections.send(.ephemeral(message), to: PeerId("ben"))
    }
    theirs.broadcast(payload("Mallory"))
    try await service.wait(for: "the peer's own caret") { !service.service.presenceTracker.people(in: id).isEmpty }
    try await service.pass(.seconds(2))
    #expect(service.service.presenceTracker.people(in: id).map(\.name) == ["Mallory"])
  }

  @Test(arguments: [true, false]) func wordsInTheRobotsNameAreMarkedWhereOthersWrite(isShared: Bool) async throws {
    let note = try await WatchedNote(seed: 42)
    if isShared {
      note.service.sharing.readers[note.id] = [
        PersonSummary(peer: PeerId("mallory"), name: "Mallory", access: .write, isConnected: true)
      ]
    }
    let forged = note.handle.document.fork()
    forged.actor = try #require(ActorId(data: Data("robotRobin".utf8) + Data(repeating: 0, count: 6)))
    try NoteDocument.enter(person: Tutor.person, name: Tutorial.robot, in: forged)
    let text = try #require(NoteDocument(forged)).content
    try forged.spliceText(obj: text, utf8Offset: 4, deleteUTF8: 0, insert: Array("nonsense\n".utf8))
    try note.handle.merge(forged)
    let history = try await note.service.request("notes/history", ["id": .string(note.id.description)])
    let authors = Set(history["changes"]?.arrayValue?.compactMap { $0["author"]?.stringValue } ?? [])
    #expect(authors.contains("Robin") == !isShared)
    #expect(authors.contains("Robin (claimed, unverified)") == isShared, "\(authors)")
  }
}
