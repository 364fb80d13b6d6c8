import Automerge
import AutomergeRepo
import Foundation
import Logging

/// The service of one process for its editor: the repo, the notes, the peers. Assembles its parts, each of which owns
/// its state.
@AutomergeRepo
public final class Service {
  public struct Identity: Sendable {
    /// The peer id of this store's person.
    public var peer: PeerId
    public var name: String
    /// The first half of this person's actor ids, in hexadecimal: their key under `people`.
    public var person: String
    /// The actor that this process writes as; never used again.
    public var actor: ActorId

    public init(peer: PeerId, name: String, person: String, actor: ActorId) {
      (self.peer, self.name, self.person, self.actor) = (peer, name, person, actor)
    }
  }

  public nonisolated static let version = "0.1.0"
  private static let log = Logger(label: "notes")
  /// How long after its service has ended an editor may return to a buffer.
  private static let clientBaseTime: TimeInterval = 30 * 24 * 60 * 60

  let environment: ServiceEnvironment
  let author: LocalAuthor
  let siblings: Siblings
  let presenceTracker: PresenceTracker
  let recoveredTexts: RecoveredTexts
  let openFiles: OpenFiles
  let fileSync: WorkingFileSync
  let documentFiles: DocumentFiles
  let readOnlyCopies: ReadOnlyCopies
  let mover: Mover
  let awaitedNotes: AwaitedNotes
  let elsewhere: NotesElsewhere
  let idle: IdleDocuments
  private var outside: FileWatcher?

  public init(
    repo: Repo, storage: any StorageProvider, sharing: any SharingService, files: any WorkingFileAccess,
    clock: any RepoClock, folder: NotesFolder, identity: Identity, name: PersonName, journal: any JournalAccess,
    unsent: (any UnsentFileAccess)? = nil
  ) {
    environment = ServiceEnvironment(
      repo: repo, notebook: Notebook(storage: storage, folder: folder),
      journal: RunJournal(files: journal, run: identity.actor.hexadecimal), sharing: sharing, files: files,
      clock: clock)
    presenceTracker = PresenceTracker(name: identity.name, environment)
    author = LocalAuthor(identity, NameKeeper(name, repo: repo, storage: storage))
    siblings = Siblings(environment)
    recoveredTexts = RecoveredTexts(environment, siblings.events, unsent: unsent)
    openFiles = OpenFiles(environment, recoveredTexts)
    fileSync = WorkingFileSync(environment, recoveredTexts, openFiles)
    documentFiles = DocumentFiles(environment, fileSync)
    readOnlyCopies = ReadOnlyCopies(environment, author, recoveredTexts, fileSync)
    mover = Mover(environment, author, recoveredTexts, fileSync)
    awaitedNotes = AwaitedNotes(repo: repo, clock: clock, siblings)
    elsewhere = NotesElsewhere(environment)
    idle = IdleDocuments(repo: repo, clock: clock)
    openFiles.planner = fileSync
    observe()
  }

  /// The pause before another attempt to write a journal that could not be written.
  private static let journalRetryInterval: Duration = .seconds(5)

  private func observe() {
    let events = environment.events
    sharing.setVisible(!author.nameKeeper.person.isHidden)
    author.nameKeeper.onVisibility = { [sharing] isVisible in sharing.setVisible(isVisible) }
    author.nameKeeper.onChange = { [weak self] name in self?.rename(name) }
    repo.beforeSending = { [journal] in journal.write() }
    journal.onFailure = { [journal, clock = environment.clock] in
      _ = clock.schedule(after: Self.journalRetryInterval) { journal.resume() }
    }
    journal.killed.onRecovered = { [weak self] notes in await self?.recovered(notes) }
    journal.killed.onKept = { [weak recoveredTexts] in recoveredTexts?.tellSoon() }
    repo.observe { [weak self] event in self?.repoDid(event) }
    sharing.onChange = { event in events.send(.sharingChanged(event)) }
    events.add { [weak self] event in
      if case .recordRead(let id) = event { self?.readRecord(of: id) }
    }
  }

