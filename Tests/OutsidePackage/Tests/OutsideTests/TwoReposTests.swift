import Automerge
import AutomergeRepo
import Foundation
import Testing

/// Two repos of one process, over a network of our own.
struct TwoReposTests {
  @Test @AutomergeRepo func theyFindAndSyncAndTalk() async throws {
    let (ana, ben) = (
      Repo(peerId: "ana", sharePolicy: SharePolicy.agreeable), Repo(peerId: "ben", sharePolicy: SharePolicy.agreeable)
    )
    let wire = Wire()
    wire.join(ana, ben)
    for await peers in ben.peerUpdates() where peers.map(\.id) == ["ana"] { break }
    let hers = try ana.create()
    try hers.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    let his = try await ben.find(id: hers.id, within: .patient)
    #expect(try his.doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(1)))

    let messages = hers.ephemeralMessages()
    let states = his.statusUpdates()
    for await state in states where state.isInSync(with: "ana") { break }
    his.broadcast(Data([1, 2, 3]))
    for await message in messages {
      #expect(message.senderId == "ben" && message.data == Data([1, 2, 3]))
      break
    }
    wire.cut()
    for await peers in ben.peerUpdates() where peers.isEmpty { break }
  }

  @Test @AutomergeRepo func aSearchTellsHowItGoes() async throws {
    let (ana, ben) = (
      Repo(peerId: "ana", sharePolicy: SharePolicy.agreeable), Repo(peerId: "ben", sharePolicy: SharePolicy.agreeable)
    )
    let wire = Wire()
    wire.join(ana, ben)
    let id = DocumentId()
    var asked = false, lacked = false
    for await progress in ben.findWithProgress(id, within: .patient) {
      if progress.sources[.peer("ana")] == .asked { asked = progress.isAsking }
      if progress.sources[.peer("ana")] == .lacks { lacked = true }
      if case .unavailable? = progress.outcome { break }
    }
    #expect(asked || lacked)
    await #expect(throws: RepoError.unavailable(id)) { try await ben.find(id: id, within: .patient) }
    withExtendedLifetime(wire) {}
  }

  @Test @AutomergeRepo func aPolicySeesWhatAPeerHasProved() async throws {
    let policy = SharePolicy(
      announce: { _, peer in peer.proof == .token("wire") },
      access: { _, peer in peer.proof == .token("wire") ? .read : .none })
    let (ana, ben) = (Repo(peerId: "ana", sharePolicy: policy), Repo(peerId: "ben", sharePolicy: SharePolicy.agreeable))
    let wire = Wire()
    wire.join(ana, ben)
    #expect(ana.connectedPeers == [ConnectedPeer(id: "ben", proof: .token("wire"))])
    let hers = try ana.create()
    try hers.change { try $0.put(obj: .ROOT, key: "x", value: .Int(1)) }
    let his = try await ben.find(id: hers.id, within: .patient)
    // Read access: what Ben changes is refused, and his copy knows.
    try his.change { try $0.put(obj: .ROOT, key: "x", value: .Int(2)) }
    for await state in his.statusUpdates() where state.refusedBy == ["ana"] { break }
    #expect(try hers.doc.get(obj: .ROOT, key: "x") == .Scalar(.Int(1)))
    withExtendedLifetime(wire) {}
  }
}
