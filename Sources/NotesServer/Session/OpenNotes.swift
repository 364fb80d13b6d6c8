import AutomergeRepo

/// The notes whose buffers are attached, so that their files belong to the editor.
///
/// A note may have several buffers: an editor may show one file under two URIs, as by a symbolic link and by its own name. What
/// the first of them contains is stored as what this process's editor has; that of any other is stored under a name of its own.
@AutomergeRepo
final class OpenNotes {
  /// What to store together with each buffer's document.
  private var companions: [BufferKey: () -> [StorageChange]] = [:]
  /// Returns the notes whose buffers are being opened.
  var openings: () -> [NoteKey] = { [] }

  var documents: Set<DocumentId> { Set(companions.keys.map(\.document)) }

  func contains(_ key: NoteKey) -> Bool { companions.keys.contains { $0.note == key } }

  /// Whether the note, or an item of the meeting, is open.
  func contains(_ id: DocumentId) -> Bool { companions.keys.contains { $0.document == id } }

  /// Whether a buffer has the note open, or is being opened: its file must keep its name.
  func isInUse(_ key: NoteKey) -> Bool { contains(key) || openings().contains(key) }

  /// The same for the note and all items of a meeting.
  func isInUse(_ id: DocumentId) -> Bool { contains(id) || openings().contains { $0.document == id } }

  /// The key for another buffer of the note.
  func newKey(_ note: NoteKey, uri: String) -> BufferKey {
    let first = BufferKey(note)
    return companions[first] == nil ? first : BufferKey(note, uri: uri)
  }

  /// Call when a buffer is attached. What `companions` returns is stored with each write of the document.
  func open(_ key: BufferKey, _ handle: DocHandle, companions: @escaping () -> [StorageChange]) {
    self.companions[key] = companions
    let id = handle.id
    handle.companions = { [weak self] in
      self?.companions.filter { $0.key.document == id }.values.flatMap { $0() } ?? []
    }
  }

  func close(_ key: BufferKey, _ handle: DocHandle) {
    companions[key] = nil
    if !contains(handle.id) { handle.companions = nil }
  }
}
