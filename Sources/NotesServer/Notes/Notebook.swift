import Automerge
import AutomergeRepo
import Foundation

/// All notes of the store, as records in memory and on disk.
@AutomergeRepo
final class Notebook {
  private(set) var records: [NoteKey: NoteRecord] = [:]
  private var keysByPath: [String: NoteKey] = [:]
  private var itemsByMeeting: [DocumentId: Set<NoteKey>] = [:]
  /// The notes with document files.
  private var keysWithFiles: Set<NoteKey> = []
  /// The notes and meetings that are not deleted, newest first; nil if the order has to be computed again.
  private var newestFirst: [NoteKey]?
  let storage: any StorageProvider
  /// Where new notes have their files.
  let folder: NotesFolder
  /// Whether the records have been read.
  private(set) var isLoaded = false
  var onEvent: ((Event) -> Void)?
  /// The notes whose changes of the list are not stored yet.
  private var unstored: Set<NoteKey> = []
  /// The records that were changed here, as this process last read or stored them.
  private var shared: [NoteKey: SharedRecord] = [:]
  /// The file bases as this process last read or stored them.
  private var sharedBases: [NoteKey: TextBase] = [:]
  /// How many times records of a document have changed in memory.
  private var changeCounts: [DocumentId: Int] = [:]
  private static let maximumReads = 5

  enum Event {
    /// The list of notes has changed.
    case changed(Change)
    /// A change of the list is stored, where other processes find it.
    case stored(DocumentId)
    /// A note has its working file at this path from now on.
    case placed(path: String)
  }

  /// How the list of notes has changed.
  struct Change: Hashable {
    enum Kind: String { case created, renamed, deleted, restored }

    var kind: Kind
    var id: DocumentId
    /// The agenda item of a meeting that was renamed; nil for a note, and for a meeting as a whole.
    var item: String?
    var title: String
    var path: String?
  }

  /// - Parameter folder: not needed by what only reads the store
  init(storage: any StorageProvider, folder: NotesFolder = NotesFolder("")) {
    (self.storage, self.folder) = (storage, folder)
  }

  /// How many records are read at a time.
  private static let slice = 500

  /// Reads every record, without the file bases. The first list of an editor's session waits for this, so all processors read.
  func load() async throws(StorageError) {
    let items = try await storage.loadRange([NoteRecord.collection])
    records.reserveCapacity(items.count)
    keysByPath.reserveCapacity(items.count)
    await withTaskGroup(of: [NoteRecord].self) { group in
      for start in stride(from: 0, to: items.count, by: Self.slice) {
        group.addTask { await Self.records(in: items[start...].prefix(Self.slice)) }
      }
      for await found in group {
        for record in found where records[record.key] == nil { put(record) }
      }
    }
    isLoaded = true
  }

  /// Off the loop: there may be many.
  @concurrent
  private static func records(in items: ArraySlice<StoredItem>) async -> [NoteRecord] {
    items.compactMap { item in
      guard item.key.count > 1, let id = DocumentId(item.key[1]), let record = NoteRecord(id: id, item.data),
        record.storageKey == item.key
      else { return nil }
      return record
    }
  }

  /// Whether the record in memory has the file base, if there is one. At the start none has: most notes are never opened.
  func knowsBase(of key: NoteKey) -> Bool { records[key]?.fileBase != nil }

  /// Reads the file base if it is not in memory.
  func loadBase(of key: NoteKey) async throws(StorageError) {
    guard !knowsBase(of: key) else { return }
    let data = try await storage.load([NoteRecord.baseCollection] + key.names)
    guard !knowsBase(of: key) else { return }
    update(key) { $0.takeBase(data) }
  }

  /// Reads the file base again: another process of the same person may have written or read the working file.
  func reloadBase(of key: NoteKey) async throws(StorageError) {
    guard let data = try await storage.load([NoteRecord.baseCollection] + key.names), var found = records[key] else {
      return
    }
    found.takeBase(data)
    settleBase(of: &found)
    update(key) { $0.takeBase(of: found) }
  }

