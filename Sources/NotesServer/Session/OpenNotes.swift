import AutomergeRepo

/// The notes whose buffers are attached, so that their files belong to the editor.
@AutomergeRepo
final class OpenNotes {
  /// What to store together with each note's document.
  private var companions: [NoteKey: () -> [StorageChange]] = [:]

  var documents: Set<DocumentId> { Set(companions.keys.map(\.document)) }

  func contains(_ key: NoteKey) -> Bool { companions[key] != nil }

  /// Whether the note, or an item of the meeting, is open.
  func contains(_ id: DocumentId) -> Bool { companions.keys.contains { $0.document == id } }

  /// Call when a buffer is attached. What `companions` returns is stored with each write of the document.
  func open(_ key: NoteKey, _ handle: DocHandle, companions: @escaping () -> [StorageChange]) {
    self.companions[key] = companions
    let id = handle.id
    handle.companions = { [weak self] in
      self?.companions.filter { $0.key.document == id }.values.flatMap { $0() } ?? []
    }
  }

  func close(_ key: NoteKey, _ handle: DocHandle) {
    companions[key] = nil
    if !contains(handle.id) { handle.companions = nil }
  }
}