  /// A process that had these notes open or had changed them was killed.
  private func recovered(_ notes: Set<NoteKey>) async {
    for key in notes {
      let isCountNews = await notebook.countWords(of: key, repo)
      let isOutdated = repo.handle(of: key.document).map { fileSync.outdated.examine(key, $0) } ?? false
      guard isCountNews || isOutdated else { continue }
      do {
        try await notebook.save(key, withBase: false)
      } catch {
        Self.log.warning("The number of words of \(key.document) could not be stored: \(error)")
      }
    }
    fileSync.outdated.begin()
  }

  private func repoDid(_ event: Repo.Event) {
    switch event {
    case .documentOpened(let handle):
      handle.document.actor = author.actor(for: handle.id)
      if journal.killed.waits(for: handle.id) { journal.killed.recoverSoon(repo, notebook.storage) }
      if notebook[handle.id]?.hasPlace ?? false { fileSync.watch(handle) } else { learn(of: handle) }
      documentFiles.watch(handle)
      HeadMerging.watch(handle, environment)
    case .siblingDisconnected:
      fileSync.planAll()
      siblings.readOpenNotesAgain()
      siblings.takeOverOpenNotes()
      recoveredTexts.takeOverUnsent()
    case .documentReleased(let id):
      fileSync.forget(id)
      documentFiles.forget(id)
    case .siblingConnected: siblings.readOpenNotesAgain()
    case .peerConnected, .peerDisconnected, .documentDeleted: break
    }
  }

  /// The document was in memory before the records were read.
  private func openedEarly(_ handle: DocHandle) {
    guard let record = notebook[handle.id], record.hasPlace else { return }
    fileSync.watch(handle)
    if let seen = record.seen, seen != handle.document.heads() {
      fileSync.changedOutside(handle)
    } else {
      fileSync.plan(handle)
    }
  }

  /// Sets the name of this person, in all of this process.
  private func rename(_ name: String) {
    author.rename(name)
    var metadata = repo.metadata
    metadata.name = name
    repo.update(metadata)
    // Before presence sends the name: peers are shown the name that `sharing` announces.
    sharing.rename(name)
    presenceTracker.rename(name)
    environment.events.send(.renamed)
  }

  /// Reads the stored records of the notes. Until then there are none.
  ///
  /// - Parameter folders: reports what other programs write to the files; nil to ignore it
  public func load(watching folders: (any FolderWatching)? = nil) async throws(StorageError) {
    try await notebook.load()
    notebook.onEvent = { [weak self] event in self?.notebookDid(event) }
    // Peers may have brought documents meanwhile, which were not known to be notes.
    for handle in repo.handles { openedEarly(handle) }
    if folders != nil { elsewhere.refresh() }
    siblings.begin()
    if let folders {
      let outside = FileWatcher(environment, openFiles, documentFiles, fileSync, folders)
      self.outside = outside
      documentFiles.onPlace = { [weak outside] path in outside?.watch(path: path) }
      for record in notebook.records.values {
        record.path.map { outside.watch(path: $0) }
        for path in record.documentFiles { outside.watch(path: path) }
      }
      Task { @AutomergeRepo [fileSync] in await fileSync.movedFiles.findAll() }
    }
    idle.begin { [weak self] id in
      self.map {
        $0.isOpen(id) || $0.fileSync.isPlanned(id) || $0.documentFiles.isPlanned(id)
          || !$0.presenceTracker.people(in: id).isEmpty
      } ?? true
    }
    fileSync.outdated.begin()
    mover.followAll()
    journal.killed.recoverSoon(repo, notebook.storage)
    recoveredTexts.takeOverUnsent()
    try await notebook.forgetClientBases(before: clock.date.addingTimeInterval(-Self.clientBaseTime))
    let limit = clock.date.addingTimeInterval(-NoteRecord.recoverableTime)
    for record in notebook.records.values where record.deletedSince.map({ $0 < limit }) ?? false {
      do {
        try await environment.purge(record.id)
      } catch {
        Self.log.warning("A note that was deleted long ago could not be removed: \(error)")
      }
    }
  }

