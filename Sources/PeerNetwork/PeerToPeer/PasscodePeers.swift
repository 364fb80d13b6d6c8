import AutomergeRepo
import Foundation

/// The connected peers of a provider, each of which first has to prove that it knows the passcode.
@AutomergeRepo
final class PasscodePeers: NetworkDelegate {
  enum Event {
    case agreed(PeerId, PeerMetadata)
    case received(RepoMessage, from: PeerId)
    case crowded(PeerId, Bool)
    /// A peer that had proved that it knows the passcode has left.
    case left(PeerId)
    case refused(PeerId)
  }

  /// A peer that has not proved yet that it knows the passcode.
  private struct Candidate {
    var handshake: PasscodeHandshake
    let metadata: PeerMetadata
    let deadline: any ScheduledAction
    var waiters: [OneReply<Agreement>] = []
  }

  /// How a peer's proof that it knows the passcode has ended.
  enum Agreement {
    case agreed, refused
    /// The peer has not answered in time.
    case timedOut
  }

  /// The most peers that are remembered as refused, or as silent.
  private static let maximumRefused = 1024

  /// Nil admits every peer.
  var key: PasscodeKey?
  var network: PeerToPeerNetwork?
  var onEvent: (@AutomergeRepo (Event) -> Void)?
  private let local: PeerId
  private let timeout: Duration
  private var candidates: [PeerId: Candidate] = [:]
  private(set) var agreed: [PeerId: PeerMetadata] = [:]
  private var refused: Set<PeerId> = []
  /// Those that did not answer in time when they were last connected.
  private var silent: Set<PeerId> = []

  nonisolated init(local: PeerId, timeout: Duration) { (self.local, self.timeout) = (local, timeout) }

  func isAgreed(_ peer: PeerId) -> Bool { agreed[peer] != nil }

  /// Whether the peer did not know the passcode when it was last connected.
  func isRefused(_ peer: PeerId) -> Bool { refused.contains(peer) }

  /// Waits until the connected peer has proved that it knows the passcode, or fails to.
  func agree(with peer: PeerId) async -> Agreement {
    if isAgreed(peer) { return .agreed }
    return await OneReply.wait(otherwise: .refused) { reply in
      if candidates[peer] == nil { reply.resume(returning: isAgreed(peer) ? .agreed : failure(of: peer)) }
      candidates[peer]?.waiters.append(reply)
    }
  }

  /// Call when all connections have ended.
  func end() {
    for peer in Array(candidates.keys) { drop(peer) }
    for peer in agreed.keys.sorted() { left(peer) }
  }

  // MARK: Delegate

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    silent.remove(peer)
    guard let key, let network else { return agree(peer, metadata) }
    var random = RandomSource()
    let nonce = Data(random.bytes(PasscodeHandshake.nonceByteCount))
    let handshake = PasscodeHandshake(key: key, local: local, peer: peer, nonce: nonce)
    let deadline = network.clock.schedule(after: timeout) { [weak self] in
      guard let self, self.candidates[peer] != nil else { return }
      if self.silent.count >= Self.maximumRefused { self.silent.removeAll() }
      self.silent.insert(peer)
      self.network?.tcp.disconnect(peer)
    }
    candidates[peer] = Candidate(handshake: handshake, metadata: metadata, deadline: deadline)
    perform(handshake.begin(), with: peer)
  }

  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    drop(peer)
    left(peer)
  }

  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    if isAgreed(peer) {
      onEvent?(.received(message, from: peer))
    } else if case .other(PasscodeHandshake.messageType, let fields) = message, candidates[peer] != nil {
      perform(candidates[peer]?.handshake.receive(fields) ?? [], with: peer)
    }
  }

  func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    if isAgreed(peer) { onEvent?(.crowded(peer, isCrowded)) }
  }

  // MARK: The passcode

  private func perform(_ effects: [PasscodeHandshake.Effect], with peer: PeerId) {
    for effect in effects {
      switch effect {
      case .send(var fields):
        fields["senderId"] = .text(local.description)
        fields["targetId"] = .text(peer.description)
        network?.tcp.send(.other(type: PasscodeHandshake.messageType, fields: fields), to: peer)
      case .agreed:
        if let metadata = candidates[peer]?.metadata { agree(peer, metadata) }
      case .refused:
        if refused.count >= Self.maximumRefused { refused.removeAll() }
        refused.insert(peer)
        onEvent?(.refused(peer))
        network?.tcp.disconnect(peer)
      }
    }
  }

  private func agree(_ peer: PeerId, _ metadata: PeerMetadata) {
    let candidate = candidates.removeValue(forKey: peer)
    candidate?.deadline.cancel()
    refused.remove(peer)
    agreed[peer] = metadata
    network?.tcp.trust(peer)
    onEvent?(.agreed(peer, metadata))
    for waiter in candidate?.waiters ?? [] { waiter.resume(returning: .agreed) }
  }

  private func drop(_ peer: PeerId) {
    guard let candidate = candidates.removeValue(forKey: peer) else { return }
    candidate.deadline.cancel()
    for waiter in candidate.waiters { waiter.resume(returning: failure(of: peer)) }
  }

  private func failure(of peer: PeerId) -> Agreement { silent.contains(peer) ? .timedOut : .refused }

  private func left(_ peer: PeerId) {
    if agreed.removeValue(forKey: peer) != nil { onEvent?(.left(peer)) }
  }
}
