import Automerge
import AutomergeRepo

/// The share policy of a person who is also connected to servers: a server gets the documents that were published on
/// it, and nothing else; every other peer gets what it was granted.
public final class PublishingPolicy: ShareAuthorizing {
  private let granted: any ShareAuthorizing
  private let servers: SyncServers

  public init(granted: any ShareAuthorizing, servers: SyncServers) { (self.granted, self.servers) = (granted, servers) }

  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool {
    guard let server = servers[peer] else { return granted.announce(document, to: peer) }
    return server.documents.contains(document)
  }

  public func access(_ document: DocumentId, for peer: PeerId) -> Access {
    guard let server = servers[peer] else { return granted.access(document, for: peer) }
    return server.documents.contains(document) ? .write : .none
  }

  public func documents(sharedWith peer: PeerId) -> [DocumentId]? {
    guard let server = servers[peer] else { return granted.documents(sharedWith: peer) }
    return Array(server.documents)
  }

  public func mayCreate(_ document: DocumentId, _ peer: PeerId) -> Bool {
    servers[peer] != nil || granted.mayCreate(document, peer)
  }

  /// A server passes on what others wrote, and writes nothing itself.
  public func fits(_ actor: ActorId, _ peer: PeerId) -> Bool {
    servers[peer] == nil && granted.fits(actor, peer)
  }
}
