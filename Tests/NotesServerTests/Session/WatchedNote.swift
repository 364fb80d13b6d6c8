import AutomergeRepo
import Foundation
import JSONRPC
import RepoTestSupport
import Synchronization
import TestSupport
import Testing

@testable import NotesServer

/// A service with the note "Shopping", whose text is "tea", and whose folder the service watches.
@AutomergeRepo
struct WatchedNote {
  let world: RepoWorld
  let folders = MemoryFolders()
  let path = "/notes/Shopping.md"
  let service: ServiceUnderTest
  let id: DocumentId
  let handle: DocHandle

  var uri: String { "file://" + path }
  var text: String? { service.text(of: id) }
  /// The lines of the note, in alphabetical order: two insertions at one place may come in either order.
  var lines: [String] { text.map(Self.lines) ?? [] }
  var file: String? { service.files[path].map { String(decoding: $0, as: UTF8.self) } }
  var fileLines: [String] { file.map(Self.lines) ?? [] }

  private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init).sorted() }

  init(seed: UInt64, client: JSONValue = ServiceUnderTest.plugin) async throws {
    world = RepoWorld(random: RandomSource(SeededGenerator(seed: seed)))
    service = ServiceUnderTest(world)
    try await service.start(watching: folders, client: client)
    let made = try await service.request("notes/create", ["title": "Shopping", "text": "tea\n"])
    id = try #require(made["id"]?.stringValue.flatMap { DocumentId($0) })
    handle = try await service.handle(of: id)
    let (sync, id) = (service.service.fileSync, id)
    try await service.wait(for: "quiet") { !sync.isPlanned(id) }
  }

  /// Another program writes the file, and the system reports it.
  ///
  /// - Parameter isJust: whether the file was written at this moment, and may be unfinished.
  func write(_ text: String, isJust: Bool = false) {
    service.files.write(path, text, at: isJust ? world.clock.date : nil)
    folders.changed(path)
  }

  /// Another program is writing the file: each time the service looks, it finds the next part, written at that moment;
  /// the last part is complete. Only the last may equal what the note has already: then the service has no reason to
  /// look again.
  ///
  /// - Parameter seemOld: whether the file's dates say nothing, and the system reports each part.
  func write(inParts parts: [String], seemOld: Bool = false) {
    let (files, folders, path, clock) = (service.files, folders, path, world.clock)
    let count = Mutex(0)
    files.onLook.withLock {
      $0 = { looked in
        guard looked == path else { return }
        // Looks may overlap: the parts are written in order, whichever look waits for the time.
        let date = await clock.date
        let isWritten = count.withLock { count in
          guard count < parts.count else { return false }
          files.write(path, parts[count], at: count + 1 < parts.count && !seemOld ? date : nil)
          count += 1
          return true
        }
        if isWritten, seemOld { await folders.changed(path) }
      }
    }
    folders.changed(path)
  }

  /// Another person's line comes first in the note.
  func receive(_ line: String) throws {
    let note = try #require(NoteDocument(handle.document))
    try handle.change {
      try $0.spliceText(obj: note.content, utf8Offset: 0, deleteUTF8: 0, insert: Array((line + "\n").utf8))
    }
    service.service.fileSync.plan(handle)
  }

  /// The editor shows the file, and the service has looked at it.
  func open() async throws {
    service.open(uri, file ?? "")
    let (service, uri, key) = (service, uri, NoteKey(id))
    try await service.wait(for: "the note") { service.binding(uri) != nil }
    try await service.wait(for: "the first look") { !service.service.openFiles.isBusy(key) }
  }

  func close() { service.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]]) }

  /// The editor says that it wrote the file.
  func save() { service.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]]) }

  func wait(for what: String, _ condition: @AutomergeRepo () -> Bool) async throws {
    try await service.wait(for: what, condition)
  }

  /// Waits for the effect of a file that is written in parts. Time passes slowly while something is read, so that no part
  /// counts as finished because a busy machine took long.
  func waitForParts(_ condition: @AutomergeRepo () -> Bool) async throws {
    try await service.wait(for: "the last part", timesFaster: 2, atRest: 20, condition)
  }
}
