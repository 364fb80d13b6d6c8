import AutomergeRepo

/// One end of a connection between two processes of one person. The test decides when each end learns of it; messages
/// to an end that has not learnt of it wait, as in a socket.
@AutomergeRepo
final class SiblingEnd: NetworkProvider {
  nonisolated let isSiblings = true
  private let name: PeerId
  private weak var other: SiblingEnd?
  private weak var delegate: (any NetworkDelegate)?
  private var waiting: [RepoMessage]? = []

  private init(_ name: String) { self.name = PeerId(name) }

  static func pair() -> [SiblingEnd] {
    let ends = [SiblingEnd("ana/1"), SiblingEnd("ana/2")]
    (ends[0].other, ends[1].other) = (ends[1], ends[0])
    return ends
  }

  func see() {
    guard let other, let messages = waiting else { return }
    waiting = nil
    delegate?.network(self, connected: other.name, metadata: PeerMetadata())
    for message in messages { receive(message) }
  }

  func lose() {
    waiting = []
    if let other { delegate?.network(self, disconnected: other.name) }
  }

  private func receive(_ message: RepoMessage) {
    guard let other, waiting == nil else { return waiting = (waiting ?? []) + [message] }
    delegate?.network(self, received: message, from: other.name)
  }

  func start(as local: LocalPeer, delegate: any NetworkDelegate) { self.delegate = delegate }
  func stop() {}
  func send(_ message: RepoMessage, to peer: PeerId) { other?.receive(message) }
  func disconnect(_ peer: PeerId) {}
}
