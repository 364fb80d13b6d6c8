import Automerge
import Foundation

/// Applies the peers' large messages about a document: reads each on another thread and applies it in portions, so that
/// other work runs in between. Further messages of that peer about the document wait until then.
@AutomergeRepo
final class LargeMessages {
  /// A peer's message that is being read, and the messages that wait behind it.
  @AutomergeRepo
  private final class Queue {
    var waiting: [RepoMessage.Content] = []
    /// The peer has gone, or has lost write access: its message no longer counts.
    var isOver = false

    var byteCount: Int { waiting.reduce(0) { $0 + $1.byteCount } }
  }

  weak var handle: DocHandle?
  private var queues: [PeerId: Queue] = [:]

  nonisolated init() {}

  /// Whether nothing is being read.
  var isEmpty: Bool { queues.isEmpty }

  /// Whether an event waits, or is being handled elsewhere.
  func defers(_ event: DocumentSync.Event) -> Bool {
    switch event {
    case .received(let content, let peer, let access):
      if let queue = queues[peer] {
        queue.waiting.append(content)
        handle?.repo?.connections.hold(content.byteCount, of: peer)
        return true
      }
      guard access == .write, let data = content.data, !IncomingWeight.isLight(data), let repo = handle?.repo else {
        return false
      }
      let new = Queue()
      queues[peer] = new
      new.waiting.append(content)
      repo.connections.hold(content.byteCount, of: peer)
      Task { await self.readAll(new, from: peer) }
      return true
    case .connected(let peer, _), .disconnected(let peer), .accessChanged(let peer, .none),
      .accessChanged(let peer, .read):
      end(from: peer)
      return false
    default: return false
    }
  }

  func endAll() {
    for peer in Array(queues.keys) { end(from: peer) }
  }

  private func end(from peer: PeerId) {
    guard let ended = queues.removeValue(forKey: peer) else { return }
    ended.isOver = true
    handle?.repo?.connections.hold(-ended.byteCount, of: peer)
    ended.waiting = []
  }

  private func readAll(_ queue: Queue, from peer: PeerId) async {
    while !queue.isOver, let handle, let repo = handle.repo {
      guard !queue.waiting.isEmpty else { break }
      let content = queue.waiting.removeFirst()
      let access = repo.sharing.access(handle.id, for: peer)
      if access == .write, let data = content.data, !IncomingWeight.isLight(data) {
        await read(data, content, queue, from: peer, for: handle)
      } else if access > .none {
        handle.deal(with: .received(content, from: peer, access: access))
        // Lets other work run.
        await Task.yield()
      }
      handle.repo?.connections.hold(-content.byteCount, of: peer)
    }
    if !queue.isOver { queues[peer] = nil }
  }

  private func read(
    _ data: Data, _ content: RepoMessage.Content, _ queue: Queue, from peer: PeerId, for handle: DocHandle
  ) async {
    guard let turns = handle.repo?.connections.turns, handle.sync.begin(content, from: peer) else { return }
    let (document, id) = (handle.document, handle.id)
    let before = document.heads()
    let wanted = handle.sync.filter(for: peer, document)
    await turns.begin(peer)
    let opened = await Self.open(data, known: before.isEmpty ? [] : document.getHistory(), wanted, of: id)
    turns.end(peer, excess: excess(opened?.message, from: peer))
    guard let opened else {
      if !queue.isOver { handle.perform(handle.sync.malformed(from: peer)) }
      return
    }
    let message = opened.message
    var (filter, next) = (opened.filter, opened.first)
    while !queue.isOver, handle.repo != nil, let portion = next {
      let known = portion.snapshot == nil || document.isUntouched ? nil : document.getHistory()
      if known == nil {
        let effects = handle.ignoringWatch {
          handle.sync.take(portion.changes, of: message, filter: &filter, from: peer, document)
        }
        if let snapshot = portion.snapshot, !effects.isEmpty {
          handle.store?.received(snapshot, changeCount: portion.changes.wholeDocumentChangeCount)
        }
        handle.perform(effects)
        handle.refreshStatus()
        if message.isAtEnd { break }
      }
      await turns.begin(peer)
      next = queue.isOver ? nil : await Self.portion(of: message, insteadOf: known.map { (portion, $0) }, of: id)
      turns.end(peer, excess: excess(message, from: peer))
    }
    guard !queue.isOver, let repo = handle.repo else { return }
    let access = repo.sharing.access(id, for: peer)
    handle.perform(
      handle.ignoringWatch {
        handle.sync.finish(message, content, filter: filter, from: peer, access: access, since: before, document)
      })
    handle.refreshStatus()
  }

  /// The inflated bytes that are charged to the peer's budget; our own processes are not charged.
  private func excess(_ message: IncomingMessage?, from peer: PeerId) -> Int {
    let excess = message?.takeExcess() ?? 0
    return handle?.repo?.connections.isSibling(peer) == true ? 0 : excess
  }

  /// Some changes to apply, or a whole document with the form in which it is stored.
  private struct Portion {
    let changes: ChangePortion
    let snapshot: StoredItem?

    /// Nil at the end of the message.
    init?(of message: IncomingMessage, _ id: DocumentId) {
      guard let changes = message.nextPortion() else { return nil }
      self.changes = changes
      snapshot = changes.wholeDocument.map { DocumentStore.snapshot($0, of: id) }
    }
  }

  @concurrent
  private static func open(
    _ data: Data, known: [ChangeHash], _ filter: AuthorFilter, of id: DocumentId
  ) async -> (message: IncomingMessage, filter: AuthorFilter, first: Portion?)? {
    guard let message = try? IncomingMessage(data, known: known) else { return nil }
    return (message, message.widening(filter), Portion(of: message, id))
  }

  /// - Parameter whole: a whole document that came too late to be taken whole, and the changes that are here: the
  ///   others are applied one by one.
  @concurrent
  private static func portion(
    of message: IncomingMessage, insteadOf whole: (Portion, known: [ChangeHash])?, of id: DocumentId
  ) async -> Portion? {
    if let whole { message.list(whole.0.changes, known: whole.known) }
    return Portion(of: message, id)
  }
}
