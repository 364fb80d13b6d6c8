import Automerge
import Foundation
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// Whatever a program changes, in whichever way, is stored after `flush`, and reaches the peer.
struct EveryDoorTests {
  /// `NOTES_DOORS` says how many seeds.
  private static let seedCount =
    ProcessInfo.processInfo.environment["NOTES_DOORS"].flatMap(UInt64.init) ?? 250

  /// Encoding removes the keys that a model does not have, so it has those of the other doors.
  private struct Titled: Codable {
    var title: String
    var votes: Counter
    var content: AutomergeText
  }

  /// Two peers on one document, one of which changes it in every way there is.
  @AutomergeRepo
  private final class Program {
    let world: RepoWorld
    let id: DocumentId
    private var random: SeededGenerator
    private var count: Int64 = 0
    private var handle: DocHandle?

    init(seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed &+ 1_000_000)))
      let ana = world.start("a")
      world.start("b")
      world.connect("a", "b")
      let handle = try ana.create(try .note())
      try handle.change { document in
        try document.put(obj: .ROOT, key: "votes", value: .Counter(0))
        try document.put(obj: .ROOT, key: "title", value: .String(""))
      }
      (self.handle, id) = (handle, handle.id)
    }

    private func document() async throws -> Document {
      if let handle { return handle.document }
      let found: DocHandle = try #require(try await world.handle(id, at: "a"))
      handle = found
      return found.document
    }

    func step() async throws {
      let document = try await document()
      count += 1
      let value = ScalarValue.Int(count)
      let key = "\(Int.random(in: 0..<4, using: &random))"
      switch Int.random(in: 0..<12, using: &random) {
      case 0: try handle?.change { try $0.put(obj: .ROOT, key: key, value: value) }
      case 1: try document.put(obj: .ROOT, key: key, value: value)
      case 2:
        try AutomergeText(doc: document, path: "content").value = String(repeating: "word ", count: Int(count) % 9)
      case 3: try Counter(doc: document, path: "votes").increment(by: 1)
      case 4:
        var typed = TypedDocument<Titled>(document: document)
        try typed.change { [count] in $0.title = "\(count)" }
      case 5: try await onThread { try? document.put(obj: .ROOT, key: key, value: value) }
      case 6: try await onThread { try? AutomergeText(doc: document, path: "content").value = "from a thread" }
      case 7:
        let copy = document.fork()
        try copy.put(obj: .ROOT, key: key, value: value)
        try handle?.merge(copy)
      case 8:
        let copy = document.fork()
        try copy.put(obj: .ROOT, key: key, value: value)
        try handle?.take(try copy.encodeChangesSince(heads: document.heads()))
      case 9: try await afterRelease(document, key, value)
      case 10: world.disconnect("a", "b")
      default: world.connect("a", "b")
      }
      if Bool.random(using: &random) { world.clock.advance(by: .milliseconds(Int.random(in: 0..<80, using: &random))) }
    }

    private func onThread(_ body: @escaping @Sendable () -> Void) async throws {
      let thread = Thread(block: body)
      thread.start()
      while !thread.isFinished { await Task.yield() }
    }

    /// The repo lets the document go, if it can, and then the program changes it.
    private func afterRelease(_ document: Document, _ key: String, _ value: ScalarValue) async throws {
      try await world.flush("a")
      handle = nil
      _ = world.repos["a"]?.release(id)
      try document.put(obj: .ROOT, key: key, value: value)
      try await world.flush("a")
    }

    /// Both peers get equal and store everything; then they start again from what is stored.
    func finish(_ seed: UInt64) async throws {
      world.connect("a", "b")
      let document = try await document()
      try await world.flush("a")
      #expect(handle?.isStored == true, "seed \(seed)")
      let heads = document.heads()
      #expect(handle?.currentHeads == heads, "seed \(seed)")
      let other = try #require(try await world.handle(id, at: "b"), "seed \(seed)")
      try await world.clock.run(until: "equal, seed \(seed)", horizon: .seconds(60)) { other.document.heads() == heads }
      try await world.flush("b")
      handle = nil
      for name in ["a", "b"] {
        world.crash(name)
        world.start(name)
        let again = try #require(try await world.handle(id, at: name), "seed \(seed)")
        #expect(again.document.heads() == heads, "\(name), seed \(seed)")
      }
    }
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) @AutomergeRepo
  func whatIsChangedAnywhereIsStoredAndReachesThePeer() async throws {
    for seed in 0..<Self.seedCount {
      let program = try Program(seed: seed)
      for _ in 0..<12 { try await program.step() }
      try await program.finish(seed)
    }
  }
}
