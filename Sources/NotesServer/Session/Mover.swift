import Automerge
import AutomergeRepo
import Foundation
import Logging

/// Follows hosts that move a document to remove a guest: the new document takes the old one's place in this person's list, file
/// and open buffers, with everything that was written into the old one meanwhile.
///
///     told ──the new document is here──► words brought ──► record and file moved ──► buffers moved ──► followed
///       ▲                                                                                                 │
///       └──────────── after a failure, a restart, or when a peer connects ◄── not yet ────────────────────┘
@AutomergeRepo
final class Mover {
  /// Called in each process when a note's record has become the new document's: its buffers move there.
  var onMoved: (@AutomergeRepo (_ old: DocHandle, _ new: DocHandle) -> Void)?
  /// Called in the process with the network when a host's move is complete.
  var onFollowed: (@AutomergeRepo (NoteMove) -> Void)?

  private unowned let service: Service
  private var following: Set<DocumentId> = []
  private var retry: (any ScheduledAction)?
  /// Old documents to which peers may still bring words of people who stay.
  private var watched: [DocumentId: Observation] = [:]
  private let log = Logger(label: "moves")

  init(service: Service) {
    self.service = service
    service.repo.observe { [weak self] event in
      if case .peerConnected = event { self?.followAll() }
    }
  }

  /// Follows the moves that have not been followed yet.
  func followAll() {
    guard service.isLoaded else { return }
    for move in service.sharing.movesToFollow {
      service.reserve(move.successor)
      follow(move)
    }
  }

  func follow(_ move: NoteMove) {
    guard service.isLoaded, following.insert(move.document).inserted else { return }
    service.reserve(move.successor)
    Task { @AutomergeRepo in
      var isDone = false
      defer {
        following.remove(move.document)
        if !isDone { followLater() }
      }
      do {
        guard case .found(let new) = await service.repo.find(move.successor),
          case .found(let old) = await service.repo.find(move.document)
        else { return }
        guard await isHere(move.heads, in: new) else { return }
        try bring(from: old, to: new, move)
        try await self.move(old, to: new)
        try await service.sharing.followed(move.document)
        watch(old, new, move)
        onFollowed?(move)
        isDone = true
      } catch {
        log.error("\(move.document) could not go on as \(move.successor): \(error)")
      }
    }
  }

  /// The host may be too busy to send the document just now.
  private func followLater() {
    guard retry == nil else { return }
    retry = service.clock.schedule(after: Self.retryPause) { [weak self] in
      self?.retry = nil
      self?.followAll()
    }
  }

  private static let retryPause: Duration = .seconds(10)

  /// Moves the note to the new document, here and in this person's other processes.
  func move(_ old: DocHandle, to new: DocHandle) async throws {
    try await new.flush()
    try await service.notebook.move(old.id, to: new.id, undoing: service.undoItems(of: old.id), at: service.clock.date)
    service.caretaker.watch(new)
    onMoved?(old, new)
    service.caretaker.plan(new)
  }

  /// Another process of this person has moved a note.
  func heardOfMove(_ old: DocumentId, to new: DocumentId) async {
    service.reserve(new)
    guard case .found(let newHandle) = await service.repo.find(new),
      case .found(let oldHandle) = await service.repo.find(old)
    else { return }
    do {
      try await service.notebook.refresh(new)
      try await service.notebook.refresh(old)
      // What was typed here since belongs to this person.
      let words = LateWords(
        in: oldHandle.document, notIn: newHandle.document, isRemoved: { !self.isOwn($0) }, isOwn: isOwn)
      if !words.changes.isEmpty { try newHandle.take(words.changes) }
    } catch {
      log.error("\(old) could not go on as \(new): \(error)")
    }
    onMoved?(oldHandle, newHandle)
  }

  private func isOwn(_ actor: ActorId) -> Bool { NoteAuthors.person(of: actor) == service.identity.person }

  /// Brings what remaining people wrote into the old document to the new one.
  private func bring(from old: DocHandle, to new: DocHandle, _ move: NoteMove) throws {
    let words = LateWords(in: old.document, notIn: new.document, isRemoved: move.isRemoved, isOwn: isOwn)
    guard service.mayWrite(new.id) else {
      if words.hasOwn, service.notebook[old.id]?.successor == nil { keepAside(old) }
      return
    }
    if !words.changes.isEmpty { try new.take(words.changes) }
    // Once it is done the note belongs to the new document; doing it twice would double the words.
    guard !words.stuck.isEmpty, service.notebook[old.id]?.successor == nil else { return }
    if let note = NoteDocument(new.document),
      let merged = try words.withStuckWords(of: old.document, in: new.document, text: note.content)
    {
      merged.actor = new.document.actor
      try new.merge(merged)
    } else {
      keepAside(old)
    }
  }

  /// Brings what still enters the old document, from this person's processes that had not heard.
  private func watch(_ old: DocHandle, _ new: DocHandle, _ move: NoteMove) {
    watched[old.id] = old.observe { [weak self, weak old, weak new] event in
      guard case .headsChanged = event, let self, let old, let new else { return }
      let words = LateWords(in: old.document, notIn: new.document, isRemoved: move.isRemoved, isOwn: self.isOwn)
      do {
        if !words.changes.isEmpty, self.service.mayWrite(new.id) { try new.take(words.changes) }
      } catch {
        self.log.error("Late words for \(new.id) could not be taken in: \(error)")
      }
    }
  }

  /// Keeps as a recovered text what cannot be brought by itself.
  private func keepAside(_ old: DocHandle) {
    guard let note = NoteDocument(old.document) else { return }
    service.keepSoon(old.id, "the note goes on without parts of it", DocumentText(note).allUTF8)
  }

  /// Whether the document has the heads that it began with, as soon as its host has sent them.
  private func isHere(_ heads: Set<ChangeHash>, in handle: DocHandle) async -> Bool {
    for _ in 0..<Self.looks.times where !handle.document.unknown(heads).isEmpty {
      guard await service.clock.pause(for: Self.looks.interval) else { return false }
    }
    return handle.document.unknown(heads).isEmpty
  }

  private static let looks: (times: Int, interval: Duration) = (600, .milliseconds(50))
}

extension Service {
  /// A separate document with all changes of another, in which this process writes as a new author.
  func makeSuccessor(of old: DocHandle) throws -> DocHandle {
    let handle = try repo.create(old.document.fork())
    handle.adoptSignatures(of: old)
    handle.document.actor = newActor()
    return handle
  }

  /// The undo history of a document's open buffers, which the store may not have yet.
  func undoItems(of id: DocumentId) -> [StoredItem] {
    (repo.handle(of: id)?.companions?() ?? []).compactMap { change in
      guard case .save(let item) = change, item.key.first == UndoRecord.collection else { return nil }
      return item
    }
  }
}