  private func notebookDid(_ event: Notebook.Event) {
    switch event {
    case .changed(let change):
      environment.events.send(.catalogueChanged(change))
      if outside != nil, change.item == nil { elsewhere.refresh() }
    case .stored(let id): siblings.stored(id)
    case .placed(let path): outside?.watch(path: path)
    }
  }

  // MARK: Watching

  /// A document that another process has created has its record in the store, or will soon; that process reports when.
  private func learn(of handle: DocHandle) {
    guard !repo.siblings.isEmpty else { return }
    Task { @AutomergeRepo in
      try? await notebook.refresh(handle.id)
      watchIfPlaced(handle.id)
    }
  }

  /// The record of a document was read again.
  private func readRecord(of id: DocumentId) {
    watchIfPlaced(id)
    // The process that moved the note may have ended before it notified the others.
    let latest = notebook.latest(id)
    guard latest != id, environment.openNotes.contains(id) else { return }
    Task { @AutomergeRepo in await mover.heardOfMove(id, to: latest) }
  }

  private func watchIfPlaced(_ id: DocumentId) {
    if notebook[id]?.hasPlace ?? false, let handle = repo.handle(of: id) { fileSync.watch(handle) }
  }

  /// Call when a buffer is attached. What `companions` returns is stored with each write of the document.
  func opened(_ key: BufferKey, _ handle: DocHandle, companions: @escaping () -> [StorageChange]) {
    environment.openNotes.open(key, handle, companions: companions)
    fileSync.watch(handle)
    if let path = notebook[key.note]?.path { outside?.watch(path: path, isOpen: true) }
    environment.events.send(.openNotesChanged(handle.id))
  }

  func closed(_ key: BufferKey, _ handle: DocHandle) {
    journal.closed(key, handle)
    environment.openNotes.close(key, handle)
    environment.events.send(.openNotesChanged(handle.id))
  }

  /// Call when another program may have written this file.
  func fileChanged(_ path: String) { outside?.changed(path) }

  // MARK: Documents

  /// Finds a document, or throws the reason why it is unavailable.
  func fetch(_ id: DocumentId) async throws(NotesError) -> DocHandle {
    let outcome = await siblings.find(id)
    guard case .found(let handle) = outcome else { throw NotesError(outcome, id) }
    return handle
  }

  /// The same for a document that was just joined, whose host may be away for a moment.
  func fetchArrival(_ id: DocumentId) async throws(NotesError) -> DocHandle {
    guard let host = sharing.host(of: id) else { return try await fetch(id) }
    return try await awaitedNotes.arrival(of: id, from: host.peer)
  }

  /// A separate document with all changes of another, and one head, in which this process writes as a new author.
  func makeSuccessor(of old: DocHandle) throws -> DocHandle {
    let handle = try repo.create(old.document.fork())
    handle.adoptSignatures(of: old)
    handle.document.actor = author.newActor()
    // Its heads travel to the guests, who accept only a limited number.
    handle.mergeHeads()
    return handle
  }

  // MARK: The program

  /// Call when this process starts to look for this person's other processes; the caller reports the outcome.
  public func seeksSiblings() { siblings.seek() }

  /// Call when this process has become the one that this person's other processes connect to.
  public func becameHub() { siblings.becameHub() }

  /// Returns when what killed processes had not stored is in the notes.
  public func settleJournals() async { await journal.killed.settle() }

  /// Stores a name from an option, and tells the other processes.
  public func keepName() { author.nameKeeper.keep() }

  /// Returns when every name given so far is stored.
  public func settleName() async { await author.nameKeeper.settle() }
}
