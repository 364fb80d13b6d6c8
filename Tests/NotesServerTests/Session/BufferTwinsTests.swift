import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Two language clients of one editor on one buffer, each with a process of its own.
@AutomergeRepo struct BufferTwinsTests {
  private let clock = ManualClock()
  private let ends = SiblingEnd.pair()
  private let twins: [BufferTwins]
  private let buffers = [Buffers(), Buffers()]
  private static let uri = "file:///notes/Tea.md"

  /// What one process has attached, and what it was told of.
  @AutomergeRepo
  private final class Buffers {
    var attached: Set<String> = []
    var told: [String] = []
  }

  init() {
    var twins: [BufferTwins] = []
    for (end, buffers) in zip(ends, buffers) {
      let repo = Repo(peerId: PeerId("ana"), storage: InMemoryStorage())
      repo.add(end)
      twins.append(BufferTwins(repo: repo, clock: clock))
      twins.last?.onTwin = { buffers.told.append($0) }
      clock.advance(by: .milliseconds(1))
    }
    self.twins = twins
  }

  private func connect() { for end in ends { end.see() } }

  private func begin(_ index: Int, editor: Int = 7) {
    twins[index].begin(editor: editor) { [buffers] in buffers[index].attached }
  }

  private func attach(_ index: Int) {
    buffers[index].attached = [Self.uri]
    twins[index].attached(Self.uri)
  }

  /// The lines of the older and of the younger process.
  private var told: [[String]] { buffers.map(\.told) }

  @Test(arguments: [[0, 1], [1, 0]], [true, false])
  func theOlderOfTwoClientsTellsOnce(order: [Int], isConnectedFirst: Bool) {
    if isConnectedFirst { connect() }
    for index in order {
      begin(index)
      attach(index)
    }
    if !isConnectedFirst { connect() }
    clock.advance(by: BufferTwins.patience - .milliseconds(1))
    #expect(told == [[], []])
    clock.advance(by: .milliseconds(1))
    #expect(told == [[Self.uri], []])
    for index in order { attach(index) }
    clock.advance(by: .seconds(60))
    #expect(told == [[Self.uri], []])
  }

  @Test func aClientThatIsRestartedIsNoTwin() {
    connect()
    for index in [0, 1] {
      begin(index)
      attach(index)
    }
    clock.advance(by: .seconds(1))
    buffers[0].attached = []
    clock.advance(by: .seconds(60))
    #expect(told == [[], []])
  }

  @Test func aClientThatHasEndedMeanwhileIsNoTwin() {
    connect()
    for index in [0, 1] {
      begin(index)
      attach(index)
    }
    clock.advance(by: .seconds(1))
    buffers[1].attached = []
    clock.advance(by: .seconds(60))
    #expect(told == [[], []])
  }

  @Test func twoEditorsOnOneNoteAreNoTwins() {
    connect()
    for index in [0, 1] {
      begin(index, editor: index + 7)
      attach(index)
    }
    clock.advance(by: .seconds(60))
    #expect(told == [[], []])
  }

  @Test func thePersonReadsWhichNoteItIs() async throws {
    let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 31))), "ana")
    ana.service.repo.add(ends[0])
    try await ana.start(client: ["processId": 7, "initializationOptions": ["applyEdits": true]])
    let made = try await ana.request("notes/create", ["title": "Tea", "text": "green\n"])
    let uri = try #require(made["uri"]?.stringValue)
    ana.open(uri, "green\n")
    try await ana.wait(for: "the note") { ana.binding(uri) != nil }
    ana.world.clock.advance(by: .milliseconds(1))
    let other = Repo(peerId: PeerId("ana"), storage: InMemoryStorage(), clock: ana.world.clock)
    other.add(ends[1])
    let twin = BufferTwins(repo: other, clock: ana.world.clock)
    twin.begin(editor: 7) { [uri] }
    connect()
    try await ana.wait(for: "the line") { ana.sent.contains { $0["method"] == "window/showMessage" } }
    let lines = ana.sent.filter { $0["method"] == "window/showMessage" }.compactMap {
      $0["params"]?["message"]?.stringValue
    }
    #expect(lines == ["Two clients edit \"Tea\": stop one, or words double"])
  }
}
