import Automerge
import Foundation

/// Applies the peers' large messages about a document: reads each on another thread and applies it in portions, so that
/// other work runs in between. Further messages of that peer about the document wait until then.
@AutomergeRepo
final class LargeMessages {
  /// Messages in the order in which they came, and what they count while they wait.
  private struct Line {
    /// The next messages, the first one last, and those that came since.
    private var next: [RepoMessage.Content] = []
    private var later: [RepoMessage.Content] = []
    private(set) var byteCount = 0

    mutating func append(_ content: RepoMessage.Content) {
      later.append(content)
      byteCount += QueuedMessages.byteCount(of: content)
    }

    /// - Complexity: O(1) on average
    mutating func takeFirst() -> RepoMessage.Content? {
      if next.isEmpty { (next, later) = (later.reversed(), []) }
      guard let first = next.popLast() else { return nil }
      byteCount -= QueuedMessages.byteCount(of: first)
      return first
    }
  }

  /// A peer's message that is being read, and the messages that wait behind it.
  @AutomergeRepo
  private final class Queue {
    /// Whether the peer could write when its message came.
    let isWriter: Bool
    var waiting = Line()
    /// What the message that is being read counts.
    var readByteCount = 0
    /// The peer has gone, or has lost write access: its message no longer counts.
    private(set) var isOver = false
    private let turns: IncomingTurns
    /// Reads the messages.
    var task: Task<Void, Never>?

    init(_ turns: IncomingTurns, isWriter: Bool) { (self.turns, self.isWriter) = (turns, isWriter) }

    var byteCount: Int { readByteCount + waiting.byteCount }

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
      waiting = Line()
      task?.cancel()
      turns.withdraw(self)
    }
  }

  /// Longer messages of peers with read access are read on another thread: of these only the header counts.
  private static let longByteCount = 1 << 20

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
        handle?.repo?.connections.hold(QueuedMessages.byteCount(of: content), of: peer)
        return true
      }
      guard Self.isLarge(content, access), let repo = handle?.repo else { return false }
      let new = Queue(repo.connections.turns, isWriter: access == .write)
      queues[peer] = new
      new.waiting.append(content)
      new.task = Task { await self.readAll(new, from: peer) }
      repo.connections.hold(QueuedMessages.byteCount(of: content), of: peer)
      return true
    case .connected(let peer, _), .disconnected(let peer), .accessChanged(let peer, .none):
      end(from: peer)
      return false
    case .accessChanged(let peer, .read):
      if queues[peer]?.isWriter == true { end(from: peer) }
      return false
    default: return false
    }
  }

  private static func isLarge(_ content: RepoMessage.Content, _ access: Access) -> Bool {
    guard let data = content.data else { return false }
    return switch access {
    case .none: false
    case .read: data.count > longByteCount
    case .write: !IncomingWeight.isLight(data)
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
      guard let content = queue.waiting.takeFirst() else { break }
      queue.readByteCount = QueuedMessages.byteCount(of: content)
      let access = repo.sharing.access(handle.id, for: peer)
      if Self.isLarge(content, access), let data = content.data {
        switch access {
        case .write: await read(data, content, queue, from: peer, for: handle)
        case .none, .read: await readHeader(data, content, queue, from: peer, for: handle)
        }
      } else if access > .none {
        handle.deal(with: .received(content, from: peer, access: access))
        // Lets other work run.
        await AutomergeRepo.yield()
      }
      // A queue that is over has given back all that it held.
      guard !queue.isOver else { break }
      queue.readByteCount = 0
      handle.repo?.connections.hold(-QueuedMessages.byteCount(of: content), of: peer)
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
        if let snapshot = portion.snapshot, !effects.isEmpty {
          handle.store?.received(snapshot, changeCount: portion.changes.wholeDocumentChangeCount)
        }
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

  private func readHeader(
    _ data: Data, _ content: RepoMessage.Content, _ queue: Queue, from peer: PeerId, for handle: DocHandle
  ) async {
    guard await queue.beginTurn(of: peer) else { return }
    let short = await Self.header(of: data)
    queue.endTurn(of: peer, excess: 0)
    guard !queue.isOver, let repo = handle.repo else { return }
    guard let short else { return handle.perform(handle.sync.malformed(from: peer)) }
    if short.hadChanges { handle.perform([.refused(peer, .readOnly)]) }
    let header: RepoMessage.Content = content.isRequest ? .request(short.header) : .sync(short.header)
    handle.deal(with: .received(header, from: peer, access: repo.sharing.access(handle.id, for: peer)))
  }

  @concurrent
  private static func header(of data: Data) async -> (header: Data, hadChanges: Bool)? {
    IncomingMessage.withoutChanges(data)
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
