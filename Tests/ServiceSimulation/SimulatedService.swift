import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import NotesServer
import RepoTestSupport

/// A whole service with its editor in this process: the real session, notes and repo over a simulated disk and network.
@AutomergeRepo
final class SimulatedService {
  let name: PeerId
  let run: String
  let repo: Repo
  let sharing: SimulatedSharing
  let service: Service
  private let process: SimulatedProcess
  private let clock: MachineClock
  private var session: Session?
  private var random: RandomSource
  /// When the last message to the service arrives, and the last one to the editor: pipes keep the order.
  private var (lastIn, lastOut) = (Duration.zero, Duration.zero)
  /// When the service reads of the editor's last save.
  private var saveIsRead = Duration.zero
  /// The words that the editor had just written to the file when the service was killed, before it had read of them.
  private(set) var savedUnheard: Set<String> = []
  private var answers: [Int: JSONValue] = [:]
  private var requestCount = 0
  /// What the editor shows; it outlives the service.
  private(set) var buffer: ModelBuffer?
  private var closedText: String?
  /// The highest version of any buffer that the editor has closed; the next one starts above it, as in the plugins.
  private(set) var closedVersion = 0
  /// The SHA-256 of what the note is known to have of its file.
  private(set) var knownDigest: String?
  private(set) var isLoaded = false
  /// The note's status as the editor last received it, and the request for it that has no answer yet.
  private(set) var status: JSONValue?
  private var statusRequest: Int?
  /// The earliest time at which this service and the person's others find each other.
  private let foundAt: Duration
  private let onStored: (SimulatedService) -> Void
  /// By how much the editor delays each read.
  var slowness = Duration.zero

  var isAlive: Bool { process.isAlive }
  var journalIsBroken: Bool { process.journalIsBroken }
  var isToBeFound: Bool { clock.now >= foundAt }

  init(_ person: SimulatedPerson, number: Int, random: inout RandomSource) {
    name = PeerId("\(person.name)/\(number)")
    let actor = ActorId(data: Data(person.key + random.bytes(8))) ?? ActorId()
    run = actor.hexadecimal
    process = SimulatedProcess(
      number, run: run, disk: person.disk, random: RandomSource(SplitMix64(seed: random.next())))
    self.random = RandomSource(SplitMix64(seed: random.next()))
    clock = person.disk.clock
    onStored = person.onStored
    foundAt = clock.now + .milliseconds(Int64.random(in: 0...2_000, using: &self.random))
    let store = SimulatedStore(process)
    repo = Repo(
      peerId: PeerId(person.name), metadata: PeerMetadata(name: person.name), storage: store,
      sharePolicy: SimulatedGrants(), clock: clock,
      random: RandomSource(SplitMix64(seed: random.next())))
    sharing = SimulatedSharing(repo)
    service = Service(
      repo: repo, storage: store, sharing: sharing, files: SimulatedFiles(process), clock: clock,
      folder: NotesFolder("/notes"),
      identity: Service.Identity(
        peer: repo.peerId, name: person.name, person: String(run.prefix(16)), actor: actor),
      name: PersonName(login: person.name), journal: SimulatedJournal(process))
    service.seeksSiblings()
    repo.add(SimulatedSibling(name: name, person.siblingNetwork))
    start()
  }

  private func start() {
    let session = Session(service: service) { [weak self] frame in self?.take(frame) }
    self.session = session
    send("initialize", ["initializationOptions": ["notes": ["protocol": 1]]], id: 0)
    Task { @AutomergeRepo in
      try await service.load(watching: SimulatedFolders(process))
      session.serviceIsLoaded()
      isLoaded = true
    }
  }

  /// Ends the service as a kill does: it sends, stores and answers nothing more.
  func crash() {
    if saveIsRead > clock.now, let buffer {
      let known = Set(documentText(buffer.id).split(separator: "\n"))
      savedUnheard = Set(buffer.text.string.split(separator: "\n").filter { !known.contains($0) }.map(String.init))
    }
    process.die()
    session = nil
  }

  // MARK: The editor

  /// What the service wrote before a kill still reaches the editor.
  private func take(_ frame: [UInt8]) {
    guard isAlive, let start = frame.firstIndex(of: UInt8(ascii: "{")),
      let message = try? JSONValue(parsing: Array(frame[start...]))
    else { return }
    if message["method"] == "notes/statusChanged", message["params"]?["stored"] == true { onStored(self) }
    lastOut = max(later(than: lastOut), clock.now + slowness)
    clock.schedule(after: lastOut - clock.now) { [weak self] in self?.received(message) }
  }

  private func received(_ message: JSONValue) {
    if let id = message["id"]?.intValue, message["method"] == nil { return answered(id, message) }
    guard let method = message["method"]?.stringValue, let params = message["params"] else { return }
    if method == "notes/statusChanged" { status = params }
    if method == "notes/file" { knownDigest = params["sha256"]?.stringValue }
    buffer?.receive(method, params)
  }

  private func answered(_ id: Int, _ message: JSONValue) {
    answers[id] = message
    guard id == statusRequest else { return }
    statusRequest = nil
    let result = message["result"]
    if let result, result["documents"] == nil { return status = result }
    // The service is still opening the note.
    clock.schedule(after: Self.statusInterval) { [weak self] in self?.askForStatus() }
  }

  private static let statusInterval: Duration = .milliseconds(300)

  /// Asks for the status once, as the plugins do for a buffer that they show.
  private func askForStatus() {
    guard let buffer, statusRequest == nil else { return }
    statusRequest = request("notes/status", ["uri": .string(buffer.uri)])
  }

  private func send(_ method: String, _ params: JSONValue, id: Int? = nil) {
    let message = JSONValue.object(present: [
      "jsonrpc": "2.0", "id": id.map { JSONValue($0) }, "method": .string(method), "params": params,
    ])
    let body = message.encoded()
    lastIn = later(than: lastIn)
    clock.schedule(after: lastIn - clock.now) { [weak self] in
      self?.session?.receive(Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body)
    }
  }

  private func later(than last: Duration) -> Duration {
    max(last, clock.now + .microseconds(Int64.random(in: 20...4_000, using: &random)))
  }

  /// Whether the editor has not yet read what the service has sent; until it has, it does nothing else with the
  /// service.
  var editorIsBehind: Bool { lastOut > clock.now }

  /// Keeps the editor from reading for this long.
  func hang(for duration: Duration) { lastOut = max(lastOut, clock.now + duration) }

  func notify(_ method: String, _ params: JSONValue) {
    send(method, params)
    if method == "textDocument/didSave" { saveIsRead = lastIn }
  }

  /// Sends a request; `answer` has the response.
  func request(_ method: String, _ params: JSONValue) -> Int {
    requestCount += 1
    send(method, params, id: requestCount)
    return requestCount
  }

  func answer(to request: Int) -> JSONValue? { answers[request] }

  /// The editor shows a buffer, which may have outlived another service.
  func show(_ buffer: ModelBuffer, reattach: Bool) {
    self.buffer = buffer
    status = nil
    buffer.attach(to: run, reattach: reattach) { [weak self] method, params in self?.send(method, params) }
    askForStatus()
  }

  /// Call when the editor continues with another service.
  func forgetBuffer() { buffer = nil }

  func closeBuffer() {
    buffer?.close()
    closedText = buffer?.text.string
    closedVersion = max(closedVersion, buffer?.version ?? 0)
    buffer = nil
  }

  /// The text of a buffer that was just closed, until the service has read that it was closed and could store it.
  var textClosedUnread: String? { lastIn > clock.now || process.disk.failure != nil ? closedText : nil }
}
