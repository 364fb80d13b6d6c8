import Automerge
import AutomergeRepo
import Foundation

/// The working files of meetings: one for each item of the agenda, in a folder.
@AutomergeRepo
final class MeetingFiles {
  /// How many items of a meeting have files: the first ones, in addition to those that were opened here.
  private static let maximumFiles = 100

  private let environment: ServiceEnvironment
  private let remover: WorkingFileRemover
  private let reconciler: FileReconciler
  private let agendas: MeetingAgendas
  /// Keeps the files that are made here up to date.
  weak var planner: (any WorkingFilePlanner)?
  /// The items of each meeting that must be synchronized with their files.
  private var unsettled: [DocumentId: UnsettledItems] = [:]

  private var notebook: Notebook { environment.notebook }

  init(
    _ environment: ServiceEnvironment, _ remover: WorkingFileRemover, _ reconciler: FileReconciler,
    _ agendas: MeetingAgendas
  ) {
    (self.environment, self.remover) = (environment, remover)
    (self.reconciler, self.agendas) = (reconciler, agendas)
  }

  /// Compares all items with their files next time, not only changed ones.
  func examineAll(of id: DocumentId) { unsettled[id] = .all }

  func textChanged(_ text: ObjId, of id: DocumentId) { unsettled[id, default: .some([])].insert(text) }

  func textsChanged(_ edits: [TextEdit], in handle: DocHandle) {
    guard notebook[handle.id]?.folder != nil else { return }
    for edit in edits { textChanged(edit.object, of: handle.id) }
  }

  /// Call when the document was released from memory.
  func forget(_ id: DocumentId) { unsettled[id] = nil }

  /// Synchronizes items and files: a new item gets a file, a changed one is written, a deleted one loses its file.
  ///
  /// - Complexity: O(n) in the items, without the files of those that did not change
  func synchronize(_ handle: DocHandle, makingFiles: Bool) async throws {
    let id = handle.id
    try await notebook.refresh(NoteKey(id))
    guard let meeting = MeetingDocument(handle.document), let folder = notebook[id]?.folder else { return }
    let items = meeting.items
    agendas.note(items, of: id)
    let due = unsettled.removeValue(forKey: id) ?? .some([])
    var notText: NotTextError?
    do {
      var count = notebook.items(of: id).count { $0.path != nil }
      for item in items {
        guard let text = item.discussion else { continue }
        let key = NoteKey(id, item: item.id)
        if let record = notebook[key], let path = record.path {
          let isDue = due.contains(text) || record.textObject != text.description
          guard isDue || !FileName.isName((path as NSString).lastPathComponent, forTitle: record.title) else {
            continue
          }
        } else {
          guard count < Self.maximumFiles else { continue }
          try await makeFile(of: item, key, in: folder, handle)
          count += 1
          continue
        }
        do {
          try await reconciler.synchronize(key, handle, item: item, makingFiles: makingFiles)
        } catch let error as NotTextError {
          // The other items' files follow.
          notText = error
          textChanged(text, of: id)
        }
      }
    } catch {
      examineAll(of: id)
      throw error
    }
    let present = Set(items.map(\.id))
    for record in notebook.items(of: id) where record.item.map({ !present.contains($0) }) ?? false {
      try await retire(record, handle)
    }
    notebook.update(id) { record in
      if !meeting.title.isEmpty { record.title = meeting.title }
      record.words = notebook.items(of: id).reduce(0) { $0 + $1.words }
    }
    try await notebook.save(id, withBase: false)
    try await followTitle(ofMeeting: handle)
    if let notText { throw notText }
  }

  /// An unused name for a meeting's folder.
  func freeFolder(for title: String, in directory: String) async throws -> String {
    let names = Set(try await environment.files.names(in: directory) ?? [])
    let taken = Set(notebook.records.values.compactMap(\.folder))
    for name in FileName.candidates(for: title, ending: "") {
      let path = (directory as NSString).appendingPathComponent(name)
      if !names.contains(name), !taken.contains(path) { return path }
    }
    throw NotesError(.conflict, "No free name was found for a folder \"\(title)\" in \(directory).")
  }

