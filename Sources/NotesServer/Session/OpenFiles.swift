import AutomergeRepo

/// The working files of the notes that the editor has open, or had open a moment ago.
@AutomergeRepo
final class OpenFiles {
  private unowned let service: Service
  private var files: [NoteKey: OpenFile] = [:]

  init(service: Service) { self.service = service }

  func open(_ attachment: Attachment) -> OpenFile {
    let file = OpenFile(attachment)
    files[attachment.key] = file
    return file
  }

  /// Call when this file may have been written. False if the note is not open here.
  func changed(_ key: NoteKey) -> Bool {
    guard service.isOpen(key), let file = files[key] else { return false }
    file.changed()
    return true
  }

  /// Returns when this file's content is known.
  func settle(_ key: NoteKey) async {
    await files[key]?.settle()
    if !service.isOpen(key) { files[key] = nil }
  }

  func settleAll() async {
    for key in Array(files.keys) { await settle(key) }
  }

  /// Whether this file is still being examined.
  func isBusy(_ key: NoteKey) -> Bool { files[key]?.isBusy ?? false }

  /// The right to record what a working file holds, which one process has at a time. Nil after a while.
  func turn(of key: NoteKey) async -> (any NoteClaim)? {
    await service.claim("file-" + key.lockName, within: .seconds(1))
  }
}
