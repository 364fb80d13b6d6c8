import Automerge
import AutomergeRepo
import JSONRPC
import RepoTestSupport
import TestSupport
import Testing

@testable import NotesServer

/// Two processes of one person learn of their connection at different moments, and what one of them stores in between
/// reaches the other all the same.
@AutomergeRepo struct SiblingNewsTests {
  private let storage = InMemoryStorage()
  private let ends = SiblingEnd.pair()
  private let repos: [Repo]

  init() {
    repos = ends.map { [storage] _ in Repo(peerId: PeerId("ana"), storage: storage) }
    for (repo, end) in zip(repos, ends) { repo.add(end) }
  }

  private func newId() -> DocumentId {
    var random = RandomSource()
    return DocumentId.random(using: &random)
  }

  @Test func aRecordThatChangedBeforeItsProcessSawTheConnectionIsReadAgain() {
    let news = repos.map { RecordNews(repo: $0, clock: SystemClock()) }
    var heard: [DocumentId] = []
    news[0].begin { _ in }
    news[1].begin { heard.append($0) }
    let (before, between, after) = (newId(), newId(), newId())
    news[0].tell(before)
    ends[1].see()
    news[0].tell(between)
    #expect(heard.isEmpty)
    ends[0].see()
    news[0].tell(after)
    #expect(Set(heard.prefix(2)) == [before, between] && heard.dropFirst(2) == [after])
  }

  @Test func whatIsHeardWhileTheStoreIsBeingReadIsReadAgainBehindIt() {
    let news = repos.map { RecordNews(repo: $0, clock: SystemClock()) }
    news[0].begin { _ in }
    for end in ends { end.see() }
    let id = newId()
    news[0].tell(id)
    var heard: [DocumentId] = []
    news[1].begin { heard.append($0) }
    #expect(heard == [id])
  }

