import Automerge
import AutomergeRepo
import Foundation
import Logging

/// Follows a host that has moved a document to remove a guest: the new document replaces the old one in this person's
/// list, file and open buffers, with everything that was written into the old one meanwhile.
///
///     notified ──the new document is here──► words brought ──► record and file moved ──► buffers moved ──► followed
///       ▲                                                                                                     │
///       └────────────── after a failure, a restart, or when a peer connects ◄── not yet ──────────────────────┘
@AutomergeRepo
final class Mover {
  /// How long the host may take to send the new document.
  private static let maximumArrival: Duration = .seconds(30)

  private let environment: ServiceEnvironment
  private let author: LocalAuthor
  private let recoveredTexts: RecoveredTexts
  private let fileSync: WorkingFileSync
  private var following: Set<DocumentId> = []
  private var retry: (any ScheduledAction)?
  /// Old documents to which peers may still send words of people who stay.
  private var watched: [DocumentId: Observation] = [:]
  private let log = Logger(label: "moves")

  private var notebook: Notebook { environment.notebook }

  init(
    _ environment: ServiceEnvironment, _ author: LocalAuthor, _ recoveredTexts: RecoveredTexts,
    _ fileSync: WorkingFileSync
  ) {
    (self.environment, self.author, self.recoveredTexts) = (environment, author, recoveredTexts)
    self.fileSync = fileSync
    environment.repo.observe { [weak self] event in
      if case .peerConnected = event { self?.followAll() }
    }
  }

  /// Follows the moves that have not been followed yet.
  func followAll() {
    guard notebook.isLoaded else { return }
    for move in environment.sharing.movesToFollow {
      author.reserve(move.successor)
      follow(move)
    }
  }

  func follow(_ move: NoteMove) {
    guard notebook.isLoaded, following.insert(move.document).inserted else { return }
    author.reserve(move.successor)
    Task { @AutomergeRepo in
      var isDone = false
      defer {
        following.remove(move.document)
        if !isDone { followLater() }
      }
      do {
        guard case .found(let new) = await environment.repo.search(move.successor),
          case .found(let old) = await environment.repo.search(move.document)
        else { return }
        guard await new.has(move.heads, within: Self.maximumArrival, by: environment.clock) else { return }
        let stuck = try bring(from: old, to: new, move)
        try await self.move(old, to: new)
        try await environment.sharing.followed(move.document)
        watch(old, new, move, besides: stuck)
        environment.events.send(.followed(move))
        isDone = true
      } catch {
        log.error("\(move.document) could not continue as \(move.successor): \(error)")
      }
    }
  }

  /// The host may be too busy to send the document at present.
  private func followLater() {
    guard retry == nil else { return }
    retry = environment.clock.schedule(after: Self.retryPause) { [weak self] in
      self?.retry = nil
      self?.followAll()
    }
  }

  private static let retryPause: Duration = .seconds(10)

  /// Moves the note to the new document, here and in this person's other processes.
  func move(_ old: DocHandle, to new: DocHandle) async throws {
    try await new.flush()
    try await notebook.move(old.id, to: new.id, undoing: undoItems(of: old.id), at: environment.clock.date)
    fileSync.watch(new)
    environment.events.send(.moved(from: old, to: new))
    fileSync.plan(new)
  }

  /// Another process of this person has moved a note.
  func heardOfMove(_ old: DocumentId, to new: DocumentId) async {
    author.reserve(new)
    guard case .found(let newHandle) = await environment.repo.search(new),
      case .found(let oldHandle) = await environment.repo.search(old)
    else { return }
    do {
      try await notebook.refresh(new)
      try await notebook.refresh(old)
      // What was typed here since belongs to this person.
      let words = LateWords(
        in: oldHandle.document, notIn: newHandle.document, isRemoved: { !author.isOwn($0) }, isOwn: author.isOwn)
      if !words.changes.isEmpty { try newHandle.take(words.changes) }
    } catch {
      log.error("\(old) could not continue as \(new): \(error)")
    }
    environment.events.send(.moved(from: oldHandle, to: newHandle))
  }

  /// Brings what remaining people wrote into the old document to the new one.
  ///
  /// - Returns: this person's changes on top of those of the removed, whose words are brought or kept now
  private func bring(from old: DocHandle, to new: DocHandle, _ move: NoteMove) throws -> Set<ChangeHash> {
    let words = LateWords(in: old.document, notIn: new.document, isRemoved: move.isRemoved, isOwn: author.isOwn)
    guard environment.mayWrite(new.id) else {
      if words.hasOwn, notebook[old.id]?.successor == nil { keepAside(old) }
      return Set(words.stuck)
    }
    if !words.changes.isEmpty { try new.take(words.changes) }
    // Afterwards the note belongs to the new document. Doing this twice would duplicate the words.
    guard !words.stuck.isEmpty, notebook[old.id]?.successor == nil else { return Set(words.stuck) }
    if let note = NoteDocument(new.document),
      let merged = try words.withStuckWords(of: old.document, in: new.document, text: note.content)
    {
      merged.actor = new.document.actor
      try new.merge(merged)
    } else {
      keepAside(old)
    }
    return Set(words.stuck)
  }

  /// Brings what this person's other processes write into the old document before they know of the move, and keeps the
  /// text if they wrote on top of the removed guests' words.
  ///
  /// - Parameter stuck: changes whose words are brought or kept already
  private func watch(_ old: DocHandle, _ new: DocHandle, _ move: NoteMove, besides stuck: Set<ChangeHash>) {
    var stuck = stuck
    watched[old.id] = old.observe { [weak self, weak old, weak new] event in
      guard case .headsChanged = event, let self, let old, let new else { return }
      let words = LateWords(in: old.document, notIn: new.document, isRemoved: move.isRemoved, isOwn: self.author.isOwn)
      do {
        if !stuck.isSuperset(of: words.stuck) { self.keepAside(old) }
        stuck.formUnion(words.stuck)
        if !words.changes.isEmpty, self.environment.mayWrite(new.id) { try new.take(words.changes) }
      } catch {
        self.log.error("Late words for \(new.id) could not be merged: \(error)")
      }
    }
  }

  /// Keeps as a recovered text what cannot be brought separately.
  private func keepAside(_ old: DocHandle) {
    let text = NoteDocument(old.document).map { DocumentText($0).allUTF8 }
    guard let text = text ?? MeetingDocument(old.document).map({ Array($0.content.markdown.utf8) }) else { return }
    recoveredTexts.keepSoon(NoteKey(old.id), "the note continues without parts of it", text)
  }

  /// The undo history of a document's open buffers, which the store may not have yet.
  private func undoItems(of id: DocumentId) -> [StoredItem] {
    (environment.repo.handle(of: id)?.companions?() ?? []).compactMap { change in
      guard case .save(let item) = change, item.key.first == UndoRecord.collection else { return nil }
      return item
    }
  }
}
