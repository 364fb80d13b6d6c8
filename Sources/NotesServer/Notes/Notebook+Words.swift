import AutomergeRepo

extension Notebook {
  /// Counts the words of a note whose record may be older than its text, because a process that had the note open was
  /// killed. Returns whether the record has changed.
  func countWords(of key: NoteKey, _ repo: Repo) async -> Bool {
    guard self[key] != nil, case .found(let handle) = await repo.search(key.document),
      let note = NoteDocument(handle.document, item: key.item)
    else { return false }
    let words = Words.count(DocumentText(note).allUTF8)
    guard let record = self[key], record.words != words else { return false }
    update(key) { $0.words = words }
    return true
  }
}
