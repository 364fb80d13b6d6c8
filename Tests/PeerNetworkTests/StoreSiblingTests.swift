import Automerge
import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import PeerTransport
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork

struct SiblingMeshTests {
  private let a = PeerId("a")
  private let b = PeerId("b")
  private let place = [PeerAddress(host: "127.0.0.1", port: 1)]

  /// What a process knows that has been running alone.
  private func mesh(of peer: PeerId) -> SiblingMesh {
    var mesh = SiblingMesh(local: peer)
    #expect(mesh.receive(.found([:])) == [])
    return mesh
  }

  /// The others learn of it at their next beat, which is seconds away.
  @Test func aProcessThatHasJustStartedCallsAllThatItFinds() {
    var newcomer = SiblingMesh(local: b)
    #expect(newcomer.receive(.found([a: place])) == [.call(a, place)])
    let c = PeerId("c"), d = PeerId("d")
    #expect(newcomer.receive(.found([a: place, c: place])) == [.startTimer(c, SiblingMesh.patience / 2, 1)])
    var last = SiblingMesh(local: d)
    #expect(last.receive(.found([:])) == [])
    #expect(last.receive(.found([a: place])) == [.startTimer(a, SiblingMesh.patience, 1)])
  }

  @Test func ofTwoThatWaitTheSmallerIdCallsFirst() {
    var (first, second) = (mesh(of: a), mesh(of: b))
    #expect(first.receive(.found([b: place])) == [.startTimer(b, SiblingMesh.patience / 2, 1)])
    #expect(first.receive(.timerFired(b, 1)) == [.call(b, place)])
    #expect(second.receive(.found([a: place])) == [.startTimer(a, SiblingMesh.patience, 1)])
    #expect(second.receive(.timerFired(a, 1)) == [.call(a, place)])
    #expect(second.receive(.connected(a)) == [])
    #expect(second.receive(.found([a: place])) == [], "nothing is new")
  }

  @Test func pausesGrowAndAreShortAfterALoss() {
    var mesh = SiblingMesh(local: a)
    _ = mesh.receive(.found([b: place]))
    for (index, pause) in [100, 200, 400, 800, 1000, 1000].enumerated() {
      #expect(mesh.receive(.failed(b)) == [.startTimer(b, .milliseconds(pause), index + 1)])
      #expect(mesh.receive(.timerFired(b, index + 1)) == [.call(b, place)])
    }
    _ = mesh.receive(.connected(b))
    #expect(mesh.receive(.lost(b)) == [.startTimer(b, .milliseconds(100), 7)])
  }

  /// If both called, the calls would cross, and what was under way on the connection that goes would be lost.
  @Test func afterALossTheSmallerIdCallsAgainAndTheOtherWaits() {
    var (first, second) = (mesh(of: a), mesh(of: b))
    _ = (first.receive(.found([b: place])), second.receive(.found([a: place])))
    _ = (first.receive(.connected(b)), second.receive(.connected(a)))
    #expect(first.receive(.lost(b)) == [.startTimer(b, SiblingMesh.firstPause, 2)])
    #expect(second.receive(.lost(a)) == [.startTimer(a, SiblingMesh.patience, 2)])
    #expect(second.receive(.timerFired(a, 1)) == [], "the timer of the first wait")
    #expect(second.receive(.timerFired(a, 2)) == [.call(a, place)])
  }

  @Test func aProcessThatIsGoneIsNotCalledAndAConnectionStays() {
    var mesh = SiblingMesh(local: a)
    _ = mesh.receive(.found([b: place]))
    _ = mesh.receive(.failed(b))
    _ = mesh.receive(.connected(b))
    #expect(mesh.receive(.found([:])) == [])
    #expect(!mesh.knows(b))
    #expect(mesh.receive(.lost(b)) == [])
    #expect(mesh.receive(.timerFired(b, 1)) == [])
  }
}

