import Automerge
import RepoTestSupport
import TestSupport
import Testing

@testable import AutomergeRepo

/// What people are told of a peer's copy while the first sync of a large note takes many messages.
struct PeerProgressTests {
  private static let a = PeerId("a")

  @Test @AutomergeRepo func whatAPeerSendsIsCountedAndIsNothingToSendBack() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 4)))
    let theirs = try world.start("a").create(try .note())
    var random = SeededGenerator(seed: 5)
    for _ in 0..<20 {
      try theirs.splice(
        0, String(decoding: (0..<150_000).map { _ in UInt8.random(in: 33...122, using: &random) }, as: UTF8.self))
    }
    let repo = world.start("b")
    var (percents, pending): (Set<Int>, Set<Int>) = ([], [])
    var observations: [Observation] = []
    observations.append(
      repo.observe { event in
        guard case .documentOpened(let mine) = event else { return }
        observations.append(
          mine.observe { [weak mine] _ in
            guard let mine, let percent = mine.percentReceived(from: Self.a) else { return }
            percents.insert(percent)
            pending.insert(mine.pendingCount(for: Self.a))
          })
      })
    world.connect("a", "b")
    try await world.clock.run(until: "b has all of it") {
      world.repos["b"]?.handle(of: theirs.id)?.inSync(with: Self.a) == true
    }
    for observation in observations { observation.cancel() }
    // On a busy machine several messages are handled in one turn.
    #expect(!percents.isEmpty && percents.allSatisfy { (1..<100).contains($0) }, "\(percents.sorted())")
    #expect(pending == [0], "nothing was typed here")
    let mine = try #require(world.repos["b"]?.handle(of: theirs.id))
    #expect(mine.percentReceived(from: Self.a) == nil)
    #expect(try mine.document.content() == theirs.document.content())
  }

  @Test func ofPeersThatHaveGoneTheLatestAreRemembered() {
    var progress = PeerProgress(heads: [])
    for number in 0..<1000 {
      for isSending in [true, false] {
        let link = SyncLink(to: PeerId("mal-\(number)-\(isSending)"), access: .write, shared: SyncState())
        func status(_: Int) -> PeerProgress.Status { .init(isEqual: true, refuses: false, isSending: isSending) }
        _ = progress.compare([link], status)
        progress.note([link], status)
      }
      progress.changed(to: [])
    }
    #expect(progress.equalAt.count <= PeerProgress.maximumGone + 1)
    #expect(progress.totals.count <= PeerProgress.maximumGone + 1)
    #expect(progress.pendingCount(for: PeerId("mal-999-true")) == 1)
  }

  /// The first message has thousands of pieces, which are applied in several portions.
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) @AutomergeRepo func theFirstMessageIsCountedWhileItIsApplied()
    async throws
  {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 7)))
    // Nothing but the answer to the search says what a has.
    let theirs = try world.start("a", policy: SharePolicy.onRequest).create(try .note())
    let text = try #require(try theirs.document.contentId())
    var random = SeededGenerator(seed: 8)
    for _ in 0..<20 {
      let lines = (0..<1000).map { _ in
        String(decoding: (0..<60).map { _ in UInt8.random(in: 33...122, using: &random) }, as: UTF8.self)
      }
      try theirs.change { document in
        for line in lines { try document.spliceText(obj: text, start: 0, delete: 0, value: line) }
      }
    }
    var messageCount = 0
    world.network.onDelivery = { message, sender, _ in
      guard sender == Self.a, case .document(let message) = message else { return }
      if message.content.data.flatMap(SyncHeader.init)?.changeCount ?? 0 > 0 { messageCount += 1 }
    }
    let repo = world.start("b")
    world.connect("a", "b")
    var percents: [Int?] = []
    var observations: [Observation] = []
    observations.append(
      repo.observe { event in
        guard case .documentOpened(let mine) = event else { return }
        observations.append(
          mine.observe { [weak mine] event in
            guard messageCount == 1, case .headsChanged = event else { return }
            percents.append(mine?.percentReceived(from: Self.a))
          })
      })
    let mine = try #require(try await world.handle(theirs.id, at: "b"))
    try await world.clock.run(until: "b has all of it") { mine.inSync(with: Self.a) }
    for observation in observations { observation.cancel() }
    // The status follows each portion, so at the first one there is none.
    let later = percents.dropFirst()
    #expect(!later.isEmpty && later.allSatisfy { (1..<100).contains($0 ?? 0) }, "\(percents)")
    #expect(messageCount > 1)
  }

  @Test @AutomergeRepo func whatIsTypedMeanwhileIsStillToBeSent() async throws {
    let world = RepoWorld(random: RandomSource(SeededGenerator(seed: 6)))
    let theirs = try world.start("a").create(try .note("milk"))
    world.start("b")
    world.connect("a", "b")
    try await world.clock.run(until: "in sync") {
      world.repos["b"]?.handle(of: theirs.id)?.inSync(with: Self.a) == true
    }
    let mine = try #require(world.repos["b"]?.handle(of: theirs.id))
    world.network.isLost = { _, _, receiver in receiver == Self.a }
    try mine.splice(0, "x")
    try theirs.splice(0, "y")
    try await world.clock.run(until: "b has heard of y") { (try? mine.document.content())?.contains("y") == true }
    #expect(mine.pendingCount(for: Self.a) == 1)
    #expect(mine.percentReceived(from: Self.a) == nil, "all that a has is here")
  }
}