  @Test func aCommandThatWaitsLooksAgainAtEachEventOfAnotherProcess() async throws {
    let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 8))), "ana")
    try await ana.start()
    var looks = 0
    let task = Task { @AutomergeRepo in
      try await ana.session.result(lookingAgainAfter: .seconds(1000)) {
        looks += 1
        return looks == 3 ? looks : nil
      }
    }
    let start = ana.world.clock.now
    for look in 1...2 {
      while looks < look { await Task.yield() }
      ana.service.environment.events.send(.heardFromSibling(["kind": "accepted"]))
    }
    #expect(try await task.value == 3 && ana.world.clock.now == start)
  }

  @Test func aCommandThatWaitsForANoteLooksAgainWhenTheNoteOrItsRecordChanges() async throws {
    let ana = ServiceUnderTest(RepoWorld(random: RandomSource(SeededGenerator(seed: 9))), "ana")
    try await ana.start()
    let made = try await ana.request("notes/create", ["title": "Tea", "text": "green\n"])
    let id = try #require(DocumentId(made["id"]?.stringValue))
    let handle = try await ana.service.fetch(id)
    var looks = 0
    let task = Task { @AutomergeRepo in
      try await ana.session.result(lookingAgainAfter: .seconds(1000), at: id) {
        looks += 1
        return looks == 3 ? looks : nil
      }
    }
    let start = ana.world.clock.now
    while looks < 1 { await Task.yield() }
    ana.service.environment.events.send(.recordRead(newId()))
    ana.service.environment.events.send(.recordRead(id))
    while looks < 2 { await Task.yield() }
    let copy = handle.document.fork()
    try NoteDocument.enter(person: "0123456789abcdef", name: "Ben", in: copy)
    copy.commitWith(message: nil, timestamp: ana.world.clock.date)
    try handle.merge(copy)
    #expect(try await task.value == 3 && ana.world.clock.now == start)
  }

  /// The event makes a buffer read-only, so its process must not miss it.
  @Test func anEventThatIsKeptReachesAProcessThatIsConnectedLater() {
    let clock = ManualClock()
    let events = repos.map { SiblingEvents(repo: $0, clock: clock) }
    var heard: [String] = []
    events[1].onEvent = { heard.append($0["kind"]?.stringValue ?? "") }
    events[0].tell(["kind": "online"])
    events[0].tell(["kind": "access"], isKept: true)
    for end in ends { end.see() }
    #expect(heard == ["access"])
    events[0].tell(["kind": "refused"], isKept: true)
    #expect(heard == ["access", "refused"])
    // The connection is lost and restored.
    for end in ends { end.lose() }
    for end in ends { end.see() }
    #expect(heard == ["access", "refused"])
  }

  @Test(arguments: [0, 121]) func aProcessThatBeganLaterOrIsConnectedMuchLaterIsNotToldOfIt(pause: Int) {
    let clock = ManualClock()
    let told = SiblingEvents(repo: repos[0], clock: clock)
    let earlier = pause > 0 ? SiblingEvents(repo: repos[1], clock: clock) : nil
    told.tell(["kind": "access"], isKept: true)
    clock.advance(by: .seconds(max(1, pause)))
    let other = earlier ?? SiblingEvents(repo: repos[1], clock: clock)
    var heard = 0
    other.onEvent = { _ in heard += 1 }
    for end in ends { end.see() }
    #expect(heard == 0)
  }

  @Test func aNameThatWasStoredBeforeItsProcessSawTheConnectionIsReadAgain() async throws {
    let keepers = repos.map { NameKeeper(PersonName(login: "login"), repo: $0, storage: storage) }
    ends[0].see()
    // By now the first process has read the store, and found no name.
    for _ in 0..<50 { await Task.yield() }
    await keepers[1].choose("Ana")
    #expect(keepers[0].person.name == "login")
    ends[1].see()
    while keepers[0].person.name != "Ana" { await Task.yield() }
  }

  /// Carries out any request, and counts them.
  @AutomergeRepo
  private final class Performer: SiblingRequestPerforming {
    private(set) var count = 0
    func performForSibling(_ method: String, _ params: JSONValue) async -> Result<JSONValue, ResponseError> {
      count += 1
      return .success(.string(method))
    }
  }

  /// One process asks the other, which reads it only after three seconds.
  @Test(arguments: [true, false]) func aProcessThatHasTheNetworkMayTakeItsTime(isThere: Bool) async throws {
    let (clock, performer) = (ManualClock(), Performer())
    let sharing = [LoneSharing(), LoneSharing()]
    let requests = zip(repos, sharing).map { SiblingRequests(repo: $0, sharing: $1, clock: clock) }
    requests[1].performer = performer
    (sharing[0].isNetworkElsewhere, sharing[1].hasNetwork) = (isThere, true)
    ends[0].see()
    clock.schedule(after: .seconds(3)) { [ends] in ends[1].see() }
    var answer: Result<JSONValue, ResponseError>??
    Task { @AutomergeRepo in answer = .some(await requests[0].ask("notes/share", .null)) }
    try await clock.run(until: "the answer", horizon: .seconds(20)) { answer != nil }
    #expect(try answer??.get() == (isThere ? "notes/share" : nil))
    #expect(performer.count == (isThere ? 1 : 0))
  }

  @Test(arguments: [500, 4_500]) func aProcessThatIsJustGettingTheNetworkCarriesOutWhatItWasAsked(
    milliseconds: Int
  ) async throws {
    let (clock, performer) = (ManualClock(), Performer())
    let sharing = [LoneSharing(), LoneSharing()]
    let requests = zip(repos, sharing).map { SiblingRequests(repo: $0, sharing: $1, clock: clock) }
    requests[1].performer = performer
    for end in ends { end.see() }
    sharing[0].isNetworkElsewhere = true
    clock.schedule(after: .milliseconds(milliseconds)) {
      sharing[1].hasNetwork = true
      for _ in 0..<2 { requests[1].networkArrived() }
    }
    var answer: Result<JSONValue, ResponseError>??
    Task { @AutomergeRepo in answer = .some(await requests[0].ask("notes/share", .null)) }
    try await clock.run(until: "the answer", horizon: .seconds(20)) { answer != nil }
    #expect(try answer??.get() == "notes/share")
    #expect(performer.count == 1)
  }
}
