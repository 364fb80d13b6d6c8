import AutomergeRepo
import Foundation
import RepoTestSupport

/// A peer without a grant: it requests the note, sends nonsense, and keeps everything that it receives.
@AutomergeRepo
final class Stranger {
  let peer = PeerId("mallory")
  private let network: SimulatedNetwork
  private let provider: SimulatedProvider
  private var heard: [RepoMessage] = []

  init(_ network: SimulatedNetwork) {
    (self.network, provider) = (network, network.provider())
    provider.start(as: LocalPeer(peerId: peer, metadata: PeerMetadata(name: "mallory")), delegate: self)
  }

  /// Sends a few messages to a person's service.
  func bother(_ person: PeerId, about note: DocumentId, _ injector: FaultInjector) {
    network.connect(peer, person)
    for _ in 0..<1 + injector.below(4) {
      let nonsense = Data(injector.drawBytes(injector.below(40)))
      // The sync message of a peer that has nothing: version 1, no heads, no needs, no filter, no changes.
      let question = Data([0x42, 0, 0, 1, 0, 0, 0])
      let content: RepoMessage.Content =
        switch injector.below(4) {
        case 0: .request(question)
        case 1: .sync(question)
        case 2: .sync(Data([0x42]) + nonsense)
        default: .request(nonsense)
        }
      provider.send(
        .document(.init(senderId: peer, targetId: person, documentId: note, content: content)), to: person)
    }
  }

  /// What it has received of the note; empty if nothing.
  func secrets(_ words: Set<String>) -> [String] {
    heard.compactMap { message in
      if case .document(let message) = message, message.content.data != nil { return "a sync message" }
      let bytes = Data(message.encoded())
      return words.first { bytes.range(of: Data($0.utf8)) != nil }
    }
  }
}

extension Stranger: NetworkDelegate {
  func network(_ provider: any NetworkProvider, connected peer: PeerId, metadata: PeerMetadata) {}
  func network(_ provider: any NetworkProvider, disconnected peer: PeerId) {}
  func network(_ provider: any NetworkProvider, received message: RepoMessage, from peer: PeerId) {
    heard.append(message)
  }
}

/// The people have granted each other everything, and no other peer anything.
final class SimulatedGrants: ShareAuthorizing {
  static let names: Set<String> = ["ana", "ben", "eva"]

  nonisolated init() {}

  func announce(_ document: DocumentId, to peer: PeerId) -> Bool { access(document, for: peer) > .none }
  func access(_ document: DocumentId, for peer: PeerId) -> Access {
    Self.names.contains(peer.description) ? .write : .none
  }
}