  /// Reads one document's records again, since another process of the same person may have written them. If there are none,
  /// only a deleted note's record is dropped: the note was removed for good. What this process changes or stores during the read
  /// is newer than what is read.
  func refresh(_ id: DocumentId) async throws(StorageError) {
    for read in 1...Self.maximumReads {
      let count = changeCounts[id]
      let known = keys(of: id).map { ($0, shared[$0]?.asKnownNow) }
      let items = try await storage.loadRange([NoteRecord.collection, id.description])
      var found: [NoteRecord] = []
      for item in items {
        guard var record = NoteRecord(id: id, item.data), record.storageKey == item.key else { continue }
        record.takeBase(try await storage.load([NoteRecord.baseCollection] + record.key.names))
        found.append(record)
      }
      // A person who types may change the record each time. What is changed and not stored stays in any case.
      let isSame = changeCounts[id] == count
      guard isSame || read == Self.maximumReads, known.allSatisfy(isStillKnown) else { continue }
      if isSame, items.isEmpty, self[id]?.deletedSince != nil { forget(NoteKey(id)) }
      for record in found { take(record) }
      return
    }
  }

  /// Takes a record as it is stored. What was changed here and not stored yet stays.
  private func take(_ stored: NoteRecord) {
    var stored = stored
    settleBase(of: &stored)
    let (key, data) = (stored.key, stored.encoded())
    guard let known = shared[key], let mine = records[key] else { return remember(stored, isStored: true) }
    let merged = known.merged(mine.encoded(), with: data)
    known.isStored(data)
    guard merged != data, var record = NoteRecord(id: key.document, merged) else {
      return remember(stored, isStored: true)
    }
    record.takeBase(of: stored)
    remember(record)
  }

  /// Gives a record that was read the file base that counts. It is the one in memory if no other process has stored
  /// one: the store may not have it yet, and with an older one the words of another program would be merged once more.
  private func settleBase(of found: inout NoteRecord) {
    let isNews = sharedBases[found.key] != found.fileBase
    sharedBases[found.key] = found.fileBase
    if !isNews, let mine = records[found.key], mine.fileBase != nil { found.takeBase(of: mine) }
  }

  subscript(id: DocumentId) -> NoteRecord? { records[NoteKey(id)] }

  subscript(key: NoteKey) -> NoteRecord? { records[key] }

  /// The document in which a moved note continues; usually the document itself.
  func latest(_ id: DocumentId) -> DocumentId {
    var (latest, seen) = (id, Set([id]))
    while let next = self[latest]?.successor, seen.insert(next).inserted { latest = next }
    return latest
  }

  /// Where all working files should be, in no order.
  /// - Complexity: O(n)
  var paths: [String] { Array(keysByPath.keys) }

  func record(atPath path: String) -> NoteRecord? { keysByPath[path].flatMap { records[$0] } }

  func record(atURI uri: String) -> NoteRecord? {
    for path in folder.places(uri: uri) {
      if let record = record(atPath: path) { return record }
    }
    return nil
  }

  /// The document that a document file was opened as; nil if the file is none.
  /// - Complexity: O(n) in the documents that have such files
  func document(inFile path: String) -> DocumentId? {
    keysWithFiles.first { records[$0]?.documentFiles.contains(path) ?? false }?.document
  }

  /// The note itself, and the items of a meeting.
  func keys(of id: DocumentId) -> [NoteKey] { [NoteKey(id)] + (itemsByMeeting[id] ?? []) }

  /// Reads one record again; see `refresh(_:)` for all of a document.
  func refresh(_ key: NoteKey) async throws(StorageError) {
    for _ in 0..<Self.maximumReads {
      let known = shared[key]?.asKnownNow
      guard let record = try await stored(key) else { return }
      if isStillKnown(key, known) { return take(record) }
    }
  }

  /// Whether a record that was read is not older than what is known of it: this process may have changed the record for the
  /// first time, and stored it, since the reading began.
  ///
  /// - Parameter known: what was known of it when the reading began; nil if the record had not been changed here
  private func isStillKnown(_ key: NoteKey, _ known: SharedRecord?) -> Bool {
    known?.isStillKnown ?? (shared[key] == nil)
  }

  /// The record as stored; nil if there is none.
  func stored(_ key: NoteKey) async throws(StorageError) -> NoteRecord? {
    guard let data = try await storage.load([NoteRecord.collection] + key.names),
      var record = NoteRecord(id: key.document, data), record.key == key
    else { return nil }
    record.takeBase(try await storage.load([NoteRecord.baseCollection] + key.names))
    return record
  }

