import AutomergeRepo
import Foundation

/// All notes of the store, as records in memory and on disk.
@AutomergeRepo
final class Notebook {
  private(set) var records: [NoteKey: NoteRecord] = [:]
  private var keysByPath: [String: NoteKey] = [:]
  private let storage: any StorageProvider

  init(storage: any StorageProvider) { self.storage = storage }

  /// Reads every record.
  func load() async throws(StorageError) {
    var bases: [ArraySlice<String>: Data] = [:]
    for item in try await storage.loadRange([NoteRecord.baseCollection]) { bases[item.key.dropFirst()] = item.data }
    for item in try await storage.loadRange([NoteRecord.collection]) {
      guard item.key.count > 1, let id = DocumentId(item.key[1]), var record = NoteRecord(id: id, item.data),
        record.storageKey == item.key, records[record.key] == nil
      else { continue }
      record.takeBase(bases[item.key.dropFirst()])
      remember(record)
    }
  }

  /// Reads one document's records again, since another process of the same person may have written them. Nothing changes
  /// if there is none.
  func refresh(_ id: DocumentId) async throws(StorageError) {
    for item in try await storage.loadRange([NoteRecord.collection, id.description]) {
      guard var record = NoteRecord(id: id, item.data), record.storageKey == item.key else { continue }
      record.takeBase(try await storage.load([NoteRecord.baseCollection] + record.key.names))
      remember(record)
    }
  }

  subscript(id: DocumentId) -> NoteRecord? { records[NoteKey(id)] }

  subscript(key: NoteKey) -> NoteRecord? { records[key] }

  func record(atPath path: String) -> NoteRecord? { keysByPath[path].flatMap { records[$0] } }

  /// The records of a meeting's items, in no particular order.
  /// - Complexity: O(n) in all records.
  func items(of id: DocumentId) -> [NoteRecord] { records.values.filter { $0.id == id && $0.item != nil } }

  /// Newest first, without those that were deleted.
  var byModification: [NoteRecord] {
    records.values.filter { $0.deletedSince == nil && $0.item == nil }.sorted {
      ($0.modified, $0.id.description) > ($1.modified, $1.id.description)
    }
  }

  /// Those that were deleted and can be had back, the last first.
  var deleted: [NoteRecord] {
    records.values.filter { $0.deletedSince != nil && $0.item == nil }
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
    let key = record.key
    if let path = records[key]?.path, path != record.path, keysByPath[path] == key { keysByPath[path] = nil }
    records[key] = record
    if let path = record.path { keysByPath[path] = key }
  }

  /// Changes a record in memory; nothing if there is none.
  func update(_ key: NoteKey, _ change: (inout NoteRecord) -> Void) {
    guard var record = records[key] else { return }
    change(&record)
    remember(record)
  }

  func update(_ id: DocumentId, _ change: (inout NoteRecord) -> Void) { update(NoteKey(id), change) }

  /// Forgets a note with all that belongs to it, here and on disk.
  func remove(_ id: DocumentId) async throws(StorageError) {
    for key in records.keys where key.document == id { forget(key) }
    try await storage.commit([
      .removeRange([NoteRecord.collection, id.description]), .removeRange([NoteRecord.baseCollection, id.description]),
      .removeRange([RecoveredText.collection, id.description]),
    ])
  }

  /// Forgets one item of a meeting, here and on disk.
  func remove(_ key: NoteKey) async throws(StorageError) {
    forget(key)
    try await storage.commit([
      .remove([NoteRecord.collection] + key.names), .remove([NoteRecord.baseCollection] + key.names),
    ])
  }

  private func forget(_ key: NoteKey) {
    if let path = records.removeValue(forKey: key)?.path, keysByPath[path] == key { keysByPath[path] = nil }
  }

  func save(_ id: DocumentId, withBase: Bool = true) async throws(StorageError) {
    try await save(NoteKey(id), withBase: withBase)
  }

  /// Stores the record, and the file base only if `withBase`: the caller has written or read the working file.
  func save(_ key: NoteKey, withBase: Bool = true) async throws(StorageError) {
    guard let record = records[key] else { return }
    let items = [record.storedItem, withBase ? record.baseItem : nil].compactMap(\.self)
    try await storage.commit(items.map { .save($0) })
  }
}
