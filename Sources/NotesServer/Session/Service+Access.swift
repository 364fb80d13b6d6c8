import AutomergeRepo

/// What requests and buffers use of the service's environment.
extension Service {
  var repo: Repo { environment.repo }
  var notebook: Notebook { environment.notebook }
  var journal: RunJournal { environment.journal }
  var sharing: any SharingService { environment.sharing }
  var files: any WorkingFileAccess { environment.files }
  var clock: any RepoClock { environment.clock }
  var notesDirectory: String { environment.notesDirectory }
  var identity: Identity { author.identity }

  /// The name of this process, for editors that outlive it.
  var run: String { identity.actor.hexadecimal }

  func isOpen(_ key: NoteKey) -> Bool { environment.openNotes.contains(key) }
  func isOpen(_ id: DocumentId) -> Bool { environment.openNotes.contains(id) }
  func title(of id: DocumentId) -> String { environment.title(of: id) }
  func mayWrite(_ id: DocumentId) -> Bool { environment.mayWrite(id) }

  func checkMayWrite(_ id: DocumentId) throws(NotesError) {
    guard !mayWrite(id) else { return }
    let host = sharing.host(of: id)?.name ?? "the host"
    throw NotesError(.readOnly, "Read-only: ask \(host) for access, or make a copy.")
  }

  /// Carries out a request to receive a note; says why that is not possible if the note is here already.
  func receiving<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch SharingError.alreadyHere(let id) {
      let title = NoteNews.cut(title(of: id), to: 24)
      if notebook[id]?.deletedSince != nil {
        throw NotesError(.conflict, "You deleted \"\(title)\"; undelete restores it.")
      }
      guard let host = sharing.host(of: id)?.name else { throw NotesError(.conflict, "\"\(title)\" is your own note.") }
      throw NotesError(.conflict, "You have \"\(title)\" from \(NoteNews.cut(host, to: 16)); it stays as it is.")
    }
  }

  /// Finds a free name in `directory`, writes the note's text there, and stores the record.
  @discardableResult
  func makeWorkingFile(
    for handle: DocHandle, _ note: NoteDocument? = nil, title: String, directory: String
  ) async throws -> NoteRecord {
    try await WorkingFileMaker(environment, fileSync).make(for: handle, note, title: title, directory: directory)
  }
}

extension PeerSummary {
  func has(_ document: DocumentId) -> Bool { notes.contains { $0.document == document && $0.access != .none } }
}
