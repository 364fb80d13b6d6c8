import Automerge
import AutomergeRepo
import Foundation
import RepoTestSupport
import TestSupport
import Testing
import UV

@testable import PeerNetwork

struct SiblingElectionTests {
  @Test func theProcessWithTheLockListens() {
    var election = SiblingElection()
    #expect(election.receive(.started) == [.tryLock])
    #expect(election.receive(.locked) == [.listen])
    #expect(election.isHub)
    for event in [SiblingElection.Event.lost, .failed, .timerFired, .reached] {
      #expect(election.receive(event) == [])
      #expect(election.isHub)
    }
  }

  @Test func theOthersCallAndTakeOver() {
    var election = SiblingElection()
    #expect(election.receive(.started) == [.tryLock])
    #expect(election.receive(.refused) == [.call])
    #expect(election.receive(.reached) == [])
    #expect(!election.isHub)
    // At once, without a pause.
    #expect(election.receive(.lost) == [.tryLock])
    #expect(election.receive(.locked) == [.listen])
  }

  @Test func withNeitherLockNorAnswerItIsTriedAgain() {
    var election = SiblingElection()
    _ = election.receive(.started)
    var total = Duration.zero
    for pause in [20, 40, 80, 160, 320, 500, 500] {
      #expect(election.receive(.refused) == [.call])
      #expect(election.receive(.failed) == [.startTimer(.milliseconds(pause))])
      #expect(election.receive(.timerFired) == [.tryLock])
      total += .milliseconds(pause)
    }
    #expect(total > .seconds(1))
  }
}

struct UnixSocketProviderTests {
  /// A process of a person, as far as the others can tell.
  @AutomergeRepo
  private final class Process {
    let repo: Repo
    let provider: UnixSocketProvider

    init(_ person: String, home: String, _ loop: Loop) throws {
      let clock = PatientClock(loop)
      repo = Repo(peerId: PeerId(person), sharePolicy: ShareNothing(), clock: clock)
      provider = try UnixSocketProvider(home: home, loop: loop, clock: clock)
      repo.add(provider)
    }

    func text(of id: DocumentId) -> String? {
      guard let document = repo.handle(of: id)?.document,
        case .Object(let text, .Text) = try? document.get(obj: .ROOT, key: "content")
      else { return nil }
      return try? document.text(obj: text)
    }

    func type(_ word: String, into id: DocumentId) throws {
      let handle = try #require(repo.handle(of: id))
      try handle.change { document in
        guard case .Object(let text, .Text) = try document.get(obj: .ROOT, key: "content") else { return }
        try document.spliceText(obj: text, utf8Offset: 0, deleteUTF8: 0, insert: Array(word.utf8))
      }
    }

    func create() throws -> DocumentId {
      let document = Document(textEncoding: .utf8)
      _ = try document.putObject(obj: .ROOT, key: "content", ty: .Text)
      return try repo.create(document).id
    }
  }

  @Test func processesOfOnePersonShareEverythingThroughOneOfThem() async throws {
    let directory = try TemporaryDirectory()
    try await TestLoop.run { loop in
      let processes = try (0..<3).map { _ in try Process("ana", home: directory.path, loop) }
      try await eventually("all are connected", on: loop) {
        processes.map(\.provider.siblings.count).sorted() == [1, 1, 2]
      }
      #expect(processes.filter(\.provider.isHub).count == 1)
      #expect(processes.allSatisfy { $0.repo.peers.isEmpty && !$0.repo.siblings.isEmpty })
      let spokes = processes.filter { !$0.provider.isHub }
      let id = try spokes[0].create()
      try spokes[0].type("one ", into: id)
      try await eventually("it is everywhere", on: loop) { processes.allSatisfy { $0.text(of: id) == "one " } }
      try spokes[1].type("two ", into: id)
      try await eventually("it came back", on: loop) { processes.allSatisfy { $0.text(of: id) == "two one " } }
      for process in processes { process.provider.stop() }
    }
  }

  @Test func whatOneSaysOnADocumentTheOthersHear() async throws {
    let directory = try TemporaryDirectory()
    try await TestLoop.run { loop in
      let processes = try (0..<3).map { _ in try Process("ana", home: directory.path, loop) }
      let id = try processes[0].create()
      try await eventually("it is everywhere", on: loop) { processes.allSatisfy { $0.repo.handle(of: id) != nil } }
      var heard = [0, 0, 0]
      for (index, process) in processes.enumerated() {
        process.repo.handle(of: id)?.observe { event in
          if case .ephemeral = event { heard[index] += 1 }
        }
      }
      try await eventually("each is on the document", on: loop) {
        processes.allSatisfy { !($0.repo.handle(of: id)?.peers.isEmpty ?? true) }
      }
      processes[2].repo.handle(of: id)?.broadcast(Data([0xF6]))
      try await eventually("both others heard it", on: loop) { heard[0] == 1 && heard[1] == 1 }
      #expect(heard[2] == 0)
      for process in processes { process.provider.stop() }
    }
  }

  @Test func whenTheHubGoesAnotherTakesItsPlace() async throws {
    let directory = try TemporaryDirectory()
    try await TestLoop.run { loop in
      var processes = try (0..<3).map { _ in try Process("ana", home: directory.path, loop) }
      let id = try processes[0].create()
      try await eventually("it is everywhere", on: loop) { processes.allSatisfy { $0.repo.handle(of: id) != nil } }
      let hub = try #require(processes.firstIndex { $0.provider.isHub })
      processes.remove(at: hub).provider.stop()
      try processes[0].type("meanwhile", into: id)
      try await eventually("the two are together", on: loop) {
        processes.count { $0.provider.isHub } == 1 && processes.allSatisfy { $0.text(of: id) == "meanwhile" }
      }
      for process in processes { process.provider.stop() }
    }
  }

  @Test func anotherPersonIsNotLetIn() async throws {
    let directory = try TemporaryDirectory()
    try await TestLoop.run { loop in
      let ana = try Process("ana", home: directory.path, loop)
      try await eventually("she listens", on: loop) { ana.provider.isHub }
      let mallory = try Process("mallory", home: directory.path, loop)
      let id = try ana.create()
      let friend = try Process("ana", home: directory.path, loop)
      try await eventually("the friend has it", on: loop) { friend.repo.handle(of: id) != nil }
      #expect(mallory.repo.siblings.isEmpty)
      #expect(mallory.repo.handle(of: id) == nil)
      for process in [ana, mallory, friend] { process.provider.stop() }
    }
  }

  @Test func aDeepDirectoryStillHasASocket() throws {
    let directory = try TemporaryDirectory()
    let deep = try directory.directory(String(repeating: "long/", count: 30))
    let socket = try SiblingSocket(home: deep)
    #expect(socket.path.utf8.count <= UnixSocketPath.maximumByteCount)
    #expect(try SiblingSocket(home: deep).path == socket.path)
    #expect(try SiblingSocket(home: directory.path).path == directory.path + "/siblings")
  }
}
