import Automerge
import AutomergeRepo
import Foundation
import Logging

/// Keeps the documents that this person may only read equal to their hosts' copies.
///
/// This person cannot change them here. But what they typed while the host revoked write access, or offline before they
/// were told, is in the document already, and the host will never accept it. It is removed again, in all processes of
/// this person:
///
///     refused ──its texts are kept──► announced in the store ──► removed from memory, then from the store
///
/// A process that dies at any step has lost nothing, and the next one continues from there.
@AutomergeRepo
final class ReadOnlyCopies {
  /// The pause before a retry after the store has failed.
  private static let retryInterval: Duration = .seconds(1)
  /// How long changes may take to reach a host that we are not connected to. Source: PeerProtocol.md, "Access".
  private static let maximumDetour: Duration = .seconds(10)
  private static let messageType = "notes-discard"

  private let environment: ServiceEnvironment
  private let author: LocalAuthor
  private let recoveredTexts: RecoveredTexts
  private let fileSync: WorkingFileSync
  private var watched: [DocumentId: Observation] = [:]
  private var timers: [DocumentId: any ScheduledAction] = [:]
  /// Since when a copy has changes that its host lacks and may still receive through other peers.
  private var differing: [DocumentId: Duration] = [:]
  /// Documents from which changes are being removed.
  private var removing: Set<DocumentId> = []
  /// Changes that other processes removed and this one has passed on.
  private var relayed: Set<ChangeHash> = []
  private let log = Logger(label: "notes")

  private var notebook: Notebook { environment.notebook }

  init(
    _ environment: ServiceEnvironment, _ author: LocalAuthor, _ recoveredTexts: RecoveredTexts,
    _ fileSync: WorkingFileSync
  ) {
    (self.environment, self.author, self.recoveredTexts) = (environment, author, recoveredTexts)
    self.fileSync = fileSync
    environment.repo.observe { [weak self] event in
      switch event {
      case .documentOpened(let handle): self?.watch(handle)
      case .documentReleased(let id), .documentDeleted(let id): self?.forget(id)
      case .peerConnected, .peerDisconnected, .siblingConnected, .siblingDisconnected: break
      }
    }
    environment.repo.onMessage(ofType: Self.messageType) { [weak self] fields, peer in self?.heard(fields, from: peer) }
  }

  private func watch(_ handle: DocHandle) {
    watched[handle.id] = handle.observe { [weak self, weak handle] event in
      switch event {
      case .peersChanged, .headsChanged: if let handle { self?.look(handle) }
      default: break
      }
    }
    look(handle)
  }

  private func forget(_ id: DocumentId) {
    watched.removeValue(forKey: id)?.cancel()
    timers.removeValue(forKey: id)?.cancel()
    differing[id] = nil
  }

  /// Call when the host of a document has changed what this person may do.
  func accessChanged(_ id: DocumentId) {
    guard !environment.mayWrite(id) else { return }
    Task { @AutomergeRepo in if case .found(let handle) = await environment.repo.search(id) { look(handle) } }
  }

  /// Checks whether the copy has changes that its host refuses.
  private func look(_ handle: DocHandle) {
    let id = handle.id
    guard !environment.mayWrite(id) else { return }
    timers.removeValue(forKey: id)?.cancel()
    switch difference(of: handle) {
    case .none: differing[id] = nil
    case .onItsWay(let time): lookAgain(handle, after: time)
    case .refused:
      // Not in this turn, because the document may be sending its heads to its peers.
      guard removing.insert(id).inserted else { return }
      Task { @AutomergeRepo in
        let isDone = await remove(from: handle)
        removing.remove(id)
        if isDone { look(handle) } else { lookAgain(handle, after: Self.retryInterval) }
      }
    }
  }

  private func lookAgain(_ handle: DocHandle, after time: Duration) {
    timers[handle.id] = environment.clock.schedule(after: time) { [weak self, weak handle] in
      if let handle { self?.look(handle) }
    }
  }

