import AutomergeRepo
import Logging

/// What all parts of a service work with: the documents, the notes, the files, the network, the time, and the events.
@AutomergeRepo
final class ServiceEnvironment {
  let repo: Repo
  let notebook: Notebook
  let journal: RunJournal
  let sharing: any SharingService
  let files: any WorkingFileAccess
  let clock: any RepoClock
  let openNotes = OpenNotes()
  let events = Observers<ServiceEvent>()
  /// The texts whose files are not UTF-8 at present, so that neither side is updated.
  private(set) var filesWithoutText: Set<NoteKey> = []
  private let log = Logger(label: "files")

  init(
    repo: Repo, notebook: Notebook, journal: RunJournal, sharing: any SharingService, files: any WorkingFileAccess,
    clock: any RepoClock
  ) {
    (self.repo, self.notebook, self.journal, self.sharing) = (repo, notebook, journal, sharing)
    (self.files, self.clock) = (files, clock)
  }

  // MARK: Notes

  var notesDirectory: String { notebook.folder.path }

  func title(of id: DocumentId) -> String { notebook[id]?.title ?? "a note" }

  /// Whether this person may change a document: a change that the host refuses is not made here.
  func mayWrite(_ id: DocumentId) -> Bool { sharing.access(to: id) == .write }

  /// Loads what the file of a note contained, as stored: another process of this person, which may not be connected
  /// yet, may have read or written the file since. One that was killed may have had no time to store it. Call it while no
  /// other process may record what this file contains.
  func loadBase(of key: NoteKey) async throws {
    try await takeUnrecordedBases(of: key)
    try await notebook.reloadBase(of: key)
    try await notebook.loadBase(of: key)
  }

  /// Records what killed processes had found the file of a note to contain.
  func takeUnrecordedBases(of key: NoteKey) async throws {
    guard let storage = repo.storage, let handle = repo.handle(of: key.document) else { return }
    await journal.killed.recover(repo, storage)
    try await notebook.takeUnrecordedBases(of: key, handle)
  }

  /// Call when the file of a note was found to contain this, or was written: journals it, in case this process is
  /// killed before the store has it.
  func fileHas(_ base: TextBase, _ key: NoteKey) {
    journal.fileHas(base, key, replacing: notebook[key]?.fileBase)
    notebook.update(key) { $0.fileBase = base }
  }

  /// Call when the file of a note was read: the person is told once if it is not UTF-8, and once when it is again.
  func fileIsText(_ isText: Bool, _ key: NoteKey) {
    let isNews = isText ? filesWithoutText.remove(key) != nil : filesWithoutText.insert(key).inserted
    guard isNews else { return }
    log.warning("The file of \(key.document) is \(isText ? "UTF-8 again" : "not UTF-8, and is left as it is").")
    events.send(.fileIsText(isText, key))
  }

  /// Call when the file of a note is gone, or when a buffer opens it: so that the person is told again.
  func forgetFile(_ key: NoteKey) { filesWithoutText.remove(key) }

  /// Runs `work`, which makes one change out of what another program wrote to the file of a note. It is journaled together with
  /// what the file then lacks of the text; nil if the file no longer contains the merged text.
  func takeIn<Result>(
    fileOf note: NoteDocument, lacking: TextDelta?, _ handle: DocHandle, _ work: () throws -> Result
  ) rethrows -> Result {
    guard let lacking else { return try work() }
    let key = NoteKey(handle.id, item: note.item)
    let text = RunJournal.FileText(
      key: key, lacking: lacking, object: note.textObject, replaced: notebook[key]?.fileBase)
    return try journal.takingIn(text, handle, work)
  }

  /// Merges what this person's other processes have of a document: what killed ones had not stored, and what those that
  /// are not connected have stored. Call before words in a file count as new, because another process may have merged
  /// them. Returns whether the document changed.
  func catchUp(_ handle: DocHandle) async throws -> Bool {
    let heads = handle.document.heads()
    if let storage = repo.storage { await journal.killed.recover(repo, storage) }
    try await handle.takeStored()
    return handle.document.heads() != heads
  }

  /// Waits for the end of a process whose client had the note open, while this process has the exclusive claim on the file:
  /// the kernel frees the locks of a killed process one by one, that of its journal perhaps last.
  ///
  /// - Returns: whether there is a journal to recover now.
  func awaitEnd(ofHolderOf key: NoteKey) async -> Bool {
    for _ in 0..<Self.maximumPauses where await journal.killed.isOpen(key) {
      guard await clock.pause(for: NoteHold.interval) else { break }
    }
    return await journal.killed.hasNew
  }

  /// A second in all.
  private static let maximumPauses = 50

  /// Removes a note permanently.
  func purge(_ id: DocumentId) async throws(StorageError) {
    try await repo.delete(id: id)
    try await notebook.remove(id)
  }

  // MARK: Locks

  /// A lock that one process of this person has at a time. Nil if it is not free in time.
  func turn(_ name: String) async -> (any NoteClaim)? { await claim(name, within: .seconds(4)) }

  /// A lock that another process of this person may hold. Nil if it still does after this time. `NoteHold.interval` says
  /// why this is a poll.
  func claim(_ name: String, exclusively: Bool = true, within maximum: Duration) async -> (any NoteClaim)? {
    let end = clock.now + maximum
    while true {
      if let claim = files.claim(name, exclusively: exclusively) { return claim }
      guard clock.now < end, await clock.pause(for: NoteHold.interval) else { return nil }
    }
  }
}
