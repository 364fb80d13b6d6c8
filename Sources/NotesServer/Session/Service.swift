import Automerge
import AutomergeRepo
import Foundation
import Logging

/// What one process offers its editor: the repo, the notes, the peers.
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

  let repo: Repo
  let notebook: Notebook
  let journal: RunJournal
  /// The journals of killed processes are being read.
  private var recovery: Task<Void, Never>?
  let sharing: any SharingService
  let files: any WorkingFileAccess
  let clock: any RepoClock
  let notesDirectory: String
  var identity: Identity
  /// Notes whose buffers are attached, with what to store beside their documents: their files belong to the editor.
  private var openNotes: [NoteKey: () -> [StorageChange]] = [:]
  let company: Company
  let nameKeeper: NameKeeper
  /// Called when this person's name has changed.
  var onRename: (() -> Void)?
  /// The documents that this process's actor was used for.
  private var writtenIn: Set<DocumentId> = []
  /// Whether the list of notes has been read.
  private(set) var isLoaded = false
  /// Called when the list of notes has changed.
  var onCatalogueChange: ((Notebook.Change) -> Void)?
  private var outside: OutsideChanges?
  private var idle = IdleDocuments()
  /// Whether documents that are not in use are released from memory.
  var releasesIdleDocuments = true
  /// Called when another person has deleted a note for everyone, before its file goes; and whether this person has not been told
  /// yet.
  var onDeletion: ((DocHandle, Bool) -> Void)?
  /// Called when another program's text in the file of a read-only note was kept at this path.
  var onRefusal: ((NoteKey, RecoveredText, String) -> Void)?
  /// Called when other people have changed a meeting: items may have been added, deleted or moved.
  var onMeetingChange: ((DocHandle) -> Void)?
  private(set) lazy var siblingRequests = SiblingRequests(repo: repo, sharing: sharing, clock: clock)
  let siblingEvents: SiblingEvents
  private let recordNews: RecordNews
  private(set) lazy var mover = Mover(service: self)
  private(set) lazy var caretaker = Caretaker(service: self)
  private(set) lazy var awaitedNotes = AwaitedNotes(service: self)
  private(set) lazy var openFiles = OpenFiles(service: self)
  private(set) lazy var elsewhere = NotesElsewhere(service: self)
  private(set) lazy var recoveredTexts = RecoveredTexts(service: self)
  private(set) lazy var readOnlyCopies = ReadOnlyCopies(service: self)
  let log = Logger(label: "notes")

  public init(
    repo: Repo, storage: any StorageProvider, sharing: any SharingService, files: any WorkingFileAccess,
    clock: any RepoClock, notesDirectory: String, identity: Identity, name: PersonName, journal: any JournalAccess
  ) {
    self.repo = repo
    self.journal = RunJournal(files: journal, run: identity.actor.description)
    notebook = Notebook(storage: storage)
    (self.sharing, self.files, self.clock) = (sharing, files, clock)
    (self.notesDirectory, self.identity) = (notesDirectory, identity)
    siblingEvents = SiblingEvents(repo: repo)
    recordNews = RecordNews(repo: repo, clock: clock)
    company = Company(name: identity.name, repo: repo, clock: clock)
    company.naming = { [sharing] peer, claim in
      peer == identity.peer ? claim : sharing.name(of: peer, claiming: claim)
    }
    nameKeeper = NameKeeper(name, repo: repo, storage: storage)
    nameKeeper.onChange = { [weak self] name in self?.rename(name) }
    _ = readOnlyCopies
    repo.beforeSending = { [journal = self.journal] in journal.write() }
    repo.observe { [weak self] event in
      guard let self else { return }
      switch event {
      case .documentOpened(let handle):
        handle.document.actor = self.actor(for: handle.id)
        if self.journal.waits(for: handle.id) { self.recoverJournals() }
        if self.notebook[handle.id]?.hasPlace ?? false {
          self.caretaker.watch(handle)
        } else {
          self.learn(of: handle)
        }
      case .siblingDisconnected: self.caretaker.planAll()
      case .documentReleased(let id): self.caretaker.forget(id)
      case .peerConnected, .peerDisconnected, .siblingConnected, .documentDeleted: break
      }
    }
  }

  /// Uses this name for the person from now on, in all of this process.
  private func rename(_ name: String) {
    identity.name = name
    var metadata = repo.metadata
    metadata.name = name
    repo.update(metadata)
    // Before presence sends it: peers are shown the name that `sharing` announces.
    sharing.rename(name)
    company.rename(name)
    onRename?()
  }

  /// The actor to write a document as, never the same one twice. A document that was removed and comes again from a peer brings
  /// changes of ours that we no longer have; under the same actor they would look forged, and a new one could take the number
  /// of an old one.
  func actor(for document: DocumentId) -> ActorId {
    writtenIn.insert(document).inserted ? identity.actor : newActor()
  }

  func newActor() -> ActorId { ActorId(data: identity.actor.data.prefix(8) + ActorId().data.suffix(8)) ?? ActorId() }

  /// A document is about to arrive that has changes of this process's actor: it will be written in by a new one.
  func reserve(_ document: DocumentId) { writtenIn.insert(document) }

  /// Reads the stored records of the notes. Until then there are none.
  ///
  /// - Parameter folders: reports what other programs write to the files, if given.
  public func load(watching folders: (any FolderWatching)? = nil) async throws(StorageError) {
    try await notebook.load()
    isLoaded = true
    notebook.onChange = { [weak self] change in
      self?.onCatalogueChange?(change)
      if self?.outside != nil, change.item == nil { self?.elsewhere.refresh() }
    }
    if folders != nil { elsewhere.refresh() }
    notebook.onStored = { [recordNews] id in recordNews.tell(id) }
    recordNews.begin { [weak self] id in self?.readAgain(id) }
    if let folders {
      let outside = OutsideChanges(service: self, folders: folders)
      self.outside = outside
      notebook.onPath = { [weak outside] path in outside?.watch(path: path) }
      for record in notebook.records.values { record.path.map { outside.watch(path: $0) } }
    }
    sweepLater()
    mover.followAll()
    recoverJournals()
    try await notebook.forgetClientBases(before: clock.date.addingTimeInterval(-Self.clientBaseTime))
    let limit = clock.date.addingTimeInterval(-NoteRecord.recoverableTime)
    for record in notebook.records.values where record.deletedSince.map({ $0 < limit }) ?? false {
      do {
        try await purge(record.id)
      } catch {
        log.warning("A note that was deleted long ago could not be removed: \(error)")
      }
    }
  }

  /// Stores what killed processes had not stored; one run after another.
  private func recoverJournals() {
    recovery = Task { @AutomergeRepo [recovery] in
      await recovery?.value
      await journal.recover(repo, notebook.storage)
    }
  }

  /// Removes a note for good.
  func purge(_ id: DocumentId) async throws(StorageError) {
    try await repo.delete(id)
    try await notebook.remove(id)
  }

  /// The name of this process, for editors that outlive it.
  var run: String { identity.actor.description }

  /// How long after its service has ended an editor may come back to a buffer.
  private static let clientBaseTime: TimeInterval = 30 * 24 * 60 * 60

  // MARK: Files and texts

  /// Finds a free name in `directory`, writes the note's text there, and keeps the record.
  @discardableResult
  func makeWorkingFile(
    for handle: DocHandle, _ note: NoteDocument? = nil, title: String, directory: String
  ) async throws -> NoteRecord {
    try await WorkingFileMaker(service: self).make(for: handle, note, title: title, directory: directory)
  }

  /// Stores a text that would be lost otherwise, without waiting, and tells the person.
  ///
  /// - Parameter isTold: whether the person has been told already
  func keepSoon(_ id: DocumentId, _ reason: String, _ text: [UInt8], isTold: Bool = false) {
    let kept = RecoveredText(id: id, time: clock.date.milliseconds, reason: reason, text: text)
    log.warning("Keeping a copy of \(id): \(reason).")
    Task { @AutomergeRepo in
      let isStored = await recoveredTexts.keepOrHold(kept)
      if isTold { recoveredTexts.told(kept) } else if isStored { recoveredTexts.tellSoon() }
    }
  }

  /// Keeps the note's text when a program empties the file: the program may mean that, or have failed to write it.
  func keepIfEmptied(_ note: NoteDocument, by file: [UInt8], of id: DocumentId) {
    let text = DocumentText(note).allUTF8
    if file.isEmpty, !text.isEmpty { keepSoon(id, "another program emptied its file", text) }
  }

  // MARK: What is open

  func isOpen(_ key: NoteKey) -> Bool { openNotes[key] != nil }

  /// Whether the note, or an item of the meeting, is open.
  func isOpen(_ id: DocumentId) -> Bool { openNotes.keys.contains { $0.document == id } }

  /// A buffer is attached; what `companions` returns is stored with each write of the document.
  func opened(_ key: NoteKey, _ handle: DocHandle, companions: @escaping () -> [StorageChange]) {
    openNotes[key] = companions
    caretaker.watch(handle)
    if let path = notebook[key]?.path { outside?.watch(path: path, isOpen: true) }
    let id = handle.id
    handle.companions = { [weak self] in
      self?.openNotes.filter { $0.key.document == id }.values.flatMap { $0() } ?? []
    }
  }

  func closed(_ key: NoteKey, _ handle: DocHandle) {
    journal.closed(key, handle)
    openNotes[key] = nil
    if !isOpen(handle.id) { handle.companions = nil }
  }

  // MARK: Other processes of this person

  /// How often to check whether another process has stored what it knows, and the interval.
  private static let lookAgain: (times: Int, interval: Duration) = (20, .milliseconds(100))

  /// A document that another process has created will have its record in the store soon.
  private func learn(of handle: DocHandle) {
    guard !repo.siblings.isEmpty else { return }
    let id = handle.id
    Task { @AutomergeRepo in
      for _ in 0..<Self.lookAgain.times where notebook[id]?.hasPlace != true {
        try? await notebook.refresh(id)
        if notebook[id]?.hasPlace != true, await !pause() { return }
      }
      if notebook[id]?.hasPlace ?? false { caretaker.watch(handle) }
    }
  }

  func title(of id: DocumentId) -> String { notebook[id]?.title ?? "a note" }

  /// Finds a document, or says why it cannot be had.
  func fetch(_ id: DocumentId) async throws(NotesError) -> DocHandle {
    let outcome = await find(id)
    guard case .found(let handle) = outcome else { throw NotesError(outcome, id) }
    return handle
  }

  /// Looks for a document, also with other processes of this person that are just being found, or are about to have the
  /// document themselves.
  func find(_ id: DocumentId) async -> FindOutcome {
    var outcome = await repo.find(id)
    guard case .unavailable = outcome else { return outcome }
    await siblingsAreThere()
    for _ in 0..<Self.lookAgain.times / 2 where !repo.siblings.isEmpty {
      outcome = await repo.find(id)
      guard case .unavailable = outcome else { return outcome }
      guard await pause() else { return outcome }
    }
    return outcome
  }

  /// Returns when this process knows the grants that the process with the network has stored; or after a while.
  func learnAccess(to id: DocumentId, saidToBe access: Access?) async {
    for _ in 0..<Self.lookAgain.times {
      await sharing.refresh()
      if access == nil || sharing.access(to: id) == access { return }
      guard await pause() else { return }
    }
  }

  /// Returns when this process has read what the others wrote to the note's working file, and has the changes that it was made
  /// from; or after a while.
  func followSiblings(to handle: DocHandle) async {
    do {
      try await handle.takeStored()
    } catch {
      log.warning("What other processes have stored of \(handle.id) could not be read: \(error)")
    }
    guard !repo.siblings.isEmpty else { return }
    for _ in 0..<Self.lookAgain.times {
      do {
        try await notebook.refresh(handle.id)
      } catch {
        log.warning("What other processes know of \(handle.id) could not be read: \(error)")
      }
      let heads = Set(
        ([notebook[handle.id]].compactMap(\.self) + notebook.items(of: handle.id)).flatMap { $0.fileBase?.heads ?? [] })
      if handle.document.unknown(heads).isEmpty { return }
      guard await pause() else { return }
    }
  }

  /// Call when another process has stored a record of the document.
  private func readAgain(_ id: DocumentId) {
    Task { @AutomergeRepo in
      do {
        try await notebook.refresh(id)
        await sharing.refresh()
      } catch {
        log.warning("What another process knows of \(id) could not be read: \(error)")
      }
    }
  }

  /// Whether this process has found this person's others, or knows that it is the first; set by the code that connects them.
  public var hasSettled: @AutomergeRepo () -> Bool = { true }

  /// Returns when the other processes, if any, are connected. A process that has just become their hub gives them a moment to
  /// find it.
  func siblingsAreThere() async {
    for _ in 0..<Self.lookAgain.times where !hasSettled() { guard await pause() else { return } }
    for _ in 0..<3 where repo.siblings.isEmpty { guard await pause() else { return } }
  }

  /// The lock for merging a buffer that has outlived its service, which one process has at a time. Nil after a while.
  func reattachingTurn(of key: NoteKey) async -> (any NoteClaim)? { await turn("reattach-" + key.lockName) }

  /// A lock that one process of this person has at a time. Nil after a while.
  func turn(_ name: String) async -> (any NoteClaim)? { await claim(name, within: .seconds(4)) }

  /// A lock that another process of this person may hold. Nil if it still does after this time.
  func claim(_ name: String, exclusively: Bool = true, within longest: Duration) async -> (any NoteClaim)? {
    let end = clock.now + longest
    while true {
      if let claim = files.claim(name, exclusively: exclusively) { return claim }
      guard clock.now < end, await clock.pause(for: NoteHold.interval) else { return nil }
    }
  }

  /// Loads what the file of a note held; anew if another process may have written to it.
  func loadBase(of key: NoteKey) async throws {
    if !repo.siblings.isEmpty { try await notebook.reloadBase(of: key) }
    try await notebook.loadBase(of: key)
  }

  // MARK: Documents not in use

  private func sweepLater() {
    clock.schedule(after: IdleDocuments.interval) { [weak self] in
      guard let self else { return }
      if self.releasesIdleDocuments {
        self.idle.sweep(self.repo) { self.isOpen($0) || self.caretaker.isPlanned($0) }
      }
      self.sweepLater()
    }
  }

  /// False if waiting is over because the process ends.
  private func pause() async -> Bool { await clock.pause(for: Self.lookAgain.interval) }

  /// Call when another program may have written this file.
  func fileChanged(_ path: String) { outside?.changed(path) }
}