  /// The difference between a read-only copy and its host's.
  private enum Difference {
    /// None, or none that is known: the handle reports a change.
    case none
    /// Changes that other peers may bring to the host within this time.
    case onItsWay(Duration)
    /// Changes of this person that the host will never accept.
    case refused(Set<ChangeHash>)
  }

  private func difference(of handle: DocHandle) -> Difference {
    let id = handle.id
    // Only heads that the host sends while it refuses our changes show everything that it will ever accept.
    guard !environment.mayWrite(id), let host = environment.sharing.host(of: id)?.peer, handle.peers.contains(host),
      let heads = handle.heads(of: host), !heads.isEmpty, handle.isRefused(by: host)
    else { return .none }
    var own = handle.ownChanges(since: heads)
    for peer in others(on: handle, besides: host) {
      // Changes that a peer with write access has belong to everyone, and reach the host from there.
      if peer.mayWrite { own.formIntersection(handle.changes(missingAt: peer.id)) }
      // Changes that another person brought back stay, because they would come again and again.
      own.subtract(handle.discarded)
    }
    guard !own.isEmpty else { return .none }
    guard handle.isIdle(with: host) else { return .refused(own) }
    let since = differing[id] ?? environment.clock.now
    differing[id] = since
    let left = Self.maximumDetour - (environment.clock.now - since)
    return left > .zero ? .onItsWay(left) : .refused(own)
  }

  private func others(on handle: DocHandle, besides host: PeerId) -> [(id: PeerId, mayWrite: Bool)] {
    let peers = handle.peers.filter { $0 != host && !environment.repo.siblings.contains($0) }
    guard !peers.isEmpty else { return [] }
    let writers = environment.sharing.people(on: handle.id).filter { $0.access == .write }.map(\.peer)
    return peers.map { ($0, writers.contains($0)) }
  }

  // MARK: Removing

  /// Removes what the host refuses. False if this must be tried again.
  private func remove(from handle: DocHandle) async -> Bool {
    let isDone = await keepAndDiscard(handle, announced: handle.discarded) {
      if case .refused(let changes) = self.difference(of: handle) { changes } else { [] }
    }
    differing[handle.id] = nil
    return isDone
  }

  /// Removes changes, but only after every text that loses something by this is stored as a recovered text.
  ///
  /// - Parameter announced: changes whose words are kept already
  /// - Parameter changes: evaluated again after every wait, because the document may have changed
  /// - Returns: false if the store has failed
  private func keepAndDiscard(
    _ handle: DocHandle, announced: Set<ChangeHash>, _ changes: () -> Set<ChangeHash>
  ) async -> Bool {
    let keys = notebook.keys(of: handle.id).filter { notebook[$0] != nil }
    var kept: [NoteKey: RecoveredText] = [:]
    var stored: Set<ChangeHash> = []
    do {
      for key in keys { try await notebook.loadBase(of: key) }
      while true {
        handle.prepareToDiscard()
        let changes = changes()
        guard !changes.isEmpty else {
          if !stored.isEmpty { try await handle.keepAnnounced(stored) }
          return true
        }
        let all = notebook.keys(of: handle.id)
        let lost = try KeptWords.lost(changes, of: handle.document, all, announced)
        if let (key, words) = lost.first(where: { kept[$0.key]?.text != $0.value.text }) {
          kept[key] = try await keep(words, of: key, insteadOf: kept[key])
          continue
        }
        let going = handle.document.changesOnTop(of: changes)
        rebase(keys, of: handle, to: handle.document.heads(without: changes))
        guard stored == going else {
          if !stored.isEmpty { try await handle.keepAnnounced(stored) }
          // In one turn, because the bases of the working files must match the document's state.
          let records = keys.compactMap { notebook[$0] }.flatMap { record in
            notebook.storing(record, withBase: true)
          }
          try await handle.announceDiscarding(going, with: records)
          stored = going
          continue
        }
        tellSiblings(of: handle.id, going, except: nil)
        let gone = try handle.discard(going, goingOnAs: author.actor(for: handle.id))
        log.notice("\(gone.count) changes of \(handle.id) were removed, because its host refuses them.")
        break
      }
      handle.storeSoon()
      for key in keys {
        try await notebook.save(key)
        if !environment.openNotes.contains(key) { fileSync.plan(handle) }
      }
    } catch {
      log.error("The changes of \(handle.id) that its host refuses could not be removed: \(error)")
      return false
    }
    for (key, text) in kept { await recoveredTexts.tellRefused(text, of: key, title: title(of: key)) }
    return true
  }

