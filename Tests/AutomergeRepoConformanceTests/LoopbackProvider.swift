import AutomergeRepo
import AutomergeRepoConformance

/// One end of a connection inside the process, with at most one fault.
final class LoopbackProvider: NetworkProvider {
  /// The fault.
  enum Fault: String, CaseIterable, Sendable {
    case namelessPeers, doubleConnection, errorsLost, caretsLost, someLost, swapped, longCutShort, longRefused,
      longDelivered
    case wrongPeersServed, sendersBelieved, goodbyeUnsaid, breakUnseen, stopUnreported, delegateKept, readingForced
    case crowdUnnoticed, crowdForever, noiseDelivered, deafAfterNoise, reportsWhileSending, deafAfterReturn
    case syncsLost

    /// The check that has to find it.
    var check: NetworkConformance.Check {
      switch self {
      case .namelessPeers, .doubleConnection: .connecting
      case .errorsLost: .everyMessage
      case .caretsLost: .ephemeralMessages
      case .someLost, .swapped: .order
      case .longCutShort: .longMessages
      case .longRefused, .longDelivered: .tooLongMessages
      case .wrongPeersServed: .otherPeers
      case .sendersBelieved: .forgedSenders
      case .goodbyeUnsaid: .disconnecting
      case .breakUnseen: .brokenConnection
      case .stopUnreported: .stopping
      case .delegateKept: .delegate
      case .readingForced, .crowdUnnoticed, .crowdForever: .backPressure
      case .noiseDelivered, .deafAfterNoise: .brokenBytes
      case .reportsWhileSending: .everyMessage
      case .deafAfterReturn: .syncAfterReconnecting
      case .syncsLost: .sync
      }
    }
  }

  nonisolated static let maximumByteCount = 1 << 20
  private static let crowdedByteCount = 256 << 10

  private let clock: any RepoClock
  private let fault: Fault?
  private var local: LocalPeer?
  private weak var delegate: (any NetworkDelegate)?
  private var keptDelegate: (any NetworkDelegate)?
  /// The other end while the two are connected.
  private var other: LoopbackProvider?
  private var queue: [[UInt8]] = []
  private var reads = true
  private var isCrowded = false
  private var connectionCount = 0
  private var isDeaf = false

  init(_ clock: any RepoClock, _ fault: Fault?) { (self.clock, self.fault) = (clock, fault) }

  func start(as local: LocalPeer, delegate: any NetworkDelegate) {
    (self.local, self.delegate) = (local, delegate)
    if fault == .delegateKept { keptDelegate = delegate }
  }

  func connect(to other: LoopbackProvider) {
    for (end, remote) in [(self, other), (other, self)] { end.opened(to: remote) }
  }

  private func opened(to remote: LoopbackProvider) {
    guard let peer = remote.local else { return }
    (other, reads, isCrowded, queue) = (remote, true, false, [])
    connectionCount += 1
    let metadata = fault == .namelessPeers ? PeerMetadata() : peer.metadata
    delegate?.network(self, connected: peer.peerId, metadata: metadata)
    if fault == .doubleConnection { delegate?.network(self, connected: peer.peerId, metadata: metadata) }
  }

  private func closed(reporting: Bool = true) {
    guard let peer = other?.local?.peerId else { return }
    (other, queue) = (nil, [])
    if reporting { delegate?.network(self, disconnected: peer) }
  }

  func stop() {
    let remote = other
    closed(reporting: fault != .stopUnreported)
    remote?.closed()
    keptDelegate = fault == .delegateKept ? keptDelegate : nil
  }

  func disconnect(_ peer: PeerId) {
    guard let remote = other, remote.local?.peerId == peer else { return }
    closed()
    if fault != .goodbyeUnsaid { remote.closed() }
  }

  /// What a pulled cable does.
  func breakConnection() {
    guard fault != .breakUnseen else { return }
    let remote = other
    closed()
    remote?.closed()
  }

  func setReading(_ reads: Bool, from peer: PeerId) {
    guard other?.local?.peerId == peer, fault != .readingForced else { return }
    self.reads = reads
    let remote = other
    clock.schedule(after: .milliseconds(1)) { remote?.pump() }
  }

  func send(_ message: RepoMessage, to peer: PeerId) {
    guard other?.local?.peerId == peer || fault == .wrongPeersServed else { return }
    if fault == .reportsWhileSending, case .error = message { delegate?.network(self, peer, isCrowded: true) }
    guard let bytes = faulty(message) else { return }
    queue.append(bytes)
    if fault == .swapped, queue.count > 20 { queue.swapAt(queue.count - 1, queue.count - 2) }
    clock.schedule(after: .milliseconds(1)) { [weak self] in self?.pump() }
  }

  /// The bytes to send; nil if there are none.
  private func faulty(_ message: RepoMessage) -> [UInt8]? {
    if isDeaf || fault == .deafAfterReturn && connectionCount > 1 { return nil }
    var message = message
    switch (fault, message) {
    case (.errorsLost, .error), (.caretsLost, .ephemeral): return nil
    case (_, .document(var inner)):
      guard case .sync(let data) = inner.content else { break }
      switch fault {
      case .someLost where data.count == 3 && data.last == UInt8(ascii: "7"): return nil
      case .syncsLost where data.count > 3 && data.count < 1000: return nil
      case .longCutShort where data.count > 100 << 10:
        inner.content = .sync(data.dropLast())
        message = .document(inner)
      default: break
      }
    default: break
    }
    let bytes = message.encoded()
    guard bytes.count > Self.maximumByteCount else { return bytes }
    if fault == .longRefused { disconnect(other?.local?.peerId ?? PeerId("")) }
    return fault == .longDelivered ? bytes : nil
  }

  private func pump() {
    while let other, other.reads, !queue.isEmpty { other.receive(queue.removeFirst()) }
    guard let peer = other?.local?.peerId, fault != .crowdUnnoticed else { return }
    let byteCount = queue.reduce(0) { $0 + $1.count }
    let crowds = byteCount > (isCrowded ? 0 : Self.crowdedByteCount) || isCrowded && fault == .crowdForever
    guard crowds != isCrowded else { return }
    isCrowded = crowds
    delegate?.network(self, peer, isCrowded: crowds)
  }

  /// Takes bytes from the other end, which may be broken.
  func receive(_ bytes: [UInt8]) {
    guard let peer = other?.local?.peerId, let local else { return }
    guard let message = try? RepoMessage(bytes) else {
      switch fault {
      case .noiseDelivered:
        delegate?.network(self, received: .error(senderId: peer, targetId: nil, message: "noise"), from: peer)
      case .deafAfterNoise: other?.isDeaf = true
      default: disconnect(peer)
      }
      return
    }
    guard fault == .sendersBelieved || message.isAddressed(from: peer, to: local.peerId) else { return }
    delegate?.network(self, received: message, from: peer)
  }
}
