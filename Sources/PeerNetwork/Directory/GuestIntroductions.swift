import AutomergeRepo

/// Introduces the guests of one host to each other, so that they can connect without it. Plays both parts, the host's
/// and a guest's.
@AutomergeRepo
final class GuestIntroductions {
  private let documents: any SharedDocuments
  private let grants: Grants
  private let registry: PeerRegistry
  private let links: LinkKeeper
  private let admissions: Admissions
  private let news: PeerNews
  private let store: PeerStore
  /// For each connected guest and document, the guests that we have told it about.
  private var told: [PeerId: [DocumentId: GuestList]] = [:]
  /// A peer that may become a document's host.
  private struct Candidate: Hashable {
    let host: PeerId
    let document: DocumentId
  }

  /// The last list of guests that each of these peers has sent since; nil if it has sent none.
  private var held: [Candidate: GuestList?] = [:]

  init(
    _ documents: any SharedDocuments, _ grants: Grants, _ registry: PeerRegistry, _ links: LinkKeeper,
    _ admissions: Admissions, _ news: PeerNews, _ store: PeerStore
  ) {
    (self.documents, self.grants, self.registry, self.links) = (documents, grants, registry, links)
    (self.admissions, self.news, self.store) = (admissions, news, store)
  }

  private var network: any PeerMessaging { registry.network }

  // MARK: The host's side

  /// Tells the guests on an open document about each other, now and whenever that changes.
  func watch(_ handle: DocHandle) {
    var seen: Set<PeerId> = []
    handle.observe { [weak self, weak handle] event in
      // This event fires at every keystroke.
      guard case .peersChanged = event, let peers = handle?.peers, let handle else { return }
      if peers.count == seen.count, peers.allSatisfy(seen.contains) { return }
      seen = Set(peers)
      self?.tell(of: handle.id, among: seen)
    }
  }

  /// Tells each of these peers which others have the document from us, unless it has been told.
  ///
  /// - Parameter peers: nil for all connected ones.
  func tell(of document: DocumentId, among peers: Set<PeerId>? = nil) {
    let all = guests(of: document)
    for guest in all.map(\.peer) where network.peers[guest] != nil && peers?.contains(guest) ?? true {
      // The guest's own access comes first, so that a limit never cuts it off.
      let ownFirst = all.filter { $0.peer == guest } + all.filter { $0.peer != guest }
      let list = GuestList(document: document, guests: ownFirst)
      guard told[guest]?[document] != list else { continue }
      told[guest, default: [:]][document] = list
      network.send(type: GuestList.type, fields: list.fields, to: guest)
    }
  }

  /// Tells a peer that has just connected about dismissals, its own or other guests', that it may have missed, whether
  /// the note is open or not.
  func tellOfDismissals(_ peer: PeerId) {
    for (document, dismissed) in grants.dismissed where grants.joined[document] == nil {
      if dismissed.contains(peer) {
        dismiss([peer], from: document)
      } else if grants.guests(on: document)[peer] != nil {
        tell(of: document, among: [peer])
      }
    }
    for (document, revised) in grants.revised where revised.contains(peer) { tell(of: document, among: [peer]) }
  }

  /// Tells guests that are about to lose the document, by an empty list, that it is no longer shared.
  func dismiss(_ peers: some Sequence<PeerId>, from document: DocumentId) {
    for peer in peers where network.peers[peer] != nil {
      told[peer]?[document] = nil
      network.send(type: GuestList.type, fields: GuestList(document: document, guests: []).fields, to: peer)
    }
  }

  /// Forgets what we told a peer. Call when its link has ended.
  func linkEnded(_ peer: PeerId) { told[peer] = nil }

  /// Forgets what we told a peer about one document, which it no longer has from us.
  func forget(_ document: DocumentId, of peer: PeerId) { told[peer]?[document] = nil }

