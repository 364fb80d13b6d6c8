/// The peers' messages about a document that is being loaded, in the order in which they came.
///
/// Keeps each peer's first message, and further ones within limits. Remembers the peers with messages that were left
/// out, so that they are answered nevertheless.
struct QueuedMessages {
  typealias Message = (content: RepoMessage.Content, peer: PeerId)

  /// At most this many messages of one peer wait, and of all peers together, not counting each peer's first. All of
  /// them are handled in one turn. Source of both limits: PeerProtocol.md, "Expensive changes".
  static let maximumCountOfPeer = 64
  static let maximumFurtherCount = 256
  /// What a message needs besides its data, roughly.
  static let overheadByteCount = 128

  private(set) var messages: [Message] = []
  /// The peers with messages that were left out. Their later messages are not kept.
  private(set) var missed: Set<PeerId> = []
  private var countOfPeer: [PeerId: Int] = [:]

  /// The peers whose messages wait, in order.
  var peers: [PeerId] { countOfPeer.keys.sorted() }

  /// How much a message counts while it waits.
  static func byteCount(of content: RepoMessage.Content) -> Int { content.byteCount + overheadByteCount }

  /// Keeps a message, or returns false and remembers its peer.
  mutating func add(_ content: RepoMessage.Content, from peer: PeerId) -> Bool {
    let count = countOfPeer[peer] ?? 0
    let furtherCount = messages.count - countOfPeer.count
    let hasRoom = count == 0 || (count < Self.maximumCountOfPeer && furtherCount < Self.maximumFurtherCount)
    guard hasRoom, !missed.contains(peer) else {
      missed.insert(peer)
      return false
    }
    messages.append((content, peer))
    countOfPeer[peer] = count + 1
    return true
  }

  /// Forgets all messages of a peer that has gone.
  mutating func remove(_ peer: PeerId) {
    missed.remove(peer)
    if countOfPeer.removeValue(forKey: peer) != nil { messages.removeAll { $0.peer == peer } }
  }

  mutating func takeAll() -> QueuedMessages {
    defer { self = QueuedMessages() }
    return self
  }
}
