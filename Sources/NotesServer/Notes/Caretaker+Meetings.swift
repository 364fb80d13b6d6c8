import Automerge
import AutomergeRepo
import Foundation

/// The files of meetings: one for each item of the agenda, in a folder.
extension Caretaker {
  /// Brings all items and their files together: new ones get a file, those of deleted ones go.
  func synchronizeMeeting(_ handle: DocHandle, makingFiles: Bool = true) async throws {
    let id = handle.id
    try await service.notebook.refresh(id)
    guard let meeting = MeetingDocument(handle.document), let folder = service.notebook[id]?.folder else { return }
    let items = meeting.items
    for item in items where item.discussion != nil {
      let key = NoteKey(id, item: item.id)
      if service.notebook[key]?.path == nil { try await makeFile(of: item, key, in: folder, handle) }
      try await synchronize(key, handle, makingFiles: makingFiles)
    }
    let present = Set(items.map(\.id))
    for record in service.notebook.items(of: id) where record.item.map({ !present.contains($0) }) ?? false {
      try await retire(record)
    }
    service.notebook.update(id) { record in
      if !meeting.title.isEmpty { record.title = meeting.title }
      record.words = service.notebook.items(of: id).reduce(0) { $0 + $1.words }
    }
    try await service.notebook.save(id, withBase: false)
    try await followTitle(ofMeeting: id)
  }

  /// A name for a meeting's folder that nothing has yet.
  func freeFolder(for title: String, in directory: String) async throws -> String {
    let names = Set(try await service.files.names(in: directory) ?? [])
    let taken = Set(service.notebook.records.values.compactMap(\.folder))
    for name in FileName.candidates(for: title, ending: "") {
      let path = (directory as NSString).appendingPathComponent(name)
      if !names.contains(name), !taken.contains(path) { return path }
    }
    throw NotesError(.conflict, "No free name was found for a folder \"\(title)\" in \(directory).")
  }

  /// Gives the folder a name that fits the meeting's title, if it has another; later, if an editor of this person has one of
  /// its files open.
  private func followTitle(ofMeeting id: DocumentId) async throws {
    guard let record = service.notebook[id], let old = record.folder, !service.isOpen(id),
      !FileName.isName((old as NSString).lastPathComponent, forTitle: record.title)
    else { return }
    let items = service.notebook.items(of: id)
    let claims = (items.map(\.key) + [NoteKey(id)]).map { service.files.claim($0.lockName, exclusively: true) }
    defer { withExtendedLifetime(claims) {} }
    guard claims.allSatisfy({ $0 != nil }) else { return }
    let new = try await freeFolder(for: record.title, in: (old as NSString).deletingLastPathComponent)
    guard try await service.files.moveFolder(old, to: new) else { return }
    service.notebook.update(id) { $0.folder = new }
    for item in items {
      service.notebook.update(item.key) { item in
        guard let path = item.path as NSString?, path.deletingLastPathComponent == old else { return }
        item.path = (new as NSString).appendingPathComponent(path.lastPathComponent)
      }
      try await service.notebook.save(item.key, withBase: false)
    }
    try await service.notebook.save(id, withBase: false)
  }

  private func makeFile(
    of item: MeetingDocument.Item, _ key: NoteKey, in folder: String, _ handle: DocHandle
  ) async throws {
    guard let claim = service.files.claim(key.lockName, exclusively: true) else { return }
    defer { withExtendedLifetime(claim) {} }
    try await service.notebook.refresh(key.document)
    guard service.notebook[key]?.path == nil else { return }
    try await service.makeWorkingFile(
      for: handle, item: item.id, title: item.title.isEmpty ? "Item" : item.title, directory: folder)
  }

  /// Removes the file of an item that is in the agenda no more. What stands in it is kept as a recovered text.
  func retire(_ record: NoteRecord) async throws {
    guard !service.isOpen(record.key), let claim = service.files.claim(record.key.lockName, exclusively: true) else {
      return
    }
    defer { withExtendedLifetime(claim) {} }
    if let path = record.path {
      if let bytes = try await service.files.read(path), !bytes.isEmpty {
        try await service.keep(
          RecoveredText(
            id: record.id, time: service.clock.date.milliseconds,
            reason: "its agenda item \"\(record.title)\" was deleted", text: bytes))
      }
      try await service.files.remove(path)
    }
    try await service.notebook.remove(record.key)
  }

  /// Removes the files of all items; the meeting itself stays in the store.
  func putAwayItems(of handle: DocHandle) async throws {
    for record in service.notebook.items(of: handle.id) {
      guard let claim = service.files.claim(record.key.lockName, exclusively: true) else {
        throw NotesError(.conflict, "\"\(record.title)\" is open in another editor of yours; close it there first.")
      }
      defer { withExtendedLifetime(claim) {} }
      if let path = record.path { try await service.files.remove(path) }
      try await service.notebook.remove(record.key)
    }
  }
}
