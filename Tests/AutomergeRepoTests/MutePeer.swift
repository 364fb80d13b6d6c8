import RepoTestSupport

@testable import AutomergeRepo

/// A peer "mute" that is connected to a repo and never answers.
@AutomergeRepo
final class MutePeer: NetworkDelegate {
  private let provider: any NetworkProvider

  init(connectedTo repo: PeerId, in world: RepoWorld) {
    provider = world.network.provider()
    provider.start(as: LocalPeer(peerId: PeerId("mute")), delegate: self)
    world.network.connect(repo, PeerId("mute"))
  }

  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {}
  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {}
  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {}
}
