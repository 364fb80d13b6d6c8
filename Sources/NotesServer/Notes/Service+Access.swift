import AutomergeRepo

extension Service {
  /// Whether this person may change a document: a change that the host refuses is not made here.
  func mayWrite(_ id: DocumentId) -> Bool { sharing.access(to: id) == .write }

  func checkMayWrite(_ id: DocumentId) throws(NotesError) {
    guard !mayWrite(id) else { return }
    let host = sharing.host(of: id)?.name ?? "the host"
    throw NotesError(.readOnly, "Read-only: ask \(host) for access, or make a copy.")
  }
}

extension PeerSummary {
  func has(_ document: DocumentId) -> Bool { notes.contains { $0.document == document && $0.access != .none } }
}
