import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Ana, Bob and Carol on one note, all linked; Bob writes in Carol's name. Also everything honest that looks like it.
struct BorrowedNameTests {
  @AutomergeRepo
  private final class Company {
    let world: RepoWorld
    let names: [String]
    private(set) var handles: [String: DocHandle] = [:]

    init(_ names: [String] = ["ana", "bob", "carol"], seed: UInt64) async throws {
      world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
      self.names = names
      for name in names { world.start(name) }
      let first = try #require(world.repos[names[0]]).create(try .note("start"))
      world.connectAll()
      try await world.clock.run(until: "everybody has it") { [world] in
        names.allSatisfy { world.repos[$0]?.handle(of: first.id) != nil }
      }
      for name in names { handles[name] = try #require(world.repos[name]?.handle(of: first.id)) }
      world.clock.advance(by: .seconds(2))
    }

    func handle(_ name: String) throws -> DocHandle { try #require(handles[name]) }
    func text(_ name: String) throws -> String? { try handle(name).document.content() }

    /// `forger` writes as another author, who does not know of it.
    func forge(_ text: String, by forger: String, as actor: ActorId) throws {
      let document = try handle(forger).document
      document.actor = actor
      try handle(forger).splice(0, text)
      document.actor = ActorId()
    }

    func forgers() throws -> [String: Set<PeerId>] { handles.mapValues(\.forgers).filter { !$0.value.isEmpty } }
  }

  @Test @AutomergeRepo func changesForgedInTheNameOfALinkedPeerAreNeverTaken() async throws {
    let company = try await Company(seed: 21)
    var events: [DocHandle.Event] = []
    var seen: Set<String> = []
    let ana = try company.handle("ana")
    ana.observe { event in
      if case .forgedChanges = event { events.append(event) }
      if let text = try? ana.document.content() { seen.insert(text) }
    }
    try company.handle("carol").splice(0, "c1 ")
    company.world.clock.advance(by: .seconds(1))
    try company.forge("FORGED ", by: "bob", as: try company.handle("carol").document.actor)
    for round in 0..<100 {
      if round % 10 == 0 { try company.handle("carol").splice(0, "\(round / 10)") }
      company.world.clock.advance(by: .milliseconds(100))
    }
    #expect(try company.text("ana") == "9876543210c1 start")
    #expect(try company.text("carol") == "9876543210c1 start")
    #expect(!seen.contains { $0.contains("FORGED") })
    #expect(ana.forgers == [PeerId("bob")])
    #expect(try company.handle("carol").forgers == [PeerId("bob")])
    #expect(events.count == 1)
    guard case .forgedChanges(PeerId("bob"), author: PeerId("carol"))? = events.first else {
      Issue.record("named: \(events)")
      return
    }
    // They differ permanently, and do not tell each other so without end.
    let before = company.world.network.deliveredCount
    company.world.clock.advance(by: .seconds(60))
    #expect(company.world.network.deliveredCount - before < 10)
    // Dora, who comes now and knows only honest people, gets the honest text.
    company.world.start("dora")
    company.world.connect("dora", "ana")
    try await company.world.clock.run(until: "dora has it") {
      (try? company.world.repos["dora"]?.handle(of: ana.id)?.document.content()) == "9876543210c1 start"
    }
  }

  /// The documented limit: no author is there to ask, and honest relays look the same.
  @Test @AutomergeRepo func whileTheAuthorIsAwayOthersAreBelieved() async throws {
    let company = try await Company(seed: 22)
    try company.handle("carol").splice(0, "c1 ")
    company.world.clock.advance(by: .seconds(1))
    company.world.network.disconnectAll(of: PeerId("carol"))
    try company.forge("as carol ", by: "bob", as: try company.handle("carol").document.actor)
    company.world.clock.advance(by: .seconds(2))
    #expect(try company.text("ana") == "as carol c1 start")
    // She is back and has never written it: she does not take it, and knows who brought it.
    company.world.connectAll()
    try company.handle("carol").splice(0, "c2 ")
    company.world.clock.advance(by: .seconds(5))
    #expect(try company.text("carol") == "c2 c1 start")
    #expect(try company.handle("carol").forgers.contains(PeerId("bob")))
    // Of the two changes with one number, each has the one that came first.
    #expect(try company.text("ana") == "as carol c1 start")
  }

  /// Carol's messages to Ana get lost, which neither has noticed yet: Bob is believed after three seconds.
  @Test @AutomergeRepo func aDeadLinkToTheAuthorHoldsNothingUpForLong() async throws {
    let company = try await Company(seed: 23)
    try company.handle("carol").splice(0, "c1 ")
    company.world.clock.advance(by: .seconds(1))
    company.world.network.isLost = { _, from, to in from == PeerId("carol") && to == PeerId("ana") }
    let start = company.world.clock.now
    try company.handle("carol").splice(0, "c2 ")
    try await company.world.clock.run(until: "ana has it from bob", horizon: .seconds(10)) {
      (try? company.text("ana")) == "c2 c1 start"
    }
    #expect(company.world.clock.now - start < .seconds(4))
    // From now on at once.
    let later = company.world.clock.now
    try company.handle("carol").splice(0, "c3 ")
    try await company.world.clock.run(until: "ana has it from bob") { (try? company.text("ana")) == "c3 c2 c1 start" }
    #expect(company.world.clock.now - later < .milliseconds(200))
    #expect(try company.forgers().isEmpty)
  }

  /// Only what Carol writes gets lost on the way to Ana. She is asked, says that it is hers, and Bob's copy is taken.
  @Test @AutomergeRepo func whatTheAuthorVouchesForIsTakenFromOthers() async throws {
    let company = try await Company(seed: 24)
    company.world.network.isLost = { message, from, to in
      guard case .document(let message) = message, case .sync = message.content else { return false }
      return from == PeerId("carol") && to == PeerId("ana")
    }
    let start = company.world.clock.now
    for word in ["c1 ", "c2 ", "c3 "] { try company.handle("carol").splice(0, word) }
    try await company.world.clock.run(until: "ana has it from bob", horizon: .seconds(10)) {
      (try? company.text("ana")) == "c3 c2 c1 start"
    }
    #expect(company.world.clock.now - start < .seconds(1))
    #expect(try company.forgers().isEmpty)
  }

  /// Random typing in a mesh with links that come and go: no peer is ever reported, and all become equal.
  @Test(arguments: SeedCount.part(of: 1...8)) @AutomergeRepo func honestCompaniesNameNoForger(seed: UInt64) async throws
  {
    var random = SeededGenerator(seed: seed)
    let company = try await Company(["a", "b", "c", "d", "e"], seed: seed)
    for _ in 0..<60 {
      let name = try #require(company.names.randomElement(using: &random))
      let other = try #require(company.names.randomElement(using: &random))
      switch Int.random(in: 0..<8, using: &random) {
      case 0 where name != other: company.world.disconnect(name, other)
      case 1: company.world.connectAll()
      default: try company.handle(name).randomEdit(using: &random)
      }
      company.world.clock.advance(by: .milliseconds(Int.random(in: 0...80, using: &random)))
    }
    company.world.connectAll()
    let start = company.world.clock.now
    try await company.world.clock.run(until: "all equal, seed \(seed)", horizon: .seconds(20)) {
      Set(company.handles.values.map { $0.document.heads() }).count == 1
    }
    #expect(company.world.clock.now - start < .seconds(2), "seed \(seed)")
    #expect(try company.forgers().isEmpty, "seed \(seed)")
  }

  /// Bob brings all of what Carol wrote while Ana was away before Carol does: her heads show that it is hers.
  @Test @AutomergeRepo func catchingUpAsksNoPeer() async throws {
    let company = try await Company(seed: 25)
    company.world.network.disconnectAll(of: PeerId("ana"))
    for number in 0..<500 { try company.handle("carol").splice(0, "\(number % 10)") }
    company.world.clock.advance(by: .seconds(1))
    var questions = 0
    company.world.network.onDelivery = { message, _, _ in
      if case .other("vouch", _) = message { questions += 1 }
    }
    // Carol's link is slow: only her first words arrive.
    var carolsMessages = 0
    company.world.network.isLost = { message, from, to in
      guard case .document(let message) = message, case .sync = message.content, from == PeerId("carol"),
        to == PeerId("ana")
      else { return false }
      carolsMessages += 1
      return carolsMessages > 1
    }
    company.world.connectAll()
    try await company.world.clock.run(until: "ana has caught up", horizon: .seconds(2)) {
      (try? company.text("ana")) == (try? company.text("carol"))
    }
    #expect(questions == 0)
    #expect(try company.text("ana")?.count == 505)
    #expect(try company.forgers().isEmpty)
  }

  @Test @AutomergeRepo func aClaimToWriteAsAnotherPeerIsIgnored() async throws {
    let company = try await Company(seed: 26)
    let actor = try company.handle("carol").document.actor
    let ana = try company.handle("ana")
    company.world.repos["bob"]?.connections.send(.authors([actor], asks: false, on: ana.id), to: PeerId("ana"))
    company.world.clock.advance(by: .seconds(1))
    #expect(ana.sync.authorship.actors(of: PeerId("carol")) == [actor])
    #expect(ana.sync.authorship.actors(of: PeerId("bob")).isEmpty)
    // Nor is one that cannot be meant.
    for fields: [String: CBOR] in [
      [:], ["documentId": .text("x")], ["documentId": .text(ana.id.description), "actors": .integer(3)],
      ["documentId": .text(ana.id.description), "actors": .array([.bytes(Data(count: 100_000)), .text("x")])],
    ] {
      for type in ["author", "vouch"] {
        company.world.repos["bob"]?.send(type: type, fields: fields, to: PeerId("ana"))
      }
    }
    company.world.clock.advance(by: .seconds(1))
    #expect(ana.sync.authorship.actors(of: PeerId("carol")) == [actor])
  }

  /// Two changes of one actor with one number: the peer that brings the second is reported, and the change is refused.
  @Test func oneOfTwoChangesWithTheSameNumberIsTaken() throws {
    let author = ActorId()
    let mine = try Document.note("x")
    let other = mine.fork()
    let base = mine.heads()
    for (document, word) in [(mine, "one "), (other, "two ")] {
      document.actor = author
      try document.spliceText(obj: try #require(try document.contentId()), start: 0, delete: 0, value: word)
      document.commitWith(message: nil, timestamp: Date(timeIntervalSince1970: 0))
    }
    #expect(other.heads() != mine.heads() && base != mine.heads())
    var sync = DocumentSync(phase: .ready)
    let (bob, state) = (PeerId("bob"), SyncState())
    mine.actor = ActorId()
    var named: [DocumentSync.Refusal] = []
    var outgoing = sync.receive(.connected(bob, access: .write), document: mine)
    var messageCount = 0
    while messageCount < 50 {
      var answers: [DocumentSync.Effect] = []
      var isQuiet = true
      for case .send(.sync(let data), to: _) in outgoing { try? other.receiveSyncMessage(state: state, message: data) }
      if let data = other.generateSyncMessage(state: state) {
        isQuiet = false
        messageCount += 1
        answers = sync.takeIn(.received(.sync(data), from: bob, access: .write), document: mine)
      }
      for case .refused(bob, let refusal) in answers { named.append(refusal) }
      outgoing = answers
      if isQuiet { break }
    }
    #expect(try mine.content() == "one x")
    #expect(named.contains { if case .rejected(let reason) = $0 { reason.contains("equalActors") } else { false } })
    #expect(messageCount < 10, "they do not repeat themselves for ever")
  }
}
