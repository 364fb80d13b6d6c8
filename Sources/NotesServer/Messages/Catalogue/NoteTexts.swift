import AutomergeRepo

/// The texts of notes, for searching.
@AutomergeRepo
struct NoteTexts {
  let service: Service

  /// The note itself, or a meeting's items in the agenda's order, including those without a file.
  func parts(of record: NoteRecord) -> [NoteRecord] {
    guard record.folder != nil else { return [record] }
    // An earlier version did not store the agenda.
    guard !record.agenda.isEmpty else { return service.notebook.items(of: record.id) }
    return record.agenda.map { entry in
      service.notebook[NoteKey(record.id, item: entry.id)]
        ?? NoteRecord(
          id: record.id, item: entry.id, title: entry.title, created: record.created, modified: record.modified)
    }
  }

  /// The text in memory; otherwise that of the working file, which is at most half a second older; or that of the document, if the
  /// file is out of date or gone.
  func text(of part: NoteRecord) async -> [UInt8]? {
    if let handle = service.repo.handle(of: part.id) { return await text(of: part, in: handle) }
    if let path = part.path, !part.isFileOutdated, let bytes = try? await service.files.read(path) { return bytes }
    if part.item == nil, let texts = try? await service.repo.texts.all(of: part.id),
      let text = texts["content"] ?? texts["text"]
    {
      return Array(text.utf8)
    }
    guard let handle = try? await service.fetch(part.id) else { return nil }
    return await text(of: part, in: handle)
  }

  private func text(of part: NoteRecord, in handle: DocHandle) async -> [UInt8]? {
    // A search reads many notes, and typing must not wait for all of them.
    await AutomergeRepo.yield()
    return NoteDocument(handle.document, item: part.item).map { DocumentText($0).allUTF8 }
  }

  /// Makes the file of an item that matched, because it is about to be opened.
  func withFile(_ part: NoteRecord) async -> NoteRecord {
    guard part.path == nil, let handle = service.repo.handle(of: part.id) else { return part }
    try? await service.fileSync.meetings.makeFile(of: part.key, handle)
    return service.notebook[part.key] ?? part
  }
}