  /// Renames the folder to fit the meeting's title; later, if an editor of this person has one of its files open.
  private func followTitle(ofMeeting handle: DocHandle) async throws {
    let id = handle.id
    guard let record = notebook[id], let old = record.folder, !environment.openNotes.isInUse(id),
      !FileName.isName((old as NSString).lastPathComponent, forTitle: record.title)
    else { return }
    let items = notebook.items(of: id)
    let claims = (items.map(\.key) + [NoteKey(id)]).map { reconciler.claim($0, handle) }
    defer { withExtendedLifetime(claims) {} }
    guard claims.allSatisfy({ $0 != nil }) else { return }
    let new = try await freeFolder(for: record.title, in: (old as NSString).deletingLastPathComponent)
    guard !environment.openNotes.isInUse(id), try await environment.files.moveFolder(old, to: new) else { return }
    // A buffer that was opened meanwhile has a file by the former name.
    if environment.openNotes.isInUse(id), try await environment.files.moveFolder(new, to: old) { return }
    notebook.update(id) { $0.folder = new }
    for item in items {
      notebook.update(item.key) { item in
        guard let path = item.path as NSString?, path.deletingLastPathComponent == old else { return }
        item.path = (new as NSString).appendingPathComponent(path.lastPathComponent)
      }
      try await notebook.save(item.key, withBase: false)
    }
    try await notebook.save(id, withBase: false)
  }

  /// Makes sure that the item has a file, and records its path; does nothing if there is no such item.
  func makeFile(of key: NoteKey, _ handle: DocHandle) async throws {
    guard notebook[key]?.path == nil, let folder = notebook[key.document]?.folder,
      let item = key.item.flatMap({ MeetingDocument(handle.document)?.item($0) })
    else { return }
    try await makeFile(of: item, key, in: folder, handle)
  }

  private func makeFile(
    of item: MeetingDocument.Item, _ key: NoteKey, in folder: String, _ handle: DocHandle
  ) async throws {
    guard let planner, let claim = reconciler.claim(key, handle) else { return }
    defer { withExtendedLifetime(claim) {} }
    try await notebook.refresh(key)
    guard notebook[key]?.path == nil, let note = NoteDocument(handle.document, item: item) else { return }
    _ = try await WorkingFileMaker(environment, planner).make(
      for: handle, note, title: item.title.isEmpty ? "Item" : item.title, directory: folder)
  }

  /// Removes the file of an item that is no longer in the agenda. Its text is kept as a recovered text.
  private func retire(_ record: NoteRecord, _ handle: DocHandle) async throws {
    guard !environment.openNotes.contains(record.key), let claim = reconciler.claim(record.key, handle) else { return }
    defer { withExtendedLifetime(claim) {} }
    try await remover.remove(fileOf: record, handle)
    try await notebook.remove(record.key)
  }

  /// Removes the files of all items, after `synchronize`; the meeting itself stays in the store.
  func putAway(_ handle: DocHandle) async throws {
    for record in notebook.items(of: handle.id) {
      let claim = try await reconciler.claimToRemove(record.key, "\"\(record.title)\"")
      defer { withExtendedLifetime(claim) {} }
      // Another process may have written or renamed the file before it released that.
      try await notebook.refresh(record.key)
      try await remover.remove(fileOf: notebook[record.key] ?? record, handle)
      try await notebook.remove(record.key)
    }
  }
}

/// The items of a meeting that must be synchronized with their files, by their texts.
private enum UnsettledItems {
  case all
  case some(Set<ObjId>)

  mutating func insert(_ text: ObjId) {
    guard case .some(let texts) = self else { return }
    self = .some(texts.union([text]))
  }

  func contains(_ text: ObjId) -> Bool {
    switch self {
    case .all: true
    case .some(let texts): texts.contains(text)
    }
  }
}
