import Automerge
import AutomergeRepo
import Foundation

/// Creates the working file of a note that has none:
///
///     document and record stored ──► file made
///
/// In this order an editor that opens the file always finds a note, and a process that is killed in between leaves neither a
/// record without a document nor a file without a record.
@AutomergeRepo
struct WorkingFileMaker {
  private let environment: ServiceEnvironment
  private let planner: any WorkingFilePlanner

  private var notebook: Notebook { environment.notebook }

  init(_ environment: ServiceEnvironment, _ planner: any WorkingFilePlanner) {
    (self.environment, self.planner) = (environment, planner)
  }

  /// Finds a free name in `directory`, or takes the one that a buffer still shows, writes the note's text there, and stores the record.
  func make(
    for handle: DocHandle, _ note: NoteDocument? = nil, title: String, directory: String
  ) async throws -> NoteRecord {
    guard let note = note ?? NoteDocument(handle.document) else {
      throw NotesError(.notANote, "The document \(handle.id) contains no text.")
    }
    let key = NoteKey(handle.id, item: note.item)
    // Another process of this person may be making it: the lock prevents one file for each process.
    let turn = await environment.turn("make-" + key.lockName)
    defer { withExtendedLifetime(turn) {} }
    // Read at the same time as the record: a person who joins waits for both.
    async let names = environment.files.names(in: directory)
    try await notebook.refresh(key)
    if let made = notebook[key], made.path != nil || made.successor != nil {
      if made.path != nil { planner.watch(handle) }
      return made
    }
    // A buffer may still show what the file contained before the note was deleted.
    if notebook[key] != nil { try await notebook.loadBase(of: key) }
    let taken = Set(try await names ?? [])
    let now = environment.clock.date
    var record =
      notebook[key]
      ?? NoteRecord(id: handle.id, item: note.item, title: title, created: note.created ?? now, modified: now)
    var left = try await leftPath(of: record)
    record.leftPath = nil
    var free = FileName.candidates(for: title).lazy.filter { !taken.contains($0) }.makeIterator()
    while let path = left ?? free.next().map({ (directory as NSString).appendingPathComponent($0) }) {
      left = nil
      if notebook.record(atPath: path) != nil { continue }
      let text = DocumentText(note).allUTF8
      let heads = handle.document.heads()
      let bytes = FileContents(text: text, shape: record.shape).bytes
      record.path = path
      record.fileBase = TextBase(writing: text, .identity, at: heads, of: note)
      record.textObject = note.textObject
      record.deletionSeen = record.deletionSeen ?? NoteDocument.deletion(of: handle.document)
      record.words = Words.count(text)
      guard try await placed(record, bytes, handle) else { continue }
      planner.watch(handle)
      // Changes that peers made while the file was being made were not observed.
      if handle.document.heads() != heads { planner.plan(handle, text: note.content) }
      return notebook[key] ?? record
    }
    throw NotesError(.conflict, "No free file name was found for \"\(title)\" in \(directory).")
  }

  /// The file that a buffer may still show since the note was deleted; nil if its folder is gone, or another file has the name.
  private func leftPath(of record: NoteRecord) async throws -> String? {
    guard let path = record.leftPath.map({ $0 as NSString }),
      let names = try await environment.files.names(in: path.deletingLastPathComponent),
      !names.contains(path.lastPathComponent)
    else { return nil }
    return path as String
  }

  /// Stores document and record, then makes the file, so that an editor that opens the file finds a note, never a plain
  /// file. Returns false, with the record as it was, if another program has just used the name.
  private func placed(_ record: NoteRecord, _ bytes: [UInt8], _ handle: DocHandle) async throws -> Bool {
    guard let path = record.path else { return false }
    // While we hold the lock, no other code of this process makes the file, since all code that follows the record
    // does.
    let claim = environment.files.claim(record.key.lockName, exclusively: true)
    defer { withExtendedLifetime(claim) {} }
    let before = notebook[record.key]
    notebook.remember(record)
    do {
      try await notebook.save(record.key, with: handle)
      let isMade = try await environment.files.create(path, bytes)
      if !isMade { try await revert(record, before) }
      return isMade
    } catch {
      try? await revert(record, before)
      throw error
    }
  }

  private func revert(_ record: NoteRecord, _ before: NoteRecord?) async throws(StorageError) {
    guard let before else { return try await notebook.remove(record.key) }
    notebook.remember(before)
    try await notebook.save(record.key)
  }
}