struct StoreSiblingProviderTests {
  @Test func processesOnOneDatabaseConform() async throws {
    try await TestLoop.run { loop in
      try await NetworkConformance(within: Patience.hang) {
        let clock = PatientClock(loop)
        @AutomergeRepo func end(_ name: String) throws -> (provider: StoreSiblingProvider, local: LocalPeer) {
          let provider = try StoreSiblingProvider(loop: loop, clock: clock) { _ in true }
          try provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0))
          return (provider, LocalPeer(peerId: PeerId(name), metadata: PeerMetadata(name: name)))
        }
        let (first, second) = (try end("one"), try end("two"))
        // The first has been running alone.
        first.provider.found([:])
        return NetworkPair(
          .init(first.provider, as: first.local), .init(second.provider, as: second.local), clock: clock,
          maximumByteCount: Frame.maximumByteCount
        ) {
          second.provider.found([first.provider.key: first.provider.addresses])
          first.provider.found([second.provider.key: second.provider.addresses])
        }
      }.run()
    }
  }

  @Test func aKeyThatIsNotInTheTableGetsNoAnswer() async throws {
    try await TestLoop.run { loop in
      let clock = PatientClock(loop)
      @AutomergeRepo func process(_ name: String) throws -> (repo: Repo, provider: StoreSiblingProvider) {
        let repo = Repo(peerId: PeerId(name), sharePolicy: ShareNothing(), clock: clock)
        let provider = try StoreSiblingProvider(loop: loop, clock: clock) { _ in true }
        try provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0))
        repo.add(provider)
        return (repo, provider)
      }
      let (one, other) = (try process("one"), try process("other"))
      var unknownCount = 0
      other.provider.onUnknown = { unknownCount += 1 }
      other.provider.found([:])
      one.provider.found([other.provider.key: other.provider.addresses])
      try await eventually("calls", on: loop) { unknownCount > 1 }
      #expect(one.provider.siblings.isEmpty && other.provider.siblings.isEmpty)
      // As soon as the table has it, it is let in.
      other.provider.found([one.provider.key: one.provider.addresses])
      try await eventually("a link", on: loop) { !one.repo.siblings.isEmpty && !other.repo.siblings.isEmpty }
      one.provider.stop()
      other.provider.stop()
    }
  }

  @Test func callersThatProveNothingLockNoSiblingOut() async throws {
    try await TestLoop.run { loop in
      let clock = PatientClock(loop)
      @AutomergeRepo func process(_ name: String) throws -> (provider: StoreSiblingProvider, address: PeerAddress) {
        let repo = Repo(peerId: PeerId(name), sharePolicy: ShareNothing(), clock: clock)
        let provider = try StoreSiblingProvider(loop: loop, clock: clock) { _ in true }
        let address = try provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0))
        repo.add(provider)
        return (provider, address)
      }
      let (one, other) = (try process("one"), try process("other"))
      other.provider.found([:])
      let limit = StoreSiblingProvider.maximumStrangersPerAddress
      var silent: [RawPeer] = []
      for count in 1...limit + 3 {
        silent.append(try await RawPeer.connect(to: other.address, on: loop, isEncrypted: false))
        try await eventually("accepted", on: loop) { other.provider.connectionCount >= min(count, limit) }
      }
      try await eventually("the oldest make room", on: loop) { silent.prefix(3).allSatisfy(\.isClosed) }
      #expect(other.provider.connectionCount == limit && silent.dropFirst(3).allSatisfy { !$0.isClosed })
      other.provider.found([one.provider.key: one.provider.addresses])
      one.provider.found([other.provider.key: other.provider.addresses])
      try await eventually("a link", on: loop) { !one.provider.siblings.isEmpty && !other.provider.siblings.isEmpty }
      // The sibling no longer counts among them.
      for _ in 0..<limit + 1 {
        silent.append(try await RawPeer.connect(to: other.address, on: loop, isEncrypted: false))
      }
      try await eventually("the others make room", on: loop) { silent.prefix(limit + 3).allSatisfy(\.isClosed) }
      #expect(!one.provider.siblings.isEmpty && !other.provider.siblings.isEmpty)
      for raw in silent { raw.stream.close() }
      one.provider.stop()
      other.provider.stop()
    }
  }

  @Test func onlyADocumentThatBothHaveOpenIsSpokenOf() async throws {
    try await TestLoop.run { loop in
      let clock = PatientClock(loop)
      let store = InMemoryStorage()
      @AutomergeRepo func process(_ name: String) throws -> (repo: Repo, provider: StoreSiblingProvider) {
        let repo = Repo(peerId: PeerId(name), storage: store, sharePolicy: ShareNothing(), clock: clock)
        let provider = try StoreSiblingProvider(loop: loop, clock: clock) { [weak repo] in repo?.handle(of: $0) != nil }
        try provider.listen(at: PeerAddress(host: "127.0.0.1", port: 0))
        repo.add(provider)
        return (repo, provider)
      }
      let (one, other) = (try process("one"), try process("other"))
      let mine = try one.repo.create(Document.note("first"))
      try await mine.flush()
      other.provider.found([:])
      one.provider.found([other.provider.key: other.provider.addresses])
      other.provider.found([one.provider.key: one.provider.addresses])
      try await eventually("a link", on: loop) { !one.repo.siblings.isEmpty && !other.repo.siblings.isEmpty }
      try mine.splice(0, "alone ")
      try await mine.flush()
      #expect(other.repo.handle(of: mine.id) == nil)
      guard case .found(let theirs) = await other.repo.find(mine.id) else { throw NeverHappened(what: "finding it") }
      try theirs.splice(0, "both ")
      try mine.splice(0, "now ")
      try await eventually("equal documents", on: loop) { mine.document.heads() == theirs.document.heads() }
      #expect(try mine.document.content()?.contains("both") == true)
      one.provider.stop()
      other.provider.stop()
    }
  }
}
