import Automerge
import AutomergeRepo
import Foundation

/// Removes the working files of deleted notes and items, but no word that only a file has:
///
///     read ──► keep what the note lacks ──► remove, unless another program has written the file meanwhile: read again
@AutomergeRepo
struct WorkingFileRemover {
  /// How many times the file is read if another program keeps writing it.
  private static let maximumAttempts = 10

  private let environment: ServiceEnvironment
  private let recoveredTexts: RecoveredTexts

  init(_ environment: ServiceEnvironment, _ recoveredTexts: RecoveredTexts) {
    (self.environment, self.recoveredTexts) = (environment, recoveredTexts)
  }

  /// Removes the record's file; does nothing if there is none. What the file has and the note never had becomes a recovered text.
  func remove(fileOf record: NoteRecord, _ handle: DocHandle) async throws {
    if let path = record.path { try await remove(path, of: record, NoteDocument(handle.document, item: record.item)) }
    recoveredTexts.fileIsGone(ofDeleted: record.key)
  }

  private func remove(_ path: String, of record: NoteRecord, _ note: NoteDocument?) async throws {
    var last: [UInt8]?
    for _ in 0..<Self.maximumAttempts {
      let date = environment.clock.date
      guard case .found(let bytes, let mark) = try await environment.files.look(path, since: nil) else { return }
      let dates = date...max(date, environment.clock.date)
      if bytes != last, await !has(note, bytes, record) {
        // A program may be writing the rest.
        if let rest = mark.timeUntilSettled(readFrom: dates), await environment.clock.pause(for: .seconds(rest)) {
          continue
        }
        try await keep(bytes, of: record, isItemDeleted: note == nil)
      }
      guard let others = try await environment.files.remove(path, of: bytes) else { return }
      if others != bytes, await !has(note, others, record) {
        try await keep(others, of: record, isItemDeleted: note == nil)
      }
      last = others
    }
    throw NotesError(.conflict, "Another program is writing \((path as NSString).lastPathComponent); try again.")
  }

  /// Whether the note has or had this text, so that the file need not be kept.
  private func has(_ note: NoteDocument?, _ bytes: [UInt8], _ record: NoteRecord) async -> Bool {
    guard let note else {
      // A shell's `>` empties a file first.
      if bytes.isEmpty { return record.words == 0 }
      return await recoveredTexts.hasKept(bytes, ofDeleted: record.key)
    }
    guard let contents = try? await FileContents.reading(bytes, known: record.shape) else { return false }
    let base = record.base(for: note)
    return ([DocumentText(note).allUTF8] + (base?.texts(of: note) ?? [])).contains { contents.text(besides: $0) == $0 }
  }

  private func keep(_ bytes: [UInt8], of record: NoteRecord, isItemDeleted: Bool) async throws {
    guard !bytes.isEmpty else { return }
    let reason = isItemDeleted ? "its agenda item \"\(record.title)\" was deleted" : RecoveredText.overwritten
    try await recoveredTexts.keep(
      RecoveredText(
        id: record.id, itemTitle: record.item == nil ? nil : record.title, stamp: recoveredTexts.newStamp(),
        reason: reason, text: bytes))
    recoveredTexts.tellSoon()
  }
}
