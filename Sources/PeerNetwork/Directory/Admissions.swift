import AutomergeRepo
import Foundation

/// The documents that hosts share with this person: from the admission until the host ends it.
@AutomergeRepo
final class Admissions {
  private let documents: any SharedDocuments
  private let grants: Grants
  private let registry: PeerRegistry
  private let links: LinkKeeper
  private let news: PeerNews
  private let store: PeerStore
  /// Admissions that are being stored.
  private var storing: [DocumentId: Task<Void, Never>] = [:]

  init(
    _ documents: any SharedDocuments, _ grants: Grants, _ registry: PeerRegistry, _ links: LinkKeeper,
    _ news: PeerNews, _ store: PeerStore
  ) {
    (self.documents, self.grants, self.registry) = (documents, grants, registry)
    (self.links, self.news, self.store) = (links, news, store)
  }

  /// Whether a document is here from elsewhere than this peer: our own, or another host's. What the peer offers then changes
  /// neither its host nor any grant.
  func isElsewhere(_ document: DocumentId, than peer: PeerId) async -> Bool {
    if isHost(peer, of: document) { return false }
    do throws(StorageError) {
      return try await documents.isHere(document)
    } catch {
      // The store cannot say, so nothing is changed.
      return true
    }
  }

  /// Whether we have a document from this peer. Early versions did not store the host.
  private func isHost(_ peer: PeerId, of document: DocumentId) -> Bool {
    guard let entry = grants.joined[document] else { return grants.formerHosts[document] == peer }
    return entry.host == peer || entry.host == nil && grants.guests(on: document)[peer] == .write
  }

  /// Takes a host's changes from now on. The access that it granted is stored after that: if this process dies before
  /// that, it can ask the host again. The document comes first: looking for it in the store would have to wait for the
  /// write.
  ///
  /// - Returns: false, and nothing has changed, if the document is in memory and not from this host, if another host has
  ///   just let us in, or if this one is blocked by now.
  func admit(host: PeerId, of document: DocumentId, _ access: Access) -> Bool {
    guard !registry.isBlocked(host),
      isHost(host, of: document) || documents.handle(of: document) == nil && storing[document] == nil
    else { return false }
    let former = grants.joined[document]?.access
    grants.join(document, Joined(access: access, host: host))
    links.trust(host)
    let grants = grants
    grants.admit(.write, on: document, to: host)
    documents.policyChanged(for: document)
    storing[document] = Task {
      await self.documents.fetch(document)
      await self.store.keep { storage throws(StorageError) in
        // As it is by then: the host may have changed the access, or ended the sharing, since.
        try await storage.commit([grants.joinedChange(of: document), grants.change(of: document)])
      }
      self.storing[document] = nil
      // A guest already: the other processes of this person, and the note's buffers, hear of it as of any such change.
      if let former, former != access, grants.joined[document]?.access == access {
        self.news.tell(.accessChanged(host, name: self.registry.name(of: host), document, access))
      }
    }
    return true
  }

  /// Returns when the host of this document, which has just let us in, is stored.
  func finishStoring(_ document: DocumentId) async { await storing[document]?.value }

  /// The host has changed our access. Stored before it is reported: other processes of this person read it from the store.
  func changed(_ access: Access, to document: DocumentId, by host: PeerId) {
    guard access != grants.joined[document]?.access else { return }
    grants.setOwnAccess(access, to: document)
    let grants = grants
    Task {
      await self.store.keep { _ throws(StorageError) in try await grants.storeJoined(document) }
      self.news.tell(.accessChanged(host, name: self.registry.name(of: host), document, access))
    }
  }

  /// The host no longer shares the document with us: it is our own from now on.
  func ended(_ document: DocumentId, by host: PeerId) {
    let gone = grants.leaveHost(of: document)
    links.release(gone.intersection([host]))
    links.hangUp(gone.subtracting([host]))
    documents.policyChanged(for: document)
    let grants = grants
    Task {
      await self.store.keep { _ throws(StorageError) in
        try await grants.storeJoined(document)
        try await grants.store(document)
        try await grants.storeIntroductions(to: document)
      }
      self.news.tell(.unshared(host, name: self.registry.name(of: host), document))
    }
  }
}