  /// The records of a meeting's items that have a file, in the agenda's order.
  /// - Complexity: O(n log n)
  func items(of id: DocumentId) -> [NoteRecord] {
    let found = (itemsByMeeting[id] ?? []).compactMap { records[$0] }
    let agenda = self[id]?.agenda ?? []
    let places = Dictionary(agenda.enumerated().map { ($1.id, $0) }) { first, _ in first }
    func place(_ record: NoteRecord) -> (Int, String) {
      (record.item.flatMap { places[$0] } ?? .max, record.title)
    }
    return found.map { (place($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Newest first, without deleted ones.
  /// - Complexity: O(n), after a change O(n log n)
  var byModification: [NoteRecord] { keysByModification.compactMap { records[$0] } }

  /// Keys rather than records: records are large.
  var keysByModification: [NoteKey] {
    if let newestFirst { return newestFirst }
    var dates: [(Date, NoteKey)] = []
    for (key, record) in records where record.deletedSince == nil && key.item == nil {
      dates.append((record.modified, key))
    }
    let keys = Self.sorted(dates)
    newestFirst = keys
    return keys
  }

  /// Latest first. Sorts indices, for they are cheaper to move than keys.
  private static func sorted(_ dates: [(date: Date, key: NoteKey)]) -> [NoteKey] {
    let times = dates.map(\.date.timeIntervalSince1970)
    return dates.indices.sorted { one, other in
      times[one] == times[other]
        ? dates[one].key.document.description > dates[other].key.document.description : times[one] > times[other]
    }.map { dates[$0].key }
  }

  /// The keys of deleted notes that can be restored, the last deleted first.
  var keysOfDeleted: [NoteKey] {
    var dates: [(Date, NoteKey)] = []
    for (key, record) in records where key.item == nil && record.successor == nil {
      if let date = record.deletedSince { dates.append((date, key)) }
    }
    return Self.sorted(dates)
  }

  /// Keeps the record in memory; `save` or the document's next commit stores it.
  func remember(_ record: NoteRecord) { remember(record, isStored: false) }

  /// The title of an agenda item; nil for a note, and for a meeting as a whole.
  func itemTitle(of key: NoteKey) -> String? { key.item == nil ? nil : self[key]?.title }

  private func remember(_ record: NoteRecord, isStored: Bool) {
    let key = record.key
    let old = put(record)
    if !isStored, shared[key] == nil { shared[key] = SharedRecord(old?.encoded()) }
    if let path = record.path, path != old?.path { onEvent?(.placed(path: path)) }
    guard let kind = Self.change(from: old, to: record) else { return }
    unstored.insert(key)
    // A meeting's agenda names its items; but a buffer shows its own item's name, and an editor may have opened its file as a
    // plain one.
    if record.item == nil || kind == .renamed || record.path != nil {
      onEvent?(
        .changed(Change(kind: kind, id: record.id, item: record.item, title: record.title, path: record.path)))
    }
  }

  /// Returns the record that was there.
  @discardableResult
  private func put(_ record: NoteRecord) -> NoteRecord? {
    let key = record.key
    changeCounts[key.document, default: 0] += 1
    let old = records.updateValue(record, forKey: key)
    if let path = old?.path, path != record.path, keysByPath[path] == key { keysByPath[path] = nil }
    if let path = record.path { keysByPath[path] = key }
    if !record.documentFiles.isEmpty { keysWithFiles.insert(key) }
    if key.item != nil {
      itemsByMeeting[key.document, default: []].insert(key)
    } else if old == nil || old?.modified != record.modified || old?.deletedSince != record.deletedSince {
      newestFirst = nil
    }
    return old
  }

  private static func change(from old: NoteRecord?, to new: NoteRecord) -> Change.Kind? {
    guard let old else { return .created }
    if (old.deletedSince == nil) != (new.deletedSince == nil) { return new.deletedSince == nil ? .restored : .deleted }
    return old.title != new.title || old.path != new.path || old.folder != new.folder || old.agenda != new.agenda
      ? .renamed : nil
  }

  // MARK: Changing

  /// Changes a record in memory; does nothing if there is none.
  func update(_ key: NoteKey, _ change: (inout NoteRecord) -> Void) {
    guard var record = records[key] else { return }
    change(&record)
    remember(record)
  }

  func update(_ id: DocumentId, _ change: (inout NoteRecord) -> Void) { update(NoteKey(id), change) }

  /// Removes a note with all that belongs to it, here and in the store.
  func remove(_ id: DocumentId) async throws(StorageError) {
    for key in records.keys where key.document == id { forget(key) }
    try await storage.commit([
      .removeRange([NoteRecord.collection, id.description]), .removeRange([NoteRecord.baseCollection, id.description]),
      .removeRange([RecoveredText.collection, id.description]), .removeRange(RecoveredTexts.marks(of: id)),
      .removeRange([ClientBase.collection, id.description]),
      .removeRange([UndoRecord.collection, id.description]),
      .removeRange([ClientBase.leftCollection, id.description]), .removeRange([FileNews.collection, id.description]),
    ])
    onEvent?(.stored(id))
  }

  /// Removes one item of a meeting, here and in the store.
  func remove(_ key: NoteKey) async throws(StorageError) {
    forget(key)
    try await storage.commit([
      .remove([NoteRecord.collection] + key.names), .remove([NoteRecord.baseCollection] + key.names),
      .removeRange([FileNews.collection] + key.names),
    ])
  }

  private func forget(_ key: NoteKey) {
    (shared[key], sharedBases[key]) = (nil, nil)
    changeCounts[key.document, default: 0] += 1
    if let path = records.removeValue(forKey: key)?.path, keysByPath[path] == key { keysByPath[path] = nil }
    if key.item != nil { itemsByMeeting[key.document]?.remove(key) } else { newestFirst = nil }
  }

  /// Moves a note to another document, which has all changes of the old one: its place in the list, its file and its undo
  /// history then belong to that one, here and in the store. The old document is kept for a while, like a deleted note's. Does
  /// nothing if the note has been moved already.
  ///
  /// - Parameter open: the undo history of open buffers, which the store may not have yet.
  func move(
    _ old: DocumentId, to new: DocumentId, undoing open: [StoredItem], at date: Date
  ) async throws(StorageError) {
    var items: [StoredItem] = open, changes: [StorageChange] = [], moved: [NoteRecord] = []
    items += try await storage.loadRange([UndoRecord.collection, old.description]).filter { item in
      !open.contains { $0.key == item.key }
    }
    items = items.map { item in
      var key = item.key
      key[1] = new.description
      return StoredItem(key: key, data: item.data)
    }
    for key in records.keys where key.document == old { try await loadBase(of: key) }
    for (key, record) in records where key.document == old && record.deletedSince == nil && record.successor == nil {
      moved.append(record.moved(to: new))
      update(key) {
        ($0.path, $0.folder, $0.fileBase, $0.successor) = (nil, nil, nil, new)
        if key.item == nil { $0.deletedSince = date }
      }
      if let left = records[key] { changes.append(storing(left)) }
    }
    for record in moved {
      remember(record)
      changes += storing(record, withBase: true)
    }
    try await storage.commit(items.map { .save($0) } + changes)
    unstored.remove(NoteKey(old))
    unstored.remove(NoteKey(new))
    onEvent?(.stored(old))
    onEvent?(.stored(new))
  }

  func save(_ id: DocumentId, withBase: Bool = true) async throws(StorageError) {
    try await save(NoteKey(id), withBase: withBase)
  }

  /// Stores the record, and the file base only if `withBase`: then the caller has written or read the working file.
  func save(_ key: NoteKey, withBase: Bool = true) async throws(StorageError) {
    guard let record = records[key] else { return }
    let count = changeCounts[key.document]
    try await storage.commit(storing(record, withBase: withBase))
    if withBase { sharedBases[key] = record.fileBase }
    noteStored(key, with: count)
  }

  /// Stores the record and its file base in one transaction with the document.
  func save(_ key: NoteKey, with handle: DocHandle) async throws(StorageError) {
    guard let record = records[key] else { return }
    let count = changeCounts[key.document]
    try await handle.store(with: storing(record, withBase: true))
    sharedBases[key] = record.fileBase
    noteStored(key, with: count)
  }

  /// - Parameter count: how many times the document's records had changed in what was stored
  private func noteStored(_ key: NoteKey, with count: Int?) {
    guard unstored.contains(key) else { return }
    if changeCounts[key.document] == count { unstored.remove(key) }
    onEvent?(.stored(key.document))
  }

  /// The change that stores the record, together with what other processes have changed in it.
  func storing(_ record: NoteRecord) -> StorageChange {
    let item = StoredItem(key: record.storageKey, data: record.encoded())
    guard let known = shared[record.key] else { return .update(item, of: SharedRecord(item.data)) }
    return .update(item, of: known.asKnownNow)
  }

  /// The same, with the file base.
  func storing(_ record: NoteRecord, withBase: Bool) -> [StorageChange] {
    [storing(record)] + (withBase ? [record.baseItem].compactMap(\.self).map { .save($0) } : [])
  }
}
