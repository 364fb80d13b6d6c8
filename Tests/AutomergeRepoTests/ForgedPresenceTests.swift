import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Which peer may send presence in whose name to the people on a document.
struct ForgedPresenceTests {
  /// Everybody may write, and some only read.
  private final class Readers: ShareAuthorizing {
    let readers: Set<PeerId>
    init(readers: Set<PeerId>) { self.readers = readers }
    func announce(_ document: DocumentId, to peer: PeerId) -> Bool { true }
    func access(_ document: DocumentId, for peer: PeerId) -> Access { readers.contains(peer) ? .read : .write }
  }

  @AutomergeRepo
  private final class Company {
    let world: RepoWorld
    let note: DocHandle
    private(set) var heard: [String: [(author: String, data: Data)]] = [:]

    /// A note of `names[0]`, open at all of them, over these links.
    init(_ names: [String], links: [(String, String)], readers: [String] = []) async throws {
      world = RepoWorld(random: RandomSource(SeededGenerator(seed: 11)))
      for name in names { world.start(name, policy: Readers(readers: Set(readers.map { PeerId($0) }))) }
      note = try #require(world.repos[names[0]]).create(try .note("x"))
      for (one, other) in links { world.connect(one, other) }
      let (world, note) = (world, note)
      try await world.clock.run(until: "all have it", horizon: .seconds(20)) {
        names.allSatisfy { world.repos[$0]?.handle(of: note.id)?.document.heads() == note.document.heads() }
      }
      world.clock.advance(by: .seconds(3))
      for name in names {
        world.repos[name]?.handle(of: note.id)?.observe { [weak self] event in
          guard case .ephemeral(let message, _) = event else { return }
          self?.heard[name, default: []].append((message.senderId.description, message.data))
        }
      }
    }

    func says(_ name: String, _ word: UInt8) {
      world.repos[name]?.handle(of: note.id)?.broadcast(Data([word]))
      world.clock.advance(by: .seconds(1))
    }

    func session(of name: String) -> String { world.repos[name]?.connections.ephemeral.sessionId ?? "" }

    /// A forger sends a message to a victim in the name of another peer.
    func forges(_ forger: String, as author: String, to victim: String, count: UInt64, _ word: UInt8) {
      let session = session(of: String(author.prefix { $0 != "/" }))
      let message = RepoMessage.EphemeralMessage(
        senderId: PeerId(author), targetId: PeerId(victim), documentId: note.id, count: count, sessionId: session,
        data: Data([word]))
      world.repos[forger]?.connections.send(.ephemeral(message), to: PeerId(victim))
      world.clock.advance(by: .seconds(1))
    }

    func words(at name: String, of author: String) -> [UInt8] {
      (heard[name] ?? []).filter { $0.author == author }.flatMap { Array($0.data) }
    }
  }

  @Test(arguments: [false, true]) @AutomergeRepo
  func aLinkedPeerSpeaksForItselfAlone(mayWrite: Bool) async throws {
    let company = try await Company(
      ["ana", "ben", "mal"], links: [("ana", "ben"), ("ana", "mal")], readers: mayWrite ? [] : ["mal"])
    company.says("ben", 1)
    company.forges("mal", as: "ben", to: "ana", count: 2, 66)
    company.forges("mal", as: "ben/process", to: "ana", count: 1, 66)
    company.forges("mal", as: "ben", to: "ana", count: .max, 66)
    company.forges("mal", as: "ana", to: "ana", count: .max, 66)
    company.forges("mal", as: "ana/process", to: "ana", count: .max, 66)
    company.says("ben", 2)
    company.says("mal", 3)
    #expect(company.words(at: "ana", of: "ben") == [1, 2])
    #expect(company.words(at: "ana", of: "mal") == [3], "for itself it may speak")
    #expect(company.words(at: "mal", of: "ben") == [1, 2], "the host passes it on")
    #expect(company.heard.values.joined().allSatisfy { $0.data != Data([66]) })
  }

  @Test @AutomergeRepo func aPeerThatMayOnlyReadSpeaksForItselfAlone() async throws {
    let company = try await Company(["ana", "mal"], links: [("ana", "mal")], readers: ["mal"])
    company.forges("mal", as: "another", to: "ana", count: 1, 66)
    company.says("mal", 3)
    #expect(company.words(at: "ana", of: "another") == [])
    #expect(company.words(at: "ana", of: "mal") == [3])
  }

  @Test @AutomergeRepo func whatAHonestRelayBringsIsHeard() async throws {
    let company = try await Company(["ana", "ben", "eva"], links: [("ana", "ben"), ("ben", "eva")])
    for word in UInt8(1)...3 { company.says("ana", word) }
    #expect(company.words(at: "eva", of: "ana") == [1, 2, 3])
    // Both ways at once, and then without the relay.
    company.world.connect("ana", "eva")
    company.world.clock.advance(by: .seconds(3))
    company.says("ana", 4)
    #expect(company.words(at: "eva", of: "ana") == [1, 2, 3, 4])
    company.world.disconnect("ana", "eva")
    company.world.clock.advance(by: .seconds(3))
    company.says("ana", 5)
    #expect(company.words(at: "eva", of: "ana") == [1, 2, 3, 4, 5])
  }

  @Test @AutomergeRepo func aForgedCountSilencesNoPeerBehindARelay() async throws {
    // Ana hears of Eva through Ben, and a forger who may write is linked to Ana as well.
    let company = try await Company(
      ["ana", "ben", "eva", "mal"], links: [("ana", "ben"), ("ben", "eva"), ("ana", "mal")])
    company.says("eva", 1)
    company.forges("mal", as: "eva", to: "ana", count: .max, 66)
    company.forges("mal", as: "eva", to: "ana", count: 1000, 66)
    for word in UInt8(2)...4 { company.says("eva", word) }
    #expect(company.words(at: "ana", of: "eva").filter { $0 != 66 } == [1, 2, 3, 4])
    // The link of the forger brings no more than its share, and what it brings does not grow.
    for count in UInt64(1)...3000 {
      let message = RepoMessage.EphemeralMessage(
        senderId: PeerId("mal"), targetId: PeerId("ana"), documentId: company.note.id, count: count, sessionId: "s",
        data: Data([7]))
      company.world.repos["mal"]?.connections.send(.ephemeral(message), to: PeerId("ana"))
    }
    company.world.clock.advance(by: .milliseconds(100))
    #expect(company.words(at: "ana", of: "mal").count <= EphemeralGate.maximumAtOnce + EphemeralGate.maximumPerSecond)
    company.says("eva", 5)
    #expect(company.words(at: "ana", of: "eva").last == 5)
  }
}
