import AutomergeRepo
import Foundation

/// All notes of the store, as records in memory and on disk.
@AutomergeRepo
final class Notebook {
  private(set) var records: [DocumentId: NoteRecord] = [:]
  private var idsByPath: [String: DocumentId] = [:]
  private let storage: any StorageProvider

  init(storage: any StorageProvider) { self.storage = storage }

  /// Reads every record. Notes that another process of the same person made meanwhile come by a later `load`.
  func load() async throws(StorageError) {
    for item in try await storage.loadRange([NoteRecord.collection]) {
      guard item.key.count == 2, let id = DocumentId(item.key[1]), records[id] == nil,
        let record = NoteRecord(id: id, item.data)
      else { continue }
      remember(record)
    }
  }

  subscript(id: DocumentId) -> NoteRecord? { records[id] }

  func record(atPath path: String) -> NoteRecord? { idsByPath[path].flatMap { records[$0] } }

  /// Newest first.
  var byModification: [NoteRecord] {
    records.values.sorted { ($0.modified, $0.id.description) > ($1.modified, $1.id.description) }
  }

  /// The newest note with this title; one that differs only in case if there is none.
  func record(titled title: String) -> NoteRecord? {
    let notes = byModification
    return notes.first { $0.title == title } ?? notes.first { $0.title.lowercased() == title.lowercased() }
  }

  /// Keeps the record in memory; `save` or the document's next commit puts it on disk.
  func remember(_ record: NoteRecord) {
    if let path = records[record.id]?.path, path != record.path { idsByPath[path] = nil }
    records[record.id] = record
    if let path = record.path { idsByPath[path] = record.id }
  }

  /// Changes a record in memory; nothing if there is none.
  func update(_ id: DocumentId, _ change: (inout NoteRecord) -> Void) {
    guard var record = records[id] else { return }
    change(&record)
    remember(record)
  }

  func save(_ id: DocumentId) async throws(StorageError) {
    guard let record = records[id] else { return }
    try await storage.save(record.storageKey, record.encoded())
  }
}
