import AutomergeRepo
import Foundation
import RepoTestSupport
import Testing
import UV

@testable import PeerNetwork
@testable import PeerTransport

/// A stranger gets no line on the screen by connecting, by being heard, or by what it calls itself.
@Suite struct StrangersNamesTests {
  private static let speech = String(repeating: "Pay Eve 100 now! ", count: 5)

  @AutomergeRepo
  private func raw(to person: Person, called name: String, on loop: Loop) async throws -> RawPeer {
    let raw = try await RawPeer.connect(to: try #require(person.directory.listening), on: loop)
    try raw.join(called: name)
    try await eventually("connected", on: loop) { person.repo.peers[raw.peerId] != nil }
    return raw
  }

  /// Everything that is told to the person, as text.
  @AutomergeRepo
  private func told(_ person: Person) -> [String] { person.events.filter { $0 != .networkState }.map { "\($0)" } }

  @Test func connectingUnderALongNameSaysNothing() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let before = self.told(ana).count
      for round in 0..<5 {
        let eve = try await self.raw(to: ana, called: "\(round) \(Self.speech)", on: loop)
        try eve.send(.other(type: "name", fields: ["name": .text(Self.speech)]))
        try eve.send(.other(type: "ping", fields: [:]))
        try await eventually("heard", on: loop) { eve.messages.contains(.other(type: "pong", fields: [:])) }
        #expect(ana.directory.name(of: eve.peerId).count <= 24)
        eve.stream.close()
        try await eventually("gone", on: loop) { ana.repo.peers[eve.peerId] == nil }
      }
      #expect(self.told(ana)[before...].allSatisfy { !$0.contains("Pay Eve") })
      try await ana.stop()
    }
  }

  @Test func aFriendIsToldOfAndComesAndGoesOnlySoOften() async throws {
    try await TestLoop.run { loop in
      let ana = try await Person.start("Ana", on: loop, storage: InMemoryStorage())
      let identity = Identity()
      try await ana.directory.setTrust(.trusted, of: identity.peerId, name: "Ben")
      for _ in 0..<30 {
        let ben = try await RawPeer.connect(to: try #require(ana.directory.listening), on: loop, as: identity)
        try ben.join(called: "Ben")
        try await eventually("connected", on: loop) { ana.repo.peers[identity.peerId] != nil }
        ben.stream.close()
        try await eventually("gone", on: loop) { ana.repo.peers[identity.peerId] == nil }
      }
      let connections = ana.events.count { if case .online = $0 { true } else { false } }
      #expect((1...10).contains(connections))
      try await ana.stop()
    }
  }
}
