import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Ana, Bob and Carol, who sign what they write; and Bob, who writes in Carol's name while she is away.
struct SignedChangesTests {
  @AutomergeRepo
  private final class Company {
    let world: RepoWorld
    let id: DocumentId
    private var signers: [String: ChangeSigner] = [:]
    private(set) var messages: [(type: String, from: PeerId, to: PeerId)] = []

    init(_ names: [String] = ["ana", "bob", "carol"], seed: UInt64) async throws {
      world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
      for (place, name) in names.enumerated() {
        signers[name] = ChangeSigner(seed: [UInt8](repeating: UInt8(place + 1), count: 32))
        world.start(name).signer = signers[name]
      }
      let first = try #require(world.repos[names[0]]).create(try .note("start"))
      id = first.id
      world.network.onDelivery = { [weak self] message, from, to in
        if case .other("signed", _) = message { self?.messages.append(("signed", from, to)) }
      }
      world.connectAll()
      try await world.clock.run(until: "everybody has it") { [world, id] in
        names.allSatisfy { world.repos[$0]?.handle(of: id) != nil }
      }
      for name in names { try appear(name) }
      world.clock.advance(by: .seconds(2))
    }

    func handle(_ name: String) throws -> DocHandle { try #require(world.repos[name]?.handle(of: id)) }

    /// As a program does whenever it opens a document.
    func appear(_ name: String) throws {
      let handle = try handle(name)
      handle.document.actor = try #require(signers[name]).newActor()
      handle.receive(.asked)
    }

    func restart(_ name: String) async throws {
      world.crash(name)
      world.start(name).signer = signers[name]
      _ = try await world.handle(id, at: name)
      try appear(name)
    }

    func actor(_ name: String) throws -> ActorId { try handle(name).document.actor }

    /// The last change of an actor, as one of the company sees it.
    func isVerified(_ actor: ActorId, at name: String, number: Int? = nil) throws -> Bool {
      let handle = try handle(name)
      let number = number ?? handle.document.changeCount(by: actor)
      return number > 0 && handle.vouching().covers(actor, number...number)
    }

    func forge(_ text: String, by forger: String, as actor: ActorId) throws {
      let document = try handle(forger).document
      let own = document.actor
      document.actor = actor
      try handle(forger).splice(0, text)
      document.actor = own
    }

    /// What is checked, is checked outside of simulated time.
    func becomesVerified(_ actor: ActorId, at names: String..., number: Int? = nil) async throws {
      for name in names {
        try await world.clock.run(until: "\(name) has the signature", horizon: .seconds(60)) {
          (try? self.isVerified(actor, at: name, number: number)) ?? false
        }
      }
    }

    func flush() async throws { for name in world.repos.keys { try await world.flush(name) } }
  }

  @Test @AutomergeRepo func whatIsForgedWhileTheAuthorIsAwayIsUnverifiedAtEverybody() async throws {
    let company = try await Company(seed: 41)
    let carol = try company.actor("carol")
    try company.handle("carol").splice(0, "c1 ")
    company.world.clock.advance(by: .seconds(3))
    company.world.network.disconnectAll(of: PeerId("carol"))
    // Her signature counts without her; what Bob makes up has none.
    try await company.becomesVerified(carol, at: "ana", "bob", "carol")
    try company.forge("FORGED ", by: "bob", as: carol)
    try company.handle("bob").splice(0, "b1 ")
    company.world.clock.advance(by: .seconds(5))
    #expect(try company.handle("ana").document.content() == "b1 FORGED c1 start")
    for name in ["ana", "bob"] {
      try await company.becomesVerified(try company.actor("bob"), at: name)
      #expect(try !company.isVerified(carol, at: name), "\(name)")
      #expect(try company.isVerified(carol, at: name, number: 1), "\(name)")
      #expect(try company.isVerified(try company.actor("bob"), at: name), "\(name)")
    }
    // That she is there again makes it no truer.
    company.world.connectAll()
    try company.handle("carol").splice(0, "c2 ")
    company.world.clock.advance(by: .seconds(40))
    #expect(try !company.isVerified(carol, at: "ana"))
    #expect(try company.isVerified(carol, at: "carol"))
    // A newcomer, who has never met her, sees the same; and so does Ana after a restart.
    company.world.network.disconnectAll(of: PeerId("carol"))
    try await company.flush()
    let bob = try company.actor("bob")
    try await company.restart("ana")
    company.world.start("dora")
    company.world.connect("dora", "ana")
    try await company.world.clock.run(until: "dora has it") {
      company.world.repos["dora"]?.handle(of: company.id) != nil
    }
    company.world.clock.advance(by: .seconds(3))
    for name in ["ana", "dora"] {
      try await company.becomesVerified(bob, at: name)
      #expect(try company.handle(name).document.content()?.contains("FORGED") == true)
      #expect(try company.isVerified(carol, at: name, number: 1), "\(name)")
      #expect(try !company.isVerified(carol, at: name), "\(name)")
      #expect(try company.isVerified(bob, at: name), "\(name)")
    }
  }

  @Test @AutomergeRepo func aBurstCostsOneSignature() async throws {
    let company = try await Company(["ana", "bob"], seed: 42)
    for _ in 0..<200 {
      try company.handle("ana").splice(0, "x")
      company.world.clock.advance(by: .milliseconds(4))
    }
    let sentWhileTyping = company.messages.count
    company.world.clock.advance(by: .seconds(5))
    let ana = try company.actor("ana")
    #expect(sentWhileTyping == 0)
    #expect(company.messages.filter { $0.from == PeerId("ana") }.count == 1)
    company.world.network.disconnectAll(of: PeerId("ana"))
    try await company.becomesVerified(ana, at: "bob")
    #expect(try company.isVerified(ana, at: "bob", number: 1))
  }

