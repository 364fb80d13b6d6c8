import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import RepoTestSupport

/// Several people, each with one or two services and editors on one note, in one process and in virtual time: they type, delete
/// and save, other programs write to the files, connections break, and services are killed.
///
/// In the end all texts are equal, and contain every word that a person or a program wrote exactly once. A seed
/// determines the run if everything runs on a `SingleThread` and the process has `SWIFT_DETERMINISTIC_HASHING=1`.
@AutomergeRepo
public final class Simulation {
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  /// What happened in a run, to show that it was not idle.
  public struct Report: Sendable {
    public var words = 0
    public var deletions = 0
    public var outsideWrites = 0
    public var saves = 0
    public var crashes = 0
    public var partitions = 0
    public var faults: [Fault: Int] = [:]

    /// How often each step happened, by its name.
    public var counts: [String: Int] {
      let steps = [
        "words": words, "deletions": deletions, "outsideWrites": outsideWrites, "saves": saves, "crashes": crashes,
        "partitions": partitions,
      ]
      return steps.merging(faults.map { ($0.key.rawValue, $0.value) }, uniquingKeysWith: +)
    }
  }

  /// How long the texts may take to become equal once all faults have ended.
  static let settlingTime: Duration = .seconds(180)
  private static let tidyInterval: Duration = .milliseconds(100)

  public internal(set) var report = Report()
  /// Whether the history records when something first goes wrong in the document of a service.
  public var watchesDocuments = false
  /// What has gone wrong so far.
  var troubles: Set<String> = []
  /// The deleted words that are not in the document of a service, by its name.
  var withoutDeleted: [PeerId: Set<String>] = [:]
  /// The steps of the run, a line each, to explain a failure.
  public private(set) var history: [String] = []
  public let seed: UInt64
  let without: Set<Step>
  let injector: FaultInjector
  let clock = ManualClock()
  let network: SimulatedNetwork
  var random: RandomSource
  var people: [SimulatedPerson] = []
  /// Pairs of people that cannot reach each other now.
  var partitions: Set<Set<String>> = []
  /// The words that the note must contain, and those that a person has deleted.
  var (words, deleted): (Set<String>, Set<String>) = ([], [])
  var authors: [String: String] = [:]
  /// Buffers whose service is dead, and the people whose editors show them.
  var orphans: [(person: SimulatedPerson, buffer: ModelBuffer, service: SimulatedService)] = []
  var path = ""
  var id = ""
  /// - Parameters:
  ///   - without: steps to leave out, to find those that a failure needs.
  ///   - faults: what goes wrong beside the steps.
  public init(seed: UInt64, without: Set<Step> = [], faults: Set<Fault> = []) {
    (self.seed, self.without) = (seed, without)
    injector = FaultInjector(faults, seed: seed)
    random = RandomSource(SplitMix64(seed: seed))
    network = SimulatedNetwork(
      clock: clock, random: RandomSource(SplitMix64(seed: seed &+ 1)), longestDelay: .milliseconds(60))
  }

  /// - Throws: `Failure` with the seed if something is not as it should be.
  public func run(steps: Int) async throws {
    SingleThread.shared.begin(seed: seed)
    try await begin()
    for _ in 0..<steps {
      act()
      inject()
      await pass(.milliseconds(below(60)))
    }
    try await settle()
  }

  public var simulatedSeconds: Double { clock.now / .seconds(1) }

