import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo
@testable import SyncServer

/// What the peers of a server can do with its documents, over a simulated network.
@Suite(.serialized) @AutomergeRepo struct ServerPolicyTests {
  private let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 1)))
  private let policy: ServerPolicy
  private let server: Repo

  init() throws {
    policy = ServerPolicy(file: try Self.file(), granted: ShareNothing())
    server = world.start("server", policy: policy)
  }
}

extension ServerPolicyTests {
  private static func file(_ text: String = tokens) throws -> ServerAccess {
    try ServerAccess(parsing: Array(text.utf8))
  }

  private static let tokens = """
    {"tokens": {"creates": {"access": "write", "create": true}, "writes": {"access": "write"}, "reads": {"access": "read"}}}
    """

  /// A program that has come with a token, is connected to the server only, and offers it everything.
  private func connect(_ name: String, token: String) throws -> Repo {
    policy.admit(PeerId(name), as: try #require(policy.admission(presenting: token)))
    let repo = world.start(name)
    world.connect(name, "server")
    return repo
  }

  private func text(_ id: DocumentId, _ repo: Repo) throws -> String? { try repo.handle(of: id)?.document.content() }

  private func wait(_ what: String, _ condition: () throws -> Bool) async throws {
    try await world.clock.run(until: what) { (try? condition()) ?? false }
  }

  @Test func whatOnePeerWritesTheOthersRead() async throws {
    let (ana, ben) = (try connect("ana", token: "creates"), try connect("ben", token: "reads"))
    let id = try ana.create(Document.note("milk")).id
    try await wait("the server has it") { try text(id, server) == "milk" }
    #expect(try await world.handle(id, at: "ben")?.document.content() == "milk")
    #expect(ben.handle(of: id) != nil)
  }

  @Test func aTokenThatCannotCreateLeavesNothingBehind() async throws {
    let ben = try connect("ben", token: "writes")
    let id = try ben.create(Document.note("spam")).id
    world.clock.advance(by: .seconds(60))
    try await wait("the server has given it up") { server.handle(of: id) == nil }
    #expect(try await server.documentIds().isEmpty)
    // It may write once the document is there.
    let ana = try connect("ana", token: "creates")
    let copy = try #require(ben.handle(of: id)).document.fork()
    _ = try await ana.create(doc: copy, id: id)
    try await wait("the server has it") { try text(id, server) == "spam" }
    try ben.handle(of: id)?.splice(0, "more ")
    try await wait("the change is there") { try text(id, server) == "more spam" }
  }

  @Test func aReadersChangesAreRefused() async throws {
    let ana = try connect("ana", token: "creates")
    _ = try connect("ben", token: "reads")
    let id = try ana.create(Document.note("milk")).id
    try await wait("the server has it") { try text(id, server) == "milk" }
    let bens = try #require(try await world.handle(id, at: "ben"))
    try bens.splice(0, "no ")
    try ana.handle(of: id)?.splice(0, "oat ")
    try await wait("the reader has the writer's") { try bens.document.content()?.contains("oat") ?? false }
    #expect(try text(id, server) == "oat milk")
    #expect(try text(id, ana) == "oat milk")
  }

  @Test func aPeerHearsOfAReleasedDocumentAgain() async throws {
    let (ana, ben) = (try connect("ana", token: "creates"), try connect("ben", token: "writes"))
    let id = try ana.create(Document.note("milk")).id
    try await wait("the server has it") { try text(id, server) == "milk" }
    let bens = try #require(try await world.handle(id, at: "ben"))
    for round in 0..<3 {
      try await world.flush("server")
      try await wait("released") { server.release(id) }
      #expect(server.handles.isEmpty)
      try ana.handle(of: id)?.splice(0, "\(round) ")
      try await wait("the other has it") { try bens.document.content()?.hasPrefix("\(round) ") ?? false }
    }
    world.disconnect("ben", "server")
    #expect(ben.peers.isEmpty)
    #expect(try text(id, ana) == bens.document.content())
  }

  @Test func aNewFileTakesAccessAway() async throws {
    let ana = try connect("ana", token: "creates")
    let id = try ana.create(Document.note("milk")).id
    try await wait("the server has it") { try text(id, server) == "milk" }
    policy.use(try Self.file(#"{"tokens": {"creates": {"access": "read"}}}"#))
    server.policyChanged()
    #expect(policy.unwanted.isEmpty)
    try ana.handle(of: id)?.splice(0, "no ")
    // A writer's change that comes after it has gone the same way.
    policy.admit(PeerId("cyd"), as: try #require(policy.admission(presenting: "creates")))
    let cyd = world.start("cyd")
    world.connect("cyd", "server")
    #expect(try await world.handle(id, at: "cyd")?.document.content() == "milk")
    #expect(cyd.handle(of: id) != nil)
    #expect(try text(id, server) == "milk")
    policy.use(try Self.file("{}"))
    #expect(policy.unwanted == [PeerId("ana"), PeerId("cyd")])
    #expect(policy.admission(presenting: "creates") == nil)
  }

  /// A former guest may know the id of a document that its token is not for.
  @Test func anIdThatIsGuessedOpensNothingAndCarriesNothing() async throws {
    let other = DocumentId.random(using: &Self.random)
    policy.use(
      try Self.file(
        """
        {"tokens": {"creates": {"access": "write", "create": true}, "reads": {"access": "read"},
                    "kiosk": {"access": "write", "documents": ["\(other)"], "create": true}}}
        """))
    let (ana, ben) = (try connect("ana", token: "creates"), try connect("ben", token: "reads"))
    let kim = try connect("kim", token: "kiosk")
    let id = try ana.create(Document.note("milk")).id
    try await wait("the server has it") { try text(id, server) == "milk" }
    let bens = try #require(try await world.handle(id, at: "ben"))
    var heard: [Data] = []
    let observation = bens.observe { event in if case .ephemeral(let message, _) = event { heard.append(message.data) }
    }
    defer { withExtendedLifetime(observation) {} }

    #expect(try await world.handle(id, at: "kim") == nil)
    // It makes a document with the same id, writes, and speaks a thousand times.
    let forged = try await kim.create(doc: Document.note("spam"), id: id)
    try forged.splice(0, "more ")
    for count in 1...1_000 as ClosedRange<UInt64> {
      let message = RepoMessage.EphemeralMessage(
        senderId: PeerId("kim"), targetId: PeerId("server"), documentId: id, count: count, sessionId: "kim",
        data: Data([66]))
      kim.connections.send(.ephemeral(message), to: PeerId("server"))
    }
    world.clock.advance(by: .seconds(60))
    #expect(try text(id, server) == "milk" && text(id, ana) == "milk" && text(id, ben) == "milk")
    #expect(try text(id, kim) == "more spam")
    #expect(heard == [])
    // Those who have the document speak to each other.
    ana.handle(of: id)?.broadcast(Data([1]))
    try await wait("the honest word") { heard == [Data([1])] }
  }

  private static var random = RandomSource(SeededGenerator(seed: 3))

  /// A caller that has been upgraded may wait before it introduces itself.
  @Test func aTokenThatWasTakenBackBeforeItsPeerIntroducedItselfIsWorthNothing() throws {
    let admission = try #require(policy.admission(presenting: "reads"))
    #expect(policy.admit(PeerId("ben"), as: admission))
    policy.use(try Self.file(#"{"default": "read", "tokens": {"creates": {"access": "write"}}}"#))
    #expect(!policy.admit(PeerId("ben"), as: admission), "not even what everybody has: the token is wrong now")
    #expect(policy.access(DocumentId(), for: PeerId("ben")) == .none)
    #expect(policy.admit(PeerId("cyd"), as: .open))
  }

  @Test func withoutAFileNoTokenIsGood() throws {
    let policy = ServerPolicy(file: nil, granted: ShareEverything())
    #expect(policy.admission(presenting: "creates") == nil)
    #expect(policy.admission(presenting: nil) == nil)
    #expect(!policy.isAdmitted(PeerId("ana")))
  }

  @Test func withoutATokenThereIsWhatEverybodyHas() throws {
    #expect(policy.admission(presenting: nil) == nil)
    policy.use(try Self.file(#"{"default": "read"}"#))
    #expect(policy.admission(presenting: nil) == .open)
    #expect(
      policy.admission(presenting: "wrong") == nil, "a wrong token is an error of the person, who should hear of it")
  }

  /// Any page can have a browser behind the firewall call.
  @Test func aPageOfAnotherSiteNeedsAToken() throws {
    func policy(_ origins: String) throws -> ServerPolicy {
      let text = #"{"default": "read", \#(origins)"tokens": {"good": {"access": "read"}}}"#
      return ServerPolicy(file: try ServerAccess(parsing: Array(text.utf8)), granted: ShareEverything())
    }
    let (closed, open) = (try policy(""), try policy(#""origins": "*", "#))
    let listed = try policy(#""origins": ["https://Notes.example"], "#)
    for origin in ["https://evil.example", "http://localhost:8080", "null"] {
      #expect(closed.admission(presenting: nil, origin: origin) == nil)
      #expect(listed.admission(presenting: nil, origin: origin) == nil)
      #expect(open.admission(presenting: nil, origin: origin) == .open)
      // No page has a token that it was not given.
      #expect(closed.admission(presenting: "good", origin: origin) != nil)
    }
    #expect(listed.admission(presenting: nil, origin: "https://notes.example") == .open)
    #expect(closed.admission(presenting: nil, origin: nil) == .open)
  }

  @Test func aPeerWithAKeyHasTheMoreOfFileAndTickets() throws {
    var random = SystemRandomNumberGenerator()
    let id = DocumentId.random(using: &random)
    let ana = PeerId("ana")
    let both = ServerPolicy(
      file: try Self.file(#"{"peers": {"ana": {"access": "read"}}}"#), granted: ShareEverything())
    #expect(both.access(id, for: ana) == .write)
    #expect(both.mayCreate(id, ana))
    // A peer without a key may call itself anything, and has only what its token gives.
    both.admit(ana, as: .open)
    #expect(both.access(id, for: ana) == .none)
    #expect(!both.mayCreate(id, ana))
  }
}