  @Test @AutomergeRepo func whatAnAuthorWroteAMomentAgoHasItsWordWhileItIsLinked() async throws {
    let company = try await Company(seed: 43)
    let carol = try company.actor("carol")
    try company.handle("carol").splice(0, "c1 ")
    company.world.clock.advance(by: .milliseconds(300))
    #expect(company.messages.isEmpty)
    #expect(try company.isVerified(carol, at: "ana"))
    #expect(try company.isVerified(carol, at: "carol"))
    // She is gone before she could sign it.
    company.world.network.disconnectAll(of: PeerId("carol"))
    #expect(try !company.isVerified(carol, at: "ana"))
    company.world.clock.advance(by: .seconds(3))
    company.world.connectAll()
    company.world.clock.advance(by: .seconds(1))
    company.world.network.disconnectAll(of: PeerId("carol"))
    try await company.becomesVerified(carol, at: "ana")
  }

  @Test @AutomergeRepo func aRepoThatEndsInOrderHasSignedEverything() async throws {
    let company = try await Company(seed: 44)
    let carol = try company.actor("carol")
    try company.handle("carol").splice(0, "last words ")
    try await company.world.flush("carol")
    company.world.clock.advance(by: .milliseconds(100))
    company.world.network.disconnectAll(of: PeerId("carol"))
    try await company.becomesVerified(carol, at: "ana", "bob")
  }

  @Test @AutomergeRepo func signaturesThatWereLostComeWhenBooksAreCompared() async throws {
    let company = try await Company(seed: 45)
    company.world.network.isLost = { message, _, _ in if case .other("signed", _) = message { true } else { false } }
    try company.handle("carol").splice(0, "c1 ")
    company.world.clock.advance(by: .seconds(5))
    company.world.network.isLost = { _, _, _ in false }
    let carol = try company.actor("carol")
    company.world.network.disconnectAll(of: PeerId("carol"))
    #expect(try !company.isVerified(carol, at: "ana"))
    company.world.connect("carol", "bob")
    try await company.world.clock.run(until: "ana has the signature from bob", horizon: .seconds(60)) {
      company.world.repos["ana"]?.checkForStalls()
      company.world.repos["bob"]?.checkForStalls()
      return (try? company.isVerified(carol, at: "ana")) ?? false
    }
    // Books that are equal have nothing to say to each other.
    let before = company.messages.count
    for _ in 0..<10 {
      for repo in company.world.repos.values { repo.checkForStalls() }
      company.world.clock.advance(by: .seconds(30))
    }
    #expect(company.messages.count - before < 8)
  }

  @Test @AutomergeRepo func hostileSignaturesProveAndStoreNothing() async throws {
    let company = try await Company(seed: 46)
    let carol = try company.actor("carol")
    try company.handle("carol").splice(0, "c1 ")
    company.world.clock.advance(by: .seconds(3))
    company.world.network.disconnectAll(of: PeerId("carol"))
    try await company.becomesVerified(carol, at: "ana")
    try await company.world.flush("ana")
    try company.forge("FORGED ", by: "bob", as: carol)
    company.world.clock.advance(by: .seconds(3))
    let (ana, bob) = (try company.handle("ana"), try #require(company.world.repos["bob"]))
    let forged = try #require(ana.document.lastChange(by: carol))
    let mallory = try #require(ChangeSigner(seed: [UInt8](repeating: 9, count: 32)))
    let other = try #require(mallory.sign(mallory.newActor(), 2, forged)).encoded
    // Bob's key for Carol's actor, her signature for another change, and what is none at all.
    let hers = try #require(
      (try await company.world.stores["ana"]?.loadRange([company.id.description, "signed", carol.hexadecimal]))?.first
    ).data
    let wrongKey = other.prefix(136) + carol.data
    let moved = hers.prefix(96) + Data(forged.bytes) + Data([0, 0, 0, 0, 0, 0, 0, 2]) + carol.data
    let lists: [CBOR] = [
      .array([.bytes(wrongKey), .bytes(moved), .bytes(other), .bytes(Data()), .text("x"), .integer(3)]),
      .array((0..<4000).map { _ in .bytes(moved) }), .integer(1), .array([]), .map([]),
    ]
    for list in lists {
      bob.send(
        type: "signed", fields: ["documentId": .text(company.id.description), "signatures": list], to: PeerId("ana"))
    }
    for digest: CBOR in [.bytes(Data()), .bytes(Data(count: 32)), .bytes(Data(count: 33)), .text("x")] {
      bob.send(
        type: "signed", fields: ["documentId": .text(company.id.description), "digest": digest], to: PeerId("ana"))
    }
    for _ in 0..<50 { company.world.clock.advance(by: .milliseconds(100)) }
    try await company.world.flush("ana")
    #expect(try !company.isVerified(carol, at: "ana"))
    #expect(try company.isVerified(carol, at: "ana", number: 1))
    let rows = try await #require(company.world.stores["ana"]).loadRange([company.id.description, "signed"])
    #expect(!rows.isEmpty && rows.allSatisfy { ChangeSignature(encoded: $0.data)?.isValid == true }, "\(rows.count)")
    #expect(!rows.contains { $0.data == other })
    // Honest ones are heard all the same.
    try company.handle("bob").splice(0, "b1 ")
    company.world.clock.advance(by: .seconds(3))
    company.world.network.disconnectAll(of: PeerId("bob"))
    try await company.becomesVerified(try company.actor("bob"), at: "ana")
  }
}
