import AutomergeRepo
import Foundation

/// Takes a repo's place behind a provider: records what the provider reports, and which reports break a rule.
@AutomergeRepo
final class Recorder: NetworkDelegate {
  private(set) var connectedCount = 0
  private(set) var disconnectedCount = 0
  private(set) var metadata: PeerMetadata?
  /// The peer that is or was connected.
  private(set) var peer: PeerId?
  private(set) var isConnected = false
  private(set) var isCrowded = false
  private(set) var messages: [RepoMessage] = []
  /// Reports that broke a rule.
  private(set) var violations: [String] = []
  /// True while the provider's `send` is running.
  var isSending = false
  private let local: LocalPeer
  private let isOfSiblings: Bool

  init(_ end: NetworkPair.End) { (local, isOfSiblings) = (end.local, end.provider.isSiblings) }

  private func note(_ isAllowed: Bool, _ rule: String) {
    if !isAllowed, !violations.contains(rule) { violations.append(rule) }
    if isSending { violations.append("send does not call the delegate; what it has to report follows later") }
  }

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {
    note(!isConnected, "a peer is reported as connected once, and again only after it was reported as disconnected")
    connectedCount += 1
    (self.peer, self.metadata, isConnected, isCrowded) = (peer, metadata, true, false)
  }

  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {
    note(isConnected && peer == self.peer, "a peer is reported as disconnected once, after it was connected")
    disconnectedCount += 1
    isConnected = false
  }

  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    note(isConnected && peer == self.peer, "messages come only from peers that are reported as connected")
    note(message.isAddressed(from: peer, to: local.peerId), "a message has its peer as sender, and us as target")
    messages.append(message)
  }

  func network(_ provider: any NetworkProvider, _ peer: PeerId, isCrowded: Bool) {
    note(isConnected && peer == self.peer, "only a connected peer is crowded")
    note(isCrowded != self.isCrowded, "a peer is reported as crowded once, and again only after it was not crowded")
    self.isCrowded = isCrowded
  }
}

/// The two providers of a check with recorders behind them.
@AutomergeRepo
final class Stations {
  let pair: NetworkPair
  let recorders: [Recorder]
  private let limit: Duration

  init(_ pair: NetworkPair, limit: Duration) {
    (self.pair, self.limit) = (pair, limit)
    recorders = [Recorder(pair.first), Recorder(pair.second)]
    for (end, recorder) in zip([pair.first, pair.second], recorders) {
      end.provider.start(as: end.local, delegate: recorder)
    }
  }

  var first: any NetworkProvider { pair.first.provider }
  var second: any NetworkProvider { pair.second.provider }
  var areConnected: Bool { recorders.allSatisfy(\.isConnected) }

  /// Waits until a condition holds; throws the rule if it does not hold in time.
  func wait(_ rule: String, until condition: @AutomergeRepo () -> Bool) async throws {
    try await pair.wait(rule, within: limit, until: condition)
  }

  func connect() async throws {
    try await pair.connect()
    try await wait("after connecting, both providers report the other peer as connected") { areConnected }
  }

  /// The peer at the other end, as provider 0 or 1 has reported it.
  func peer(of index: Int) -> PeerId { recorders[index].peer ?? PeerId("") }

  /// Lets one provider send a message to the other.
  func send(_ message: RepoMessage, from index: Int) { send(message, from: index, to: peer(of: index)) }

  func send(_ message: RepoMessage, from index: Int, to peer: PeerId) {
    recorders[index].isSending = true
    defer { recorders[index].isSending = false }
    (index == 0 ? first : second).send(message, to: peer)
  }

  /// A message from one provider to the other, with these bytes: as it is sent, and as it must arrive. The two differ
  /// if the provider has a name of its own for each process, as between siblings.
  func message(_ data: Data, from index: Int) -> (sent: RepoMessage, received: RepoMessage) {
    func message(_ sender: PeerId, _ target: PeerId) -> RepoMessage {
      .document(.init(senderId: sender, targetId: target, documentId: document, content: .sync(data)))
    }
    let ends = [pair.first, pair.second]
    return (
      message(ends[index].local.peerId, peer(of: index)),
      message(peer(of: 1 - index), ends[1 - index].local.peerId)
    )
  }

  /// Throws if a recorder has received a forbidden report.
  func checkReports() throws(BrokenRule) {
    for recorder in recorders { if let rule = recorder.violations.first { try expect(false, rule) } }
  }

  /// Some document, the same for every message.
  private let document: DocumentId = {
    var random = SystemRandomNumberGenerator()
    return .random(using: &random)
  }()
}

extension NetworkPair {
  /// Lets time pass until a condition holds; throws the rule if it does not hold in time.
  func wait(_ rule: String, within limit: Duration, until condition: @AutomergeRepo () -> Bool) async throws {
    let deadline = clock.now + limit
    while !condition() {
      try expect(clock.now < deadline, rule)
      await passTime()
    }
  }
}
