import AutomergeRepo

/// Why a connection did not become a link to a peer, or ended.
public enum HandshakeError: Error, Hashable, Sendable {
  /// A message out of order.
  case unexpectedMessage
  /// The other side speaks none of our versions of the protocol.
  case versionMismatch
  /// The peer wants to reach another peer, or is not the one that we want.
  case wrongPeer
  /// We have reached ourselves.
  case ownPeerId
  case unusablePeerId
  case timedOut
  /// The other side refused us, with this reason.
  case refused(String)
}

/// Identifies the peer at the other end of a connection, and holds it to that identity and to its proof.
///
///     dialer:    opened ─(join)─► awaitingPeer ──peer──► established ──leave──► closed
///     listener:  awaitingJoin ──join─(peer)──► established
public struct PeerHandshake {
  /// Source: PeerProtocol.md, "Links".
  public static let timeout: Duration = .seconds(5)
  package static let version = "1"
  package static let maximumPeerIdByteCount = 256

  public enum Role: Hashable, Sendable {
    /// We called, and accept only `expecting`, if it is given.
    case dialer(expecting: PeerId?)
    case listener
  }

  public enum Event {
    case opened(PeerProof)
    case received(RepoMessage)
    /// The timeout has passed since the connection opened.
    case timedOut
  }

  public enum Effect: Equatable {
    case send(RepoMessage)
    case established(PeerId, PeerMetadata)
    /// A message with the right sender and receiver.
    case deliver(RepoMessage)
    /// Close after sending what waits. Nil if the other side has said goodbye.
    case close(HandshakeError?)
  }

  private enum State {
    case idle
    case awaitingPeer
    case awaitingJoin
    case established(PeerId)
    case closed
  }

  package let role: Role
  private var local: LocalPeer
  private let permits: Permission
  /// The other side's proof; nil until it is known.
  package private(set) var proof: PeerProof?
  /// The link's rank among those to this peer; nil until established, and if one of the two sends no marks.
  package private(set) var rank: LinkRank?
  private var state = State.idle

  /// Whether a connection with this proof may belong to a peer with this id.
  package typealias Permission = (PeerProof, PeerId) -> Bool

  public init(role: Role, local: LocalPeer) { self.init(role: role, local: local, permits: { $0.permits($1) }) }

  package init(role: Role, local: LocalPeer, permits: @escaping Permission) {
    (self.role, self.local, self.permits) = (role, local, permits)
  }

  /// Whether the other side has shown its proof.
  package var isOpened: Bool { proof != nil }

  /// Sets what to say of a call that has not introduced itself yet.
  package mutating func mark(_ call: CallMark) { local.metadata.call = call }

  /// The peer at the other end, once known.
  public var peer: PeerId? {
    if case .established(let peer) = state { peer } else { nil }
  }

  public mutating func receive(_ event: Event) -> [Effect] {
    switch (state, event) {
    case (.idle, .opened(let proof)):
      self.proof = proof
      switch role {
      case .dialer:
        state = .awaitingPeer
        return [
          .send(
            .join(senderId: local.peerId, metadata: local.metadata, versions: [Self.version]))
        ]
      case .listener:
        state = .awaitingJoin
        return []
      }
    case (.awaitingJoin, .received(.join(let sender, let metadata, let versions))):
      return join(from: sender, metadata, versions)
    case (.awaitingPeer, .received(.peer(let sender, let target, let metadata, let version))):
      return peer(sender, target, metadata, version)
    case (.awaitingPeer, .received(.error(_, _, let message))):
      return fail(.refused(String(message.prefix(200))))
    case (.awaitingJoin, .received), (.awaitingPeer, .received), (.idle, .received):
      return fail(.unexpectedMessage)
    case (.awaitingJoin, .timedOut), (.awaitingPeer, .timedOut), (.idle, .timedOut):
      return fail(.timedOut)
    case (.established(let peer), .received(let message)):
      return established(message, from: peer)
    case (.established, .opened), (.established, .timedOut), (.closed, _), (.awaitingJoin, .opened),
      (.awaitingPeer, .opened):
      return []
    }
  }

  private mutating func join(from sender: PeerId, _ metadata: PeerMetadata, _ versions: [String]) -> [Effect] {
    guard versions.contains(Self.version) else {
      return fail(.versionMismatch, saying: "unsupported protocol version")
    }
    if let problem = problem(with: sender) { return fail(problem) }
    state = .established(sender)
    rank = LinkRank(call: metadata.call, peer: metadata.call, isFromSmaller: sender < local.peerId)
    let answer = RepoMessage.peer(
      senderId: local.peerId, targetId: sender, metadata: local.metadata, version: Self.version)
    return [.send(answer), .established(sender, metadata)]
  }

  private mutating func peer(
    _ sender: PeerId, _ target: PeerId?, _ metadata: PeerMetadata, _ version: String?
  ) -> [Effect] {
    guard version == nil || version == Self.version else { return fail(.versionMismatch) }
    guard target == nil || target == local.peerId else { return fail(.wrongPeer) }
    if let problem = problem(with: sender) { return fail(problem) }
    if case .dialer(expecting: let expected?) = role, expected != sender { return fail(.wrongPeer) }
    state = .established(sender)
    rank = LinkRank(call: local.metadata.call, peer: metadata.call, isFromSmaller: local.peerId < sender)
    return [.established(sender, metadata)]
  }

  private func problem(with sender: PeerId) -> HandshakeError? {
    if sender == local.peerId { return .ownPeerId }
    if proof.map({ permits($0, sender) }) != true { return .wrongPeer }
    return sender.description.utf8.count > Self.maximumPeerIdByteCount ? .unusablePeerId : nil
  }

  private mutating func established(_ message: RepoMessage, from peer: PeerId) -> [Effect] {
    guard case .leave(let sender) = message else {
      return message.isAddressed(from: peer, to: local.peerId) ? [.deliver(message)] : []
    }
    guard sender == peer else { return [] }
    state = .closed
    return [.close(nil)]
  }

  private mutating func fail(_ error: HandshakeError, saying message: String? = nil) -> [Effect] {
    state = .closed
    let words = message.map { Effect.send(.error(senderId: local.peerId, targetId: nil, message: $0)) }
    return [words, .close(error)].compactMap(\.self)
  }
}

/// Which of two connections to the same peer stays, if nothing but their directions is known. Both ends decide alike if
/// they have noticed the two in the same order.
package enum LinkDirection: Hashable, Sendable {
  case incoming
  case outgoing

  /// Of two connections that the same side opened, the newer one stays, because the older one is probably dead;
  /// otherwise the one that the smaller peer id opened.
  package static func newStays(local: PeerId, peer: PeerId, old: LinkDirection, new: LinkDirection) -> Bool {
    if old == new { return true }
    return new == (local < peer ? .outgoing : .incoming)
  }
}
