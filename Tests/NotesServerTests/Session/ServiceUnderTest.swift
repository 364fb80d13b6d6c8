import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import ServiceSimulation
import TestSupport

@testable import NotesServer

/// A service with its editor, in this process: a simulated network, a clock that the test advances, store and files in
/// memory.
@AutomergeRepo
final class ServiceUnderTest {
  /// A service lives as long as its process, and its parts rely on that.
  private static var all: [ServiceUnderTest] = []

  let world: RepoWorld
  let files: MemoryFiles
  let sharing = LoneSharing()
  let service: Service
  private(set) lazy var session = Session(service: service) { [weak self] frame in self?.take(frame) }
  /// The messages to the editor.
  private(set) var sent: [JSONValue] = []
  /// Called with each message to the editor.
  var onMessage: (@AutomergeRepo (JSONValue) -> Void)?

  /// - Parameter files: those of an earlier service of the same name.
  init(
    _ world: RepoWorld, _ name: String = "ben", files: MemoryFiles = MemoryFiles(),
    journal: any JournalAccess = NoJournal(), unsent: (any UnsentFileAccess)? = nil
  ) {
    self.world = world
    self.files = files
    let repo = world.start(name)
    let actor = ActorId()
    service = Service(
      repo: repo, storage: repo.storage ?? InMemoryStorage(), sharing: sharing, files: files, clock: world.clock,
      folder: NotesFolder("/notes", realPath: "/disk/notes"),
      identity: Service.Identity(
        peer: PeerId(name), name: name, person: String(actor.hexadecimal.prefix(16)), actor: actor),
      name: PersonName(login: name), journal: journal, unsent: unsent)
    Self.all.append(self)
  }

  /// What a client with a plugin says of itself.
  static let plugin: JSONValue = ["initializationOptions": ["notes": ["protocol": 1]]]

  func start(watching folders: (any FolderWatching)? = nil, client: JSONValue = plugin) async throws {
    // On a busy machine minutes pass by this clock.
    service.idle.isEnabled = false
    try await service.load(watching: folders)
    session.serviceIsLoaded()
    send("initialize", client, id: 1)
  }

  private func take(_ frame: [UInt8]) {
    guard let start = frame.firstIndex(of: UInt8(ascii: "{")) else { return }
    guard let message = try? JSONValue(parsing: Array(frame[start...])) else { return }
    sent.append(message)
    onMessage?(message)
  }

  func forgetSent() { sent = [] }

  func send(_ method: String, _ params: JSONValue, id: Int? = nil) {
    send(
      JSONValue.object(present: [
        "jsonrpc": "2.0", "id": id.map { JSONValue($0) }, "method": .string(method), "params": params,
      ]))
  }

  func send(_ message: JSONValue) {
    let body = message.encoded()
    session.receive(Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body)
  }

  /// - Parameter run: the service that the buffer has outlived, if the editor names it.
  /// - Parameter opened: the text that the buffer was opened with, if no service has sent a message about it.
  func open(_ uri: String, _ text: String, reattach: Bool = false, run: String? = nil, opened: String? = nil) {
    let had = run.map { JSONValue.array([["run": .string($0), "version": 1, "rev": 0]]) }
    let notes = JSONValue.object(present: [
      "reattach": true, "run": run.map { .string($0) }, "had": had, "opened": opened.map { .string($0) },
    ])
    send(
      "textDocument/didOpen",
      .object(present: [
        "textDocument": ["uri": .string(uri), "languageId": "text", "version": 1, "text": .string(text)],
        "notes": reattach ? notes : nil,
      ]))
  }

  /// Replaces the whole text.
  func change(_ uri: String, _ text: String, version: Int, rev: Int = 0) {
    send(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(uri), "version": JSONValue(version)],
        "contentChanges": [["text": .string(text)]],
        "notes": ["rev": JSONValue(rev)],
      ])
  }

  func events(_ kind: String) -> [JSONValue] {
    sent.filter { $0["method"] == "notes/event" }.compactMap { $0["params"] }.filter { $0["kind"] == .string(kind) }
  }

  /// Lets time pass until the condition is true, but at most this many times faster than this process computes: work on
  /// other threads must not come too late by the clock, even if other programs keep the machine busy.
  ///
  /// - Parameter speedAtRest: how many times faster if there is no such work, if that is another number.
  func wait(
    for what: String, timesFaster speed: Int = 20, atRest speedAtRest: Int? = nil,
    _ condition: @AutomergeRepo () -> Bool
  ) async throws {
    let (start, began, computed) = (world.clock.now, ContinuousClock.now, ProcessorTime.ofThisProcess)
    while !condition() {
      for _ in 0..<3 { await Task.yield() }
      let passed = ContinuousClock.now - began
      guard passed < Patience.hang else { throw TimeIsUp(description: "waited for: \(what)") }
      var speed = speed
      if let speedAtRest, await OtherThreads.rest() { speed = speedAtRest }
      world.clock.runNext(until: start + min(passed, ProcessorTime.ofThisProcess - computed) * speed)
    }
  }

  /// Waits for work on other threads, without advancing the clock.
  func waitAsTimeStands(for what: String, _ condition: @AutomergeRepo () async throws -> Bool) async throws {
    let end = ContinuousClock.now + Patience.hang
    while try await !condition() {
      guard ContinuousClock.now < end else { throw TimeIsUp(description: "waited for: \(what)") }
      await Task.yield()
    }
  }

  /// Lets this much time pass.
  func pass(_ duration: Duration) async throws {
    let end = world.clock.now + duration
    try await wait(for: "\(duration)") { world.clock.now >= end }
  }

  private struct TimeIsUp: Error, CustomStringConvertible { let description: String }

  /// Carries out a request while time passes.
  func request(_ method: String, _ params: JSONValue) async throws -> JSONValue {
    let answer = Answer()
    Task { @AutomergeRepo in
      do throws(ResponseError) {
        answer.result = .success(try await session.perform(method, params))
      } catch {
        answer.result = .failure(error)
      }
    }
    try await wait(for: method) { answer.result != nil }
    return try answer.result?.get() ?? .null
  }

  @AutomergeRepo
  private final class Answer {
    var result: Result<JSONValue, ResponseError>?
  }

  func binding(_ uri: String) -> BufferBinding? {
    if case .attached(let binding)? = session.editor.buffers[uri] { binding } else { nil }
  }

  /// The document, read again if the service has released it: the clock advances while a busy machine handles a
  /// request.
  func handle(of id: DocumentId) async throws -> DocHandle {
    guard case .found(let handle) = await service.repo.find(id) else {
      throw TimeIsUp(description: "no document \(id)")
    }
    return handle
  }

  func text(of id: DocumentId) -> String? {
    service.repo.handle(of: id).flatMap { NoteDocument($0.document) }.map {
      String(decoding: DocumentText($0).allUTF8, as: UTF8.self)
    }
  }

  func recoveredTexts() async throws -> [String] {
    try await service.notebook.storage.loadRange([RecoveredText.collection]).compactMap { RecoveredText($0) }
      .map { String(decoding: $0.text, as: UTF8.self) }
  }
}