  func below(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &random) }

  /// A word that has nothing in common with any other: how a diff treats similar words is not tested here.
  func newWord(of name: String) -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz")
    let word = String((0..<8).map { _ in letters[below(letters.count)] })
    report.words += 1
    words.insert(word)
    authors[word] = name
    return word
  }

  func note(_ text: String) { history.append("\(clock.now / .milliseconds(1)) ms: \(text)") }

  func failure(_ text: String) -> Failure { Failure(description: "seed \(seed), at \(clock.now): \(text)") }

  // MARK: Time

  /// Lets this much time pass, with all that happens in it.
  func pass(_ duration: Duration) async {
    let end = clock.now + duration
    repeat {
      await settleTasks()
      if watchesDocuments { noteTroubles() }
    } while clock.runNext(until: end)
    clock.advance(by: max(.zero, end - clock.now))
  }

  /// Lets time pass until the condition is true.
  func wait(for what: String, within longest: Duration = .seconds(60), _ condition: () throws -> Bool) async throws {
    let end = clock.now + longest
    while try !condition() {
      guard clock.now < end else { throw failure("waited for \(what)") }
      await pass(.milliseconds(50))
    }
  }

  /// Runs what can run now, until no work off the loop is left either. Beside other tests the simulation cannot tell;
  /// then the order in which such work returns may differ from run to run.
  private func settleTasks() async {
    if SingleThread.shared.isRunning {
      repeat { await AutomergeRepo.yield() } while SingleThread.shared.hasJobs
      return
    }
    var (quietLooks, looks) = (0, 0)
    while quietLooks < 2, looks < Self.maximumLooks {
      for _ in 0..<4 { await Task.yield() }
      looks += 1
      if OtherThreads.areAsleep() {
        quietLooks += 1
      } else {
        quietLooks = 0
        sched_yield()
      }
    }
  }

  private static let maximumLooks = 200

  func request(_ method: String, _ params: JSONValue, of service: SimulatedService) async throws -> JSONValue {
    let number = service.request(method, params)
    try await wait(for: method) { service.answer(to: number) != nil }
    guard let result = service.answer(to: number)?["result"] else {
      throw failure("\(method): \(service.answer(to: number) ?? .null)")
    }
    return result
  }

  // MARK: Beginning

  func begin() async throws {
    for name in ["ana", "ben", "eva"].prefix(2 + below(2)) {
      let person = SimulatedPerson(name, network, clock: clock, random: &random)
      person.disk.onWrite = { [weak self] path, bytes, writer in
        self?.note("\(writer) writes \(name)'s \(path): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
      }
      people.append(person)
    }
    prepareFaults()
    tidy()
    let first = people[0].start(random: &random)
    try await wait(for: "the first service") { first.isLoaded && first.sharing.hasNetwork }
    let note = try await request("notes/create", ["title": "Plan", "text": "start\n"], of: first)
    (path, id) = (note["path"]?.stringValue ?? "", note["id"]?.stringValue ?? "")
    words.insert("start")
    openBuffer(first, of: people[0])
    for person in people.dropFirst() {
      let service = person.start(random: &random)
      try await wait(for: "\(person.name)'s service") { person.hasNetwork && service.isLoaded }
      connect()
      let note = try await request("notes/open", ["id": .string(id)], of: service)
      guard note["path"]?.stringValue == path else { throw failure("\(note)") }
      openBuffer(service, of: person)
    }
  }

  /// An editor opens the note's file.
  func openBuffer(_ service: SimulatedService, of person: SimulatedPerson) {
    guard let bytes = person.disk[path] else { return }
    let buffer = ModelBuffer(
      uri: "file://" + path, id: id, text: String(decoding: bytes, as: UTF8.self), version: service.closedVersion + 1)
    service.show(buffer, reattach: false)
  }

  /// Elects hubs and connects the services that can reach each other, at intervals.
  private func tidy() {
    for person in people where person.clock.wakesAt == nil { person.tidy() }
    connect()
    clock.schedule(after: Self.tidyInterval) { [weak self] in self?.tidy() }
  }

  func connect() {
    for one in people {
      for other in people where one.name < other.name && one.hasNetwork && other.hasNetwork {
        let areAwake = one.clock.wakesAt == nil && other.clock.wakesAt == nil
        if areAwake, !partitions.contains([one.name, other.name]) {
          network.connect(PeerId(one.name), PeerId(other.name))
        }
      }
    }
  }
}
