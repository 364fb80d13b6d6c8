import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// What the host of one note says of its guests is a hint. It changes nothing of what is known of a friend.
struct RenamedFriendsTests {
  @Test func aHostNeitherRenamesFriendsNorSendsThemElsewhereNorFillsTheStore() async throws {
    try await TestLoop.run { loop in
      let disk = InMemoryStorage()
      let ana = try await Person.start("Ana", on: loop, storage: disk)
      let ben = try await Person.start("Ben", on: loop, storage: InMemoryStorage())
      let host = try await Person.start("Host", on: loop, storage: InMemoryStorage())
      let bens = try ben.repo.create(try .note("Ben's"))
      _ = try await ana.find(try await ana.directory.join(try #require(try await ben.directory.share(bens.id))))
      let hosts = try host.repo.create(try .note("Host's"))
      _ = try await ana.find(try await ana.directory.join(try #require(try await host.directory.share(hosts.id))))
      let bensAddress = try #require(ben.directory.listening)
      #expect(ana.directory.name(of: ben.peerId) == "Ben")

      let elsewhere = (1...8).compactMap { PeerAddress("10.9.9.\($0):7000") }
      let slander = GuestList(
        document: hosts.id,
        guests: [.init(peer: ben.peerId, access: .write, name: "A thief", addresses: elsewhere)])
      ana.directory.guests.receive(slander, from: host.peerId)
      #expect(ana.directory.name(of: ben.peerId) == "Ben")
      #expect(ana.directory.registry.addresses(of: ben.peerId).first == bensAddress)
      #expect(ana.directory.registry.known[ben.peerId]?.addresses.contains { elsewhere.contains($0) } == false)

      // Again and again with other people: they leave no trace but that of the last list.
      var last = GuestList(document: hosts.id, guests: [])
      for round in 0..<20 {
        last = GuestList(
          document: hosts.id,
          guests: (0..<128).map { number in
            let fingerprint = [UInt8(round), UInt8(number)] + [UInt8](repeating: 7, count: 30)
            return .init(
              peer: Identity.peerId(of: fingerprint), access: .write, name: "Guest \(number)",
              addresses: elsewhere)
          })
        ana.directory.guests.receive(last, from: host.peerId)
      }
      try await ana.repo.flush()
      #expect(ana.directory.registry.known.count <= 3)
      #expect(try await disk.records(under: KnownPeer.prefix).count <= 3)
      #expect(ana.directory.peers.count <= 131)

      // The control: of a stranger, the host's word is what there is.
      let guest = last.guests[0].peer
      #expect(ana.directory.name(of: guest) == "Guest 0")
      #expect(ana.directory.registry.addresses(of: guest) == elsewhere)
      for person in [ana, ben, host] { try await person.stop() }
    }
  }
}
