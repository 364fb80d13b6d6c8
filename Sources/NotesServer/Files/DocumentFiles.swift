import Automerge
import AutomergeRepo
import Cryptography
import Foundation
import Logging

/// Document files: files outside the notes directory that contain a note with its history, as MeetingNotes saves it,
/// and that were opened here. Writes each change of the note to them, and merges what other programs save there into
/// the note.
///
///     a change of the document, a save in the editor, an event of the folder
///          └──► plan ──a moment later──► synchronize: read, merge, and write if the file lacks something
///
/// Does not touch a file that is damaged, if only in part, or now contains another document, and tells the person once.
@AutomergeRepo
final class DocumentFiles {
  /// The pause between a change and writing the file; more changes in between cost nothing.
  static let writeDelay: Duration = .milliseconds(500)
  /// The additional pause for a large file, per megabyte, since the whole file is written.
  private static let writeDelayOfMegabyte: Duration = .seconds(1)
  /// The pause after a failure, such as a full disk.
  private static let retryDelay: Duration = .seconds(5)

  private let environment: ServiceEnvironment
  private let fileSync: WorkingFileSync
  private var watched: [DocumentId: Observation] = [:]
  private var planned: [DocumentId: any ScheduledAction] = [:]
  /// What each file contained when it was last read or written.
  private var known: [String: KnownFile] = [:]
  private var troubles = FileTroubles()
  /// Called with the path of a file that needs watching.
  var onPlace: ((String) -> Void)?
  private let log = Logger(label: "files")

  private struct KnownFile {
    let digest: SHA256.Digest
    let heads: Set<ChangeHash>
    let byteCount: Int
  }

  init(_ environment: ServiceEnvironment, _ fileSync: WorkingFileSync) {
    (self.environment, self.fileSync) = (environment, fileSync)
  }

  private func paths(of id: DocumentId) -> [String] {
    guard let record = environment.notebook[id], record.deletedSince == nil else { return [] }
    return record.documentFiles
  }

  /// Keeps the files of this document up to date from now on. Further calls do nothing.
  func watch(_ handle: DocHandle) {
    guard watched[handle.id] == nil, !paths(of: handle.id).isEmpty else { return }
    watched[handle.id] = handle.observe { [weak self, weak handle] event in
      if case .headsChanged = event, let self, let handle { self.plan(handle, after: self.delay(of: handle.id)) }
    }
    paths(of: handle.id).forEach { onPlace?($0) }
    plan(handle, after: Self.writeDelay)
  }

  /// Call when the document was released from memory.
  func forget(_ id: DocumentId) { watched.removeValue(forKey: id)?.cancel() }

  func isPlanned(_ id: DocumentId) -> Bool { planned[id] != nil }

  /// Makes the file one of the note's, and synchronizes the two.
  func link(_ path: String, to handle: DocHandle) async throws {
    environment.notebook.update(handle.id) { $0.addDocumentFile(path) }
    try await environment.notebook.save(handle.id, withBase: false)
    troubles.end(of: path)
    watch(handle)
    onPlace?(path)
    try await synchronize(handle, makingFiles: true)
  }

  /// Call when the editor has saved the note, or a part of it. A file that was removed is made again.
  func saved(_ handle: DocHandle) {
    guard watched[handle.id] != nil else { return }
    plan(handle, after: .zero, makingFiles: true)
  }

  /// Call when another program may have written this file. False if it is not a document file.
  func changed(_ path: String) -> Bool {
    guard let id = environment.notebook.document(inFile: path) else { return false }
    if let handle = environment.repo.handle(of: id) {
      plan(handle, after: FileWatcher.quietTime)
    } else {
      // Loading the document makes `watch` run, which synchronizes the two.
      Task { @AutomergeRepo in _ = await environment.repo.search(id) }
    }
    return true
  }

  private func delay(of id: DocumentId) -> Duration {
    let byteCount = paths(of: id).compactMap { known[$0]?.byteCount }.max() ?? 0
    return Self.writeDelay + Self.writeDelayOfMegabyte * (byteCount >> 20)
  }

  private func plan(_ handle: DocHandle, after delay: Duration, makingFiles: Bool = false) {
    let id = handle.id
    planned[id]?.cancel()
    planned[id] = environment.clock.schedule(after: delay) { [weak self] in
      self?.planned[id] = nil
      Task { @AutomergeRepo in await self?.attempt(handle, makingFiles: makingFiles) }
    }
  }

  private func attempt(_ handle: DocHandle, makingFiles: Bool) async {
    do {
      try await synchronize(handle, makingFiles: makingFiles)
    } catch {
      log.warning("A document file of \(handle.id) was not brought up to date: \(error)")
      paths(of: handle.id).forEach { tell("could not be written; trying again", of: $0) }
      if !isPlanned(handle.id) { plan(handle, after: Self.retryDelay, makingFiles: makingFiles) }
    }
  }

  /// Writes all pending changes at once.
  func settle() async {
    for (id, action) in planned {
      action.cancel()
      planned[id] = nil
      if let handle = environment.repo.handle(of: id) { try? await synchronize(handle) }
    }
  }

