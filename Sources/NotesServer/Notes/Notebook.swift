import AutomergeRepo
import Foundation

/// All notes of the store, as records in memory and on disk.
@AutomergeRepo
final class Notebook {
  private(set) var records: [DocumentId: NoteRecord] = [:]
  private var idsByPath: [String: DocumentId] = [:]
  private let storage: any StorageProvider

  init(storage: any StorageProvider) { self.storage = storage }

  /// Reads every record.
  func load() async throws(StorageError) {
    var bases: [String: Data] = [:]
    for item in try await storage.loadRange([NoteRecord.baseCollection]) where item.key.count == 2 {
      bases[item.key[1]] = item.data
    }
    for item in try await storage.loadRange([NoteRecord.collection]) {
      guard item.key.count == 2, let id = DocumentId(item.key[1]), records[id] == nil,
        var record = NoteRecord(id: id, item.data)
      else { continue }
      record.takeBase(bases[item.key[1]])
      remember(record)
    }
  }

  /// Reads one note's record again, since another process of the same person may have written it. Nothing changes if there
  /// is none.
  func refresh(_ id: DocumentId) async throws(StorageError) {
    let data = try await storage.load([NoteRecord.collection, id.description])
    guard let data, var record = NoteRecord(id: id, data) else { return }
    record.takeBase(try await storage.load([NoteRecord.baseCollection, id.description]))
    remember(record)
  }

  subscript(id: DocumentId) -> NoteRecord? { records[id] }

  func record(atPath path: String) -> NoteRecord? { idsByPath[path].flatMap { records[$0] } }

  /// Newest first, without those that were deleted.
  var byModification: [NoteRecord] {
    records.values.filter { $0.deletedSince == nil }.sorted {
      ($0.modified, $0.id.description) > ($1.modified, $1.id.description)
    }
  }

  /// Those that were deleted and can be had back, the last first.
  var deleted: [NoteRecord] {
    records.values.filter { $0.deletedSince != nil }
      .sorted {
        ($0.deletedSince ?? .distantPast, $0.id.description) > ($1.deletedSince ?? .distantPast, $1.id.description)
      }
  }

  /// The newest note with this title; one that differs only in case if there is none.
  func record(titled title: String) -> NoteRecord? {
    let notes = byModification
    return notes.first { $0.title == title } ?? notes.first { $0.title.lowercased() == title.lowercased() }
  }

  /// Keeps the record in memory; `save` or the document's next commit puts it on disk.
  func remember(_ record: NoteRecord) {
    if let path = records[record.id]?.path, path != record.path, idsByPath[path] == record.id { idsByPath[path] = nil }
    records[record.id] = record
    if let path = record.path { idsByPath[path] = record.id }
  }

  /// Changes a record in memory; nothing if there is none.
  func update(_ id: DocumentId, _ change: (inout NoteRecord) -> Void) {
    guard var record = records[id] else { return }
    change(&record)
    remember(record)
  }

  /// Forgets a note, here and on disk.
  func remove(_ id: DocumentId) async throws(StorageError) {
    if let path = records.removeValue(forKey: id)?.path { idsByPath[path] = nil }
    try await storage.commit([
      .remove([NoteRecord.collection, id.description]), .remove([NoteRecord.baseCollection, id.description]),
      .removeRange([RecoveredText.collection, id.description]),
    ])
  }

  /// Stores the record, and the file base only if `withBase`: the caller has written or read the working file.
  func save(_ id: DocumentId, withBase: Bool = true) async throws(StorageError) {
    guard let record = records[id] else { return }
    let items = [record.item, withBase ? record.baseItem : nil].compactMap(\.self)
    try await storage.commit(items.map { .save($0) })
  }
}
