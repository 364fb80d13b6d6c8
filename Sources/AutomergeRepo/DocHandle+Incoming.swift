import Automerge
import Foundation

/// Large messages: read on another thread and applied in portions, with other work in between. Further messages of the same
/// peer about the document wait until then.
extension DocHandle {
  /// A peer's message that is being read, and the messages that wait behind it.
  @AutomergeRepo
  final class Incoming {
    var waiting: [DocumentSync.Payload] = []
    /// The peer has gone, or has lost write access: its message does not count.
    var isOver = false

    var byteCount: Int { waiting.reduce(0) { $0 + $1.byteCount } }
  }

  /// Whether an event waits, or is being handled elsewhere.
  func defers(_ event: DocumentSync.Event) -> Bool {
    switch event {
    case .received(let payload, let peer, let access):
      if let incoming = incoming[peer] {
        incoming.waiting.append(payload)
        repo?.holds(payload.byteCount, of: peer)
        return true
      }
      guard access == .write, let data = payload.data, !IncomingWeight.isLight(data), repo != nil else { return false }
      let new = Incoming()
      incoming[peer] = new
      new.waiting.append(payload)
      repo?.holds(payload.byteCount, of: peer)
      Task { await self.readAll(new, from: peer) }
      return true
    case .connected(let peer, _), .disconnected(let peer), .accessChanged(let peer, .none),
      .accessChanged(let peer, .read):
      endIncoming(from: peer)
      return false
    default: return false
    }
  }

  func endAllIncoming() {
    for peer in Array(incoming.keys) { endIncoming(from: peer) }
  }

  private func endIncoming(from peer: PeerId) {
    guard let ended = incoming.removeValue(forKey: peer) else { return }
    ended.isOver = true
    repo?.holds(-ended.byteCount, of: peer)
    ended.waiting = []
  }

  private func readAll(_ incoming: Incoming, from peer: PeerId) async {
    while !incoming.isOver, let repo {
      guard !incoming.waiting.isEmpty else { break }
      let payload = incoming.waiting.removeFirst()
      let access = repo.access(id, for: peer)
      if access == .write, let data = payload.data, !IncomingWeight.isLight(data) {
        await read(data, payload, incoming, from: peer)
      } else if access > .none {
        deal(with: .received(payload, from: peer, access: access))
        // Lets other work run.
        await Task.yield()
      }
      self.repo?.holds(-payload.byteCount, of: peer)
    }
    if !incoming.isOver { self.incoming[peer] = nil }
  }

  private func read(
    _ data: Data, _ payload: DocumentSync.Payload, _ incoming: Incoming, from peer: PeerId
  ) async {
    guard let turns = repo?.turns, sync.begin(payload, from: peer) else { return }
    let before = document.heads()
    let wanted = sync.filter(for: peer, document)
    await turns.begin(peer)
    let opened = await DocHandle.open(data, known: before.isEmpty ? [] : document.getHistory(), wanted, of: id)
    turns.end(peer, excess: excess(opened?.message, from: peer))
    guard let opened else {
      if !incoming.isOver { perform(sync.malformed(from: peer)) }
      return
    }
    let message = opened.message
    var (filter, next) = (opened.filter, opened.first)
    while !incoming.isOver, self.repo != nil, let portion = next {
      let known = portion.snapshot == nil || document.isUntouched ? nil : document.getHistory()
      if known == nil {
        let effects = ignoringWatch { sync.take(portion.changes, of: message, filter: &filter, from: peer, document) }
        if let snapshot = portion.snapshot, !effects.isEmpty { store?.received(snapshot) }
        perform(effects)
        refreshStatus()
        if message.isAtEnd { break }
      }
      await turns.begin(peer)
      next =
        incoming.isOver ? nil : await DocHandle.portion(of: message, insteadOf: known.map { (portion, $0) }, of: id)
      turns.end(peer, excess: excess(message, from: peer))
    }
    guard !incoming.isOver, let repo else { return }
    let access = repo.access(id, for: peer)
    perform(
      ignoringWatch {
        sync.finish(message, payload, filter: filter, from: peer, access: access, since: before, document)
      })
    refreshStatus()
  }

  /// The inflated bytes that a peer has to pay for; our own processes pay nothing.
  private func excess(_ message: IncomingMessage?, from peer: PeerId) -> Int {
    let excess = message?.takeExcess() ?? 0
    return repo?.isSibling(peer) == true ? 0 : excess
  }

  /// Some changes to take in, or a whole document with the form in which it is stored.
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

  /// - Parameter whole: a whole document that has come too late, and the changes that are here: the others come one by one.
  @concurrent
  private static func portion(
    of message: IncomingMessage, insteadOf whole: (Portion, known: [ChangeHash])?, of id: DocumentId
  ) async -> Portion? {
    if let whole { message.list(whole.0.changes, known: whole.known) }
    return Portion(of: message, id)
  }
}

extension DocumentSync.Payload {
  var data: Data? {
    switch self {
    case .sync(let data), .request(let data): data
    case .unavailable: nil
    }
  }

  var byteCount: Int { data?.count ?? 0 }

  var isRequest: Bool { if case .request = self { true } else { false } }
}

extension Repo {
  /// Beyond this much waiting from one peer nothing is read from it until less than half of that waits.
  /// Source: PeerProtocol.md, "Expensive changes".
  static let mostWaitingBytes = 1 << 20

  /// Adds to the bytes of a peer's messages that wait.
  func holds(_ byteCount: Int, of peer: PeerId) {
    guard let connection = connections[peer] else { return }
    let count = max(0, connection.waitingByteCount + byteCount)
    connections[peer]?.waitingByteCount = count
    let isHeld = connection.isHeld ? count > Repo.mostWaitingBytes / 2 : count > Repo.mostWaitingBytes
    guard isHeld != connection.isHeld else { return }
    connections[peer]?.isHeld = isHeld
    connection.provider.setReading(!isHeld, from: peer)
  }
}
