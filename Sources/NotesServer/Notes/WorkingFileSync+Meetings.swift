import Automerge
import AutomergeRepo
import Foundation

/// The items of a meeting that are to be synchronized with their files, by their texts.
enum UnsettledItems {
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

/// The files of a meeting: one for each item of the agenda, in a folder.
extension WorkingFileSync {
  /// A meeting with more items has files for the first ones, and for those that were opened here.
  static let maximumFiles = 100

  /// Compares all items with their files next time, not only changed ones.
  func examineAll(of id: DocumentId) { unsettled[id] = .all }

  func textsChanged(_ edits: [TextEdit], in handle: DocHandle) {
    guard notebook[handle.id]?.folder != nil else { return }
    for edit in edits { unsettled[handle.id, default: .some([])].insert(edit.object) }
  }

  /// Synchronizes items and files: a new item gets a file, a changed one is written, a deleted one loses its file.
  ///
  /// - Complexity: O(n) in the items, without the files of those that did not change
  func synchronizeMeeting(_ handle: DocHandle, makingFiles: Bool = true) async throws {
    let id = handle.id
    try await notebook.refresh(NoteKey(id))
    guard let meeting = MeetingDocument(handle.document), let folder = notebook[id]?.folder else { return }
    let items = meeting.items
    noteAgenda(of: id, items)
    let due = unsettled.removeValue(forKey: id) ?? .some([])
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
        try await synchronize(key, handle, item: item, makingFiles: makingFiles)
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
  }

  /// Updates lists and buffers to the agenda: the items' order and titles.
  func noteAgenda(of id: DocumentId, _ items: [MeetingDocument.Item]) {
    notebook.update(id) { $0.agenda = items.map { AgendaEntry(id: $0.id, title: $0.title) } }
    for item in items {
      let key = NoteKey(id, item: item.id)
      guard let title = notebook[key]?.title, title != item.title, !item.title.isEmpty else { continue }
      notebook.update(key) { $0.title = item.title }
    }
  }

  /// When several people moved an item at the same moment, keeps one copy: each person's process removes its own other copies.
  /// A title given to a copy that goes is given to the one that stays.
  func tidyAgenda(_ meeting: MeetingDocument, _ items: [MeetingDocument.Item], _ handle: DocHandle) {
    let before = notebook[handle.id]
    defer {
      noteAgenda(of: handle.id, MeetingDocument(handle.document)?.items ?? items)
      if notebook[handle.id]?.agenda != before?.agenda { saveSoon(handle.id) }
    }
    guard environment.mayWrite(handle.id) else { return }
    let author = handle.document.actor
    let isOwn = items.filter { item in item.object.actor == author || item.copies.contains { $0.object.actor == author }
    }
    do {
      try bringTitles(meeting, items, handle)
      if isOwn.contains(where: { !$0.copies.isEmpty }) {
        try handle.change { _ in try meeting.removeCopies(of: isOwn, by: author) }
      }
    } catch {
      log.error("The agenda of \(handle.id) could not be put in order: \(error)")
    }
  }

  /// Gives each item the title that its predecessor was given while it was moved. The process that moved the item does this; if
  /// it is gone, every process does: setting the same title twice leaves one title.
  private func bringTitles(_ meeting: MeetingDocument, _ items: [MeetingDocument.Item], _ handle: DocHandle) throws {
    let seen = settledTitles[handle.id] ?? [:]
    var settled: [ObjId: [ObjId: String]] = [:]
    for item in items {
      let titles = LeftTitle.titles(of: item, in: meeting)
      guard titles.count > 1 else { continue }
      guard seen[item.object] != titles, let left = LeftTitle.find(of: item, in: meeting) else {
        settled[item.object] = titles
        continue
      }
      guard left.mover == handle.document.actor || !handle.isWritten(by: left.mover) else { continue }
      try handle.change { _ in try meeting.bring(left.title, from: left.source, to: item) }
    }
    settledTitles[handle.id] = settled
  }

  private func saveSoon(_ id: DocumentId) {
    Task { @AutomergeRepo in
      do {
        try await notebook.save(id, withBase: false)
      } catch {
        log.warning("The agenda of \(id) was not stored: \(error)")
      }
    }
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
    guard let record = notebook[id], let old = record.folder, !environment.openNotes.contains(id),
      !FileName.isName((old as NSString).lastPathComponent, forTitle: record.title)
    else { return }
    let items = notebook.items(of: id)
    let claims = (items.map(\.key) + [NoteKey(id)]).map { claim($0, handle) }
    defer { withExtendedLifetime(claims) {} }
    guard claims.allSatisfy({ $0 != nil }) else { return }
    let new = try await freeFolder(for: record.title, in: (old as NSString).deletingLastPathComponent)
    guard try await environment.files.moveFolder(old, to: new) else { return }
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
    guard let claim = claim(key, handle) else { return }
    defer { withExtendedLifetime(claim) {} }
    try await notebook.refresh(key)
    guard notebook[key]?.path == nil, let note = NoteDocument(handle.document, item: item) else { return }
    _ = try await WorkingFileMaker(environment, self).make(
      for: handle, note, title: item.title.isEmpty ? "Item" : item.title, directory: folder)
  }

  /// Removes the file of an item that is no longer in the agenda. Its text is kept as a recovered text.
  func retire(_ record: NoteRecord, _ handle: DocHandle) async throws {
    guard !isOpen(record.key), let claim = claim(record.key, handle) else { return }
    defer { withExtendedLifetime(claim) {} }
    if let path = record.path {
      let bytes = try await environment.files.read(path) ?? []
      let isKept = await recoveredTexts.hasKept(bytes, ofDeleted: record.key)
      if !bytes.isEmpty, !isKept {
        try await recoveredTexts.keep(
          RecoveredText(
            id: record.id, time: environment.clock.date.milliseconds,
            reason: "its agenda item \"\(record.title)\" was deleted", text: bytes))
        recoveredTexts.tellSoon()
      }
      try await environment.files.remove(path)
    }
    try await notebook.remove(record.key)
  }

  /// Removes the files of all items; the meeting itself stays in the store.
  func putAwayItems(of handle: DocHandle) async throws {
    for record in notebook.items(of: handle.id) {
      let claim = try await claimToRemove(record.key, "\"\(record.title)\"")
      defer { withExtendedLifetime(claim) {} }
      if let path = record.path { try await environment.files.remove(path) }
      try await notebook.remove(record.key)
    }
  }
}
