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
    /// The size of the message that is being read.
    var readByteCount = 0
    /// The peer has gone, or has lost write access: its message no longer counts.
    private(set) var isOver = false
    private let turns: IncomingTurns
    /// Reads the messages.
    var task: Task<Void, Never>?

    init(_ turns: IncomingTurns) { self.turns = turns }

    var byteCount: Int { waiting.reduce(readByteCount) { $0 + $1.byteCount } }

    /// Returns true when a portion of the message may be read; call `endTurn` then. False if the queue is over.
    func beginTurn(of peer: PeerId) async -> Bool {
      guard !isOver, await turns.begin(peer, for: self) else { return false }
      if isOver { turns.end(peer, excess: 0) }
      return !isOver
    }

    func endTurn(of peer: PeerId, excess: Int) { turns.end(peer, excess: excess) }

    /// Releases the messages that wait, at once: a peer in debt could otherwise leave its data behind with each
    /// connection.
    func end() {
      isOver = true
      waiting = []
      task?.cancel()
      turns.withdraw(self)
    }
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
      let new = Queue(repo.connections.turns)
      queues[peer] = new
      new.waiting.append(content)
      new.task = Task { await self.readAll(new, from: peer) }
      repo.connections.hold(content.byteCount, of: peer)
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
    let byteCount = ended.byteCount
    ended.end()
    handle?.repo?.connections.hold(-byteCount, of: peer)
  }

  private func readAll(_ queue: Queue, from peer: PeerId) async {
    while !queue.isOver, let handle, let repo = handle.repo {
      guard !queue.waiting.isEmpty else { break }
      let content = queue.waiting.removeFirst()
      queue.readByteCount = content.byteCount
      let access = repo.sharing.access(handle.id, for: peer)
      if access == .write, let data = content.data, !IncomingWeight.isLight(data) {
        await read(data, content, queue, from: peer, for: handle)
      } else if access > .none {
        handle.deal(with: .received(content, from: peer, access: access))
        // Lets other work run.
        await Task.yield()
      }
      // A queue that is over has given back all that it held.
      guard !queue.isOver else { break }
      queue.readByteCount = 0
      handle.repo?.connections.hold(-content.byteCount, of: peer)
    }
    if !queue.isOver { queues[peer] = nil }
  }

  private func read(
    _ data: Data, _ content: RepoMessage.Content, _ queue: Queue, from peer: PeerId, for handle: DocHandle
  ) async {
    guard handle.sync.begin(content, from: peer) else { return }
    let (document, id) = (handle.document, handle.id)
    let before = document.heads()
    let wanted = handle.sync.filter(for: peer, document)
    guard await queue.beginTurn(of: peer) else { return }
    let opened = await Self.open(data, known: before.isEmpty ? [] : document.getHistory(), wanted, of: id)
    queue.endTurn(of: peer, excess: excess(opened?.message, from: peer))
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
        if let snapshot = portion.snapshot, !effects.isEmpty { handle.store?.received(snapshot) }
        handle.perform(effects)
        handle.refreshStatus()
        if message.isAtEnd { break }
      }
      guard await queue.beginTurn(of: peer) else { return }
      next = await Self.portion(of: message, insteadOf: known.map { (portion, $0) }, of: id)
      queue.endTurn(of: peer, excess: excess(message, from: peer))
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
    return (message, message.widening(filter) { Task.isCancelled }, Portion(of: message, id))
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