  /// Rebases what is known of the working files: it refers to states that the document is about to lose.
  private func rebase(_ keys: [NoteKey], of handle: DocHandle, to heads: Set<ChangeHash>) {
    for key in keys {
      guard let note = NoteDocument(handle.document, item: key.item) else { continue }
      notebook.update(key) { record in
        if let seen = record.seen, seen != heads { record.seen = heads }
        guard record.isBaseAbout(note), let base = record.fileBase?.rebased(to: heads, in: note) else { return }
        record.fileBase = base
      }
    }
  }

  /// Stores a text with words that are about to be removed from the document, unless a process that died has stored it already.
  private func keep(
    _ words: KeptWords, of key: NoteKey, insteadOf earlier: RecoveredText?
  ) async throws(StorageError) -> RecoveredText {
    let reason = "the host made the note read-only before this reached it"
    if earlier == nil {
      let found = try await notebook.storage.loadRange([RecoveredText.collection, key.document.description])
        .compactMap(RecoveredText.init)
      if let same = found.first(where: { $0.reason == reason && $0.text == words.text }) { return same }
    }
    let kept = RecoveredText(
      id: key.document, itemTitle: notebook.itemTitle(of: key), stamp: earlier?.stamp ?? recoveredTexts.newStamp(),
      reason: reason, text: words.text)
    try await recoveredTexts.keep(kept)
    return kept
  }

  private func title(of key: NoteKey) -> String {
    notebook[key]?.title ?? notebook[key.document]?.title ?? ""
  }

  // MARK: Other processes

  private func tellSiblings(of id: DocumentId, _ changes: Set<ChangeHash>, except teller: PeerId?) {
    let fields: [String: CBOR] = [
      "documentId": .text(id.description), "changes": .array(changes.sorted().map { .bytes(Data($0.bytes)) }),
    ]
    for sibling in environment.repo.siblings where sibling != teller {
      environment.repo.send(type: Self.messageType, fields: fields, to: sibling)
    }
  }

  private func heard(_ fields: [String: CBOR], from sibling: PeerId) {
    guard environment.repo.siblings.contains(sibling), let id = fields["documentId"]?.text.flatMap({ DocumentId($0) })
    else { return }
    let hashes = (fields["changes"]?.array ?? []).compactMap { $0.bytes.flatMap { ChangeHash(bytes: Array($0)) } }
    let changes = Set(hashes)
    if let handle = environment.repo.handle(of: id), handle.document.unknown(changes) != changes {
      discard(changes, of: handle)
    }
    guard !changes.isSubset(of: relayed) else { return }
    if relayed.count > Self.maximumRelayed { relayed = [] }
    relayed.formUnion(changes)
    tellSiblings(of: id, changes, except: sibling)
  }

  private static let maximumRelayed = 4096

  /// Removes what another process has removed and kept. Does so at once, unless other changes depend on it, whose words
  /// must be kept first.
  private func discard(_ changes: Set<ChangeHash>, of handle: DocHandle) {
    handle.prepareToDiscard()
    let keys = notebook.keys(of: handle.id).filter { notebook[$0] != nil }
    if handle.document.changesOnTop(of: changes).isSubset(of: changes) {
      rebase(keys, of: handle, to: handle.document.heads(without: changes))
      do {
        try handle.discard(changes, goingOnAs: author.actor(for: handle.id))
        return handle.storeSoon()
      } catch {
        log.error("What another process removed from \(handle.id) could not be removed here: \(error)")
      }
    }
    Task { @AutomergeRepo in
      _ = await keepAndDiscard(handle, announced: changes) { changes.subtracting(handle.document.unknown(changes)) }
    }
  }
}