  /// Changes a guest's access, and tells the guest at once, or when it connects again. False for any other peer.
  ///
  /// - Parameter companions: stored together with it
  func change(
    _ access: Access, to document: DocumentId, for peer: PeerId, with companions: [StorageChange]
  ) async throws(StorageError) -> Bool {
    defer {
      documents.policyChanged(for: document)
      tell(of: document)
      news.tell(.networkState)
    }
    return try await grants.change(access, on: document, for: peer, with: companions)
  }

  /// Whether a peer has the document from this person.
  func isGuest(_ peer: PeerId, on document: DocumentId) -> Bool {
    peer != grants.host(of: document) && grants.guests(on: document)[peer] != nil
  }

  /// The peers to which this person has granted the document; not the host that we have it from.
  private func guests(of document: DocumentId) -> [GuestList.Guest] {
    let host = grants.host(of: document)
    let guests = grants.guests(on: document).filter { $0.key != host && !registry.isBlocked($0.key) }
    return guests.sorted { $0.key < $1.key }.map { peer, access in
      GuestList.Guest(
        peer: peer, access: access, name: registry.name(of: peer), addresses: registry.addresses(of: peer))
    }
  }

  /// Call when a guest stops sharing the document.
  private func letGo(of document: DocumentId, by peer: PeerId) {
    guard grants.guests(on: document)[peer] != nil else { return }
    let grants = grants
    Task {
      await self.store.keep { _ throws(StorageError) in try await grants.forget(document, of: peer) }
      self.forget(document, of: peer)
      self.links.release([peer])
      self.documents.policyChanged(for: document)
      self.tell(of: document)
      self.news.tell(.gaveUp(peer, name: self.registry.name(of: peer), document))
    }
  }

  // MARK: The guest's side

  /// Applies a list of guests, which only the document's host may send.
  func receive(_ list: GuestList?, from host: PeerId) {
    guard let list else { return network.complain(of: host, "sent a list of guests that makes no sense") }
    let candidate = Candidate(host: host, document: list.document)
    if held.keys.contains(candidate) { held[candidate] = list }
    guard grants.access(list.document, for: host) > .none else { return }
    guard grants.host(of: list.document) == host else {
      if list.guests.isEmpty { letGo(of: list.document, by: host) }
      return
    }
    if list.guests.isEmpty {
      registry.listed(list)
      return admissions.ended(list.document, by: host)
    }
    if let access = list.guests.first(where: { $0.peer == network.peerId })?.access {
      admissions.changed(access, to: list.document, by: host)
    }
    introduce(
      list.guests.filter { $0.peer != network.peerId && $0.peer != host && !registry.isBlocked($0.peer) },
      to: list.document)
  }

  /// Replaces the guests that a host has introduced to us by these.
  private func introduce(_ guests: [GuestList.Guest], to document: DocumentId) {
    let before = grants.introductions[document]
    let gone = grants.introduce(Dictionary(guests.map { ($0.peer, $0.access) }) { first, _ in first }, to: document)
    registry.listed(GuestList(document: document, guests: guests))
    for guest in guests { links.introduced(guest.peer) }
    let strangers = gone.filter { self.grants.documents(for: $0).isEmpty }
    links.hangUp(strangers)
    registry.forgetUnlisted(strangers)
    let grants = grants
    if grants.introductions[document] != before {
      store.keepSoon { _ throws(StorageError) in try await grants.storeIntroductions(to: document) }
    }
    documents.policyChanged(for: document)
    news.tell(.networkState)
  }

  /// Holds this peer's next list of guests on this document, whose host it may become.
  func hold(_ document: DocumentId, from host: PeerId) {
    let candidate = Candidate(host: host, document: document)
    if !held.keys.contains(candidate) { held.updateValue(nil, forKey: candidate) }
  }

  /// Applies the held list. Call when the peer has become the document's host.
  func takeHeld(_ document: DocumentId, from host: PeerId) {
    if let list = held[Candidate(host: host, document: document)] ?? nil { receive(list, from: host) }
  }

  func stopHolding(_ document: DocumentId, from host: PeerId) {
    held.removeValue(forKey: Candidate(host: host, document: document))
  }
}
