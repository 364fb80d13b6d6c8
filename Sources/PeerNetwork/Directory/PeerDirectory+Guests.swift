import AutomergeRepo

/// Introduces the guests of one host to each other, so that they speak without it.
extension PeerDirectory {
  // MARK: The host's side

  /// Tells the guests on an open document about each other, now and whenever that changes.
  func watchGuests(of handle: DocHandle) {
    var seen: Set<PeerId> = []
    handle.observe { [weak self, weak handle] event in
      // This event fires on every keystroke.
      guard case .peersChanged = event, let peers = handle?.peers, let handle else { return }
      if peers.count == seen.count, peers.allSatisfy(seen.contains) { return }
      seen = Set(peers)
      self?.tellGuests(of: handle.id, among: seen)
    }
  }

  /// Tells each of these peers which others have the document from us, unless it knows.
  ///
  /// - Parameter peers: nil for all connected ones.
  func tellGuests(of document: DocumentId, among peers: Set<PeerId>? = nil) {
    let all = guests(of: document)
    for guest in all.map(\.peer) where repo.peers[guest] != nil && peers?.contains(guest) ?? true {
      // The guest's own access comes first, so that a limit never cuts it off.
      let ownFirst = all.filter { $0.peer == guest } + all.filter { $0.peer != guest }
      let list = GuestList(document: document, guests: ownFirst)
      guard toldGuests[guest]?[document] != list else { continue }
      toldGuests[guest, default: [:]][document] = list
      repo.send(type: GuestList.type, fields: list.fields, to: guest)
    }
  }

  /// Tells a peer that has just connected of dismissals, its own or other guests', that it may have missed; whether the note is
  /// open or not.
  func tellOfDismissals(_ peer: PeerId) {
    for (document, dismissed) in grants.dismissed where joined[document] == nil {
      if dismissed.contains(peer) {
        dismissGuests([peer], from: document)
      } else if grants.guests(on: document)[peer] != nil {
        tellGuests(of: document, among: [peer])
      }
    }
    for (document, revised) in grants.revised where revised.contains(peer) { tellGuests(of: document, among: [peer]) }
  }

  /// Tells guests that are about to lose the document, by an empty list, that it is no longer shared.
  func dismissGuests(_ peers: [PeerId], from document: DocumentId) {
    for peer in peers where repo.peers[peer] != nil {
      toldGuests[peer]?[document] = nil
      repo.send(type: GuestList.type, fields: GuestList(document: document, guests: []).fields, to: peer)
    }
  }

  /// The peers to which our person has granted the document; not the host that we have it from.
  private func guests(of document: DocumentId) -> [GuestList.Guest] {
    let host = joined[document]?.host
    let guests = grants.guests(on: document).filter { $0.key != host && !registry.isBlocked($0.key) }
    return guests.sorted { $0.key < $1.key }.map { peer, access in
      GuestList.Guest(peer: peer, access: access, name: name(of: peer), addresses: registry.addresses(of: peer))
    }
  }

  // MARK: The guest's side

  /// Takes a list of guests, which only the document's host may send.
  func receive(_ list: GuestList?, from host: PeerId) {
    guard let list else { return repo.complain(of: host, "sent a list of guests that makes no sense") }
    if guestsOfArriving[list.document] != nil { guestsOfArriving[list.document] = .some(list) }
    guard grants.access(list.document, for: host) > .none else { return }
    guard joined[list.document]?.host == host else {
      if list.guests.isEmpty { letGo(of: list.document, by: host) }
      return
    }
    if list.guests.isEmpty {
      registry.listed(list)
      return hostEnded(list.document, host: host)
    }
    if let access = list.guests.first(where: { $0.peer == repo.peerId })?.access {
      hostChanged(access, on: list.document, host: host)
    }
    let others = list.guests.filter { $0.peer != repo.peerId && $0.peer != host && !registry.isBlocked($0.peer) }
    let before = grants.introductions[list.document]
    let gone = grants.introduce(
      Dictionary(others.map { ($0.peer, $0.access) }) { first, _ in first }, to: list.document)
    registry.listed(GuestList(document: list.document, guests: others))
    for guest in others { links.introduced(guest.peer) }
    let strangers = gone.filter { self.grants.documents(for: $0).isEmpty }
    links.hangUp(strangers)
    registry.forgetUnlisted(strangers)
    let grants = grants
    if grants.introductions[list.document] != before {
      Task {
        await self.store.keep { _ throws(StorageError) in try await grants.storeIntroductions(to: list.document) }
      }
    }
    repo.policyChanged(for: list.document)
    news.tell(.networkChanged)
  }
}