  /// Synchronizes the note and all its files.
  ///
  /// - Parameter makingFiles: whether to make files again that another program removed
  private func synchronize(_ handle: DocHandle, makingFiles: Bool = false) async throws {
    guard !paths(of: handle.id).isEmpty else { return }
    guard let turn = await environment.turn("document-" + handle.id.description) else {
      return plan(handle, after: Self.writeDelay, makingFiles: makingFiles)
    }
    defer { withExtendedLifetime(turn) {} }
    for path in paths(of: handle.id) { try await synchronize(path, handle, makingFile: makingFiles) }
  }

  private func synchronize(_ path: String, _ handle: DocHandle, makingFile: Bool) async throws {
    let bytes: [UInt8], date = environment.clock.date
    switch try await environment.files.look(path, since: nil) {
    case .missing, .unchanged:
      if makingFile { try await write(handle, like: nil, to: path, holding: nil) }
      return
    case .found(let found, let mark):
      let dates = date...max(date, environment.clock.date)
      if let rest = mark.timeUntilSettled(readFrom: dates), known[path]?.digest != SHA256.hash(data: found) {
        return plan(handle, after: .seconds(rest))
      }
      bytes = found
    }
    let digest = SHA256.hash(data: bytes)
    let file = MeetingNotesFile(bytes)
    if known[path]?.digest != digest {
      guard let heads = try await takeIn(bytes, file, path, handle) else { return }
      known[path] = KnownFile(digest: digest, heads: heads, byteCount: bytes.count)
    }
    guard known[path]?.heads != handle.document.heads() else { return }
    try await write(handle, like: file, to: path, holding: bytes)
  }

  /// Merges the file's document into the note.
  ///
  /// - Returns: the heads of the file's document; nil if the file must not be written
  private func takeIn(
    _ bytes: [UInt8], _ file: MeetingNotesFile?, _ path: String, _ handle: DocHandle
  ) async throws -> Set<ChangeHash>? {
    let found: Document, leftOut: ForeignFile.LeftOut?
    do {
      guard case .document(let file, _) = try await ImportedFile.read(bytes) else { throw NotesError.notANote }
      (found, leftOut) = (file.document, file.leftOut)
    } catch {
      tell("is damaged; left as it is", of: path)
      return nil
    }
    let isNamed = file.map { environment.notebook.latest($0.id) == handle.id } ?? true
    guard isNamed, handle.document.isCopy(found) else {
      environment.notebook.update(handle.id) { record in record.documentFiles.removeAll { $0 == path } }
      try await environment.notebook.save(handle.id, withBase: false)
      tell("has another document now; left as it is", of: path)
      return nil
    }
    let heads = found.heads()
    // What could not be read is kept for other programs, which may read it.
    let read = leftOut == nil ? heads : nil
    defer {
      if leftOut != nil { tell("cannot be read whole; left as it is", of: path) }
    }
    guard !handle.document.unknown(heads).isEmpty else { return read }
    guard environment.mayWrite(handle.id) else {
      tell("has changes, but the note is read-only", of: path)
      return nil
    }
    try handle.merge(found)
    try await handle.flush()
    if leftOut == nil { troubles.end(of: path) }
    log.notice("Merged another program's changes to a document file of \(handle.id).")
    fileSync.changedOutside(handle)
    return read
  }

  /// Writes the file in its present form; a new one in the form that its name implies.
  private func write(
    _ handle: DocHandle, like file: MeetingNotesFile?, to path: String, holding bytes: [UInt8]?
  ) async throws {
    let heads = handle.document.heads()
    let isEnvelope = file != nil || (bytes == nil && ExportRequest.Format(path: path) == .meetingnotes)
    let envelope = isEnvelope ? file ?? MeetingNotesFile(id: handle.id, data: Data()) : nil
    let new = await Self.encoded(handle.document.fork(), in: envelope)
    let others = try await environment.files.replace(path, new, of: bytes)
    known[path] = KnownFile(digest: SHA256.hash(data: new), heads: heads, byteCount: new.count)
    troubles.end(of: path)
    // Another program wrote the file between our read and our write. That is merged, and the file written again.
    guard let others else { return }
    let merged: Set<ChangeHash>?
    do {
      merged = try await takeIn(others, MeetingNotesFile(others), path, handle)
    } catch {
      // Nothing else has what it wrote.
      known[path] = nil
      try await putBack(others, path, over: new)
      throw error
    }
    if let merged {
      await environment.files.makeDurable(path)
      if merged != heads { plan(handle, after: Self.writeDelay) }
    } else {
      known[path] = nil
      try await putBack(others, path, over: new)
    }
  }

  /// Writes what another program had written and what cannot be merged, unless a program has written the file once more.
  private func putBack(_ theirs: [UInt8], _ path: String, over ours: [UInt8]) async throws {
    var (bytes, expected) = (theirs, ours)
    while let later = try await environment.files.replace(path, bytes, of: expected) {
      (bytes, expected) = (later, bytes)
    }
    await environment.files.makeDurable(path)
  }

  /// Off the loop, because a large document takes time.
  @concurrent
  private static func encoded(_ document: Document, in envelope: MeetingNotesFile?) async -> [UInt8] {
    let data = document.save()
    guard var envelope else { return Array(data) }
    envelope.data = data
    return envelope.encoded
  }

  /// Tells the person once, until the file is valid again.
  private func tell(_ what: String, of path: String) {
    if let message = troubles.message(what, of: path) { environment.events.send(.fileNews(message: message)) }
  }
}
