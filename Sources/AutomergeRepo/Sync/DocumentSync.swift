import Automerge
import Foundation

/// Decides which messages about one document its peers get.
///
/// A document is searched for until a peer has it, then kept equal with all peers on it:
///
///     searching ──a peer's changes──► ready
///         └──all peers asked have answered no──► notFound
///
/// Each peer on the document has a `SyncLink`. A message is answered only if there is something to say, so two peers
/// fall silent when their documents are equal.
struct DocumentSync {
  enum Phase: Equatable {
    /// No peer has sent any of the document yet.
    case searching
    case ready
  }

  enum Event {
    /// A peer to announce the document to, or to ask for it.
    case connected(PeerId, access: Access)
    case disconnected(PeerId)
    /// The access of a peer on the document has changed; with `none` the peer leaves the document.
    case accessChanged(PeerId, Access)
    /// The document has changed here.
    case changed
    /// The document has returned to an earlier state, so what the peers have is uncertain.
    case rewound
    case received(RepoMessage.Content, from: PeerId, access: Access)
    /// Messages of the peer were not taken.
    case missed(from: PeerId, access: Access)
    /// A peer has sent its heads, outside of the exchange of changes.
    case told(heads: Set<ChangeHash>, by: PeerId)
    /// These peers are sent nothing unless they ask or are found to lack something, because relays bring them our changes.
    case idle(Set<PeerId>)
    /// Whether many bytes wait to be sent to the peer. While they do, the peer is told nothing new.
    case crowded(PeerId, Bool)
    /// A regular interval has passed.
    case checked
    /// Other work has run since `later`.
    case turned
    /// What this peer has brought is delivered, as `answer` asked.
    case delivered(from: PeerId)
    /// All peers that we may ask were asked.
    case asked
    /// About the actors that peers write as.
    case authorship(Authorship.Event)
  }

  enum Effect {
    case send(RepoMessage.Content, to: PeerId)
    /// The edits that a peer's message has made to the document's texts.
    case edited([TextEdit], from: PeerId)
    case headsChanged(by: PeerId)
    case found
    case notFound
    case refused(PeerId, Refusal)
    /// Call `delivered` once the effects before this one are carried out: a person who waits to see the edits need not
    /// wait for the messages to the peers.
    case answer(PeerId)
    /// Some peers are told of the document after other work has run. Answer with `turned`.
    case later
    /// About the actors that peers write as.
    case authorship(Authorship.Effect)

    /// Whether the effect announces new changes in the document.
    var isChange: Bool {
      switch self {
      case .edited, .headsChanged: true
      case .send, .found, .notFound, .refused, .answer, .later, .authorship: false
      }
    }

    /// The size of what is sent to the peer.
    var byteCount: Int { if case .send(let content, _) = self { content.byteCount } else { 0 } }
  }

  enum Refusal: Error, Equatable {
    case malformed
    /// The peer has read access and sent changes.
    case readOnly
    /// The document rejected the message.
    case rejected(String)
  }

  /// How much one turn sends before the remaining peers have to wait for later turns. Source: PeerProtocol.md, "Expensive changes".
  static let byteCountOfTurn = 256 << 10

  /// How many times a peer may ask for everything between two checks. Source: PeerProtocol.md, "Expensive changes".
  static let maximumWholeCount = 8

  var phase: Phase
  /// Whether some peers are still to be asked, so that a search cannot end.
  private var isAsking: Bool
  var links: [SyncLink] = []
  /// Peers that are sent nothing unless they speak themselves, because relays bring them our changes.
  var idlePeers: Set<PeerId> = []
  /// How many times a peer has had to wait for its turn.
  var turnCount = 0
  /// Whether `later` has not been answered yet.
  var isTurnDue = false
  /// The actors that peers write as, and the changes withheld because of them.
  var authorship = Authorship()
  private(set) var departed = DepartedPeers()

  init(phase: Phase) {
    self.phase = phase
    isAsking = phase == .searching
  }

  /// The peers on the document: all with a link, except those that have said that they lack the document.
  var peers: [PeerId] { links.filter { !$0.isLacking }.map(\.peer) }

  var linkedPeers: [PeerId] { links.map(\.peer) }

  /// The peers on the document whose changes we accept.
  var writers: [PeerId] { links.filter { !$0.isLacking && $0.access == .write }.map(\.peer) }

  func isPeer(_ peer: PeerId) -> Bool { links.contains { $0.peer == peer && !$0.isLacking } }

  func isWriter(_ peer: PeerId) -> Bool {
    links.contains { $0.peer == peer && !$0.isLacking && $0.access == .write }
  }

  /// Whether a peer's heads differed from ours at the last check.
  var hasDifference: Bool { links.contains { $0.exchange?.difference != nil } }

  /// The peers that wait for the search's result.
  var awaitingPeers: [PeerId] { links.filter(\.awaitsAnswer).map(\.peer) }

  /// Whether a peer has begun to send the document.
  var isBeingSent: Bool { links.contains(where: \.isExchanging) }

  /// The peers to tell when the search is given up: those that wait, and those that have begun to send the document.
  var engagedPeers: [PeerId] { links.filter { $0.awaitsAnswer || $0.isExchanging }.map(\.peer) }

  /// The peers that have the document, by what they have said.
  var holders: [PeerId] { links.filter { $0.heads?.isEmpty == false }.map(\.peer) }

  /// A peer's last heads; nil if the peer has sent none.
  func heads(of peer: PeerId) -> Set<ChangeHash>? {
    index(of: peer).flatMap { links[$0].heads }
  }

  func index(of peer: PeerId) -> Int? { links.firstIndex { $0.peer == peer } }

  mutating func receive(_ event: Event, document: Document) -> [Effect] {
    switch event {
    case .connected(let peer, let access): return connect(peer, access, document)
    case .disconnected(let peer), .accessChanged(let peer, .none): return drop(peer) + tell(.left(peer), document)
    case .accessChanged(let peer, let access): return changeAccess(of: peer, to: access, document)
    case .checked: return check(document)
    case .turned:
      isTurnDue = false
      return phase == .ready ? speak(to: waiting, document) : []
    case .delivered(let peer): return answer(peer, document)
    case .told(let heads, let peer):
      if let index = index(of: peer) { links[index].heads = heads }
      return []
    case .idle(let peers): return setIdle(peers, document)
    case .crowded(let peer, let isCrowded):
      guard let index = index(of: peer) else { return [] }
      links[index].outlet = isCrowded ? .crowded : .open
      return isCrowded || phase != .ready || links[index].isLacking ? [] : send(to: index, document)
    case .changed: return changed(document)
    case .rewound: return startOver(document)
    case .authorship(let event): return tell(event, document)
    case .received(.unavailable, let peer, _): return unavailable(peer)
    case .received(.request(let data), let peer, let access):
      return message(data, isRequest: true, from: peer, access: access, document)
    case .received(.sync(let data), let peer, let access):
      return message(data, isRequest: false, from: peer, access: access, document)
    case .missed(let peer, let access): return missed(peer, access, document)
    case .asked:
      isAsking = false
      return settle()
    }
  }

  /// The document has changed here. If it was searched for, the search ends, because it was found without a peer.
  private mutating func changed(_ document: Document) -> [Effect] {
    let effects = document.heads().isEmpty ? [] : found(by: nil)
    return phase == .ready ? effects + settleWithheld(document) + sendToAll(document) : []
  }

  // MARK: Peers come and go

  private mutating func connect(_ peer: PeerId, _ access: Access, _ document: Document) -> [Effect] {
    drop(peer, settles: false)
    let index = link(to: peer, access)
    switch phase {
    case .searching:
      links[index].state = .asked
      guard let data = document.generateSyncMessage(state: links[index].shared) else { return [] }
      return [.send(.request(data), to: peer)]
    case .ready:
      return send(to: index, document)
    }
  }

  @discardableResult
  private mutating func drop(_ peer: PeerId, settles: Bool = true) -> [Effect] {
    guard let index = index(of: peer) else { return [] }
    departed.add(peer, shared: links[index].shared.encode())
    links.remove(at: index)
    idlePeers.remove(peer)
    return settles ? settle() : []
  }

  private mutating func unavailable(_ peer: PeerId) -> [Effect] {
    guard let index = index(of: peer) else { return [] }
    links[index].state = .lacking(awaitsAnswer: links[index].awaitsAnswer)
    return settle()
  }

  /// Ends a search when no peer is left to answer.
  private mutating func settle() -> [Effect] {
    guard phase == .searching, !isAsking, links.allSatisfy(\.isLacking) else { return [] }
    var effects: [Effect] = []
    for index in links.indices where links[index].awaitsAnswer {
      links[index].awaitsAnswer = false
      effects.append(.send(.unavailable, to: links[index].peer))
    }
    return effects + [.notFound]
  }

  private mutating func changeAccess(of peer: PeerId, to access: Access, _ document: Document) -> [Effect] {
    guard let index = index(of: peer), links[index].access != access else { return [] }
    links[index].access = access
    if access < .write { links[index].announced = nil }
    links[index].shared.isReadOnly = access < .write
    return phase == .ready && !links[index].isLacking ? send(to: index, document) : []
  }

  /// Takes over what was certainly shared with a peer's store when the document was last in memory, unless more is known.
  mutating func recall(_ peer: PeerId, shared: Data) {
    if index(of: peer) == nil, !departed.contains(peer) { departed.add(peer, shared: shared) }
  }

  /// The link to `peer`, created if there is none. Of an earlier connection, keeps only what was certainly shared:
  /// messages may have been lost with the connection.
  mutating func link(to peer: PeerId, _ access: Access) -> Int {
    if let index = index(of: peer) { return index }
    let shared = SyncLink.shared(departed.take(peer), access)
    links.append(SyncLink(to: peer, access: access, shared: shared))
    return links.count - 1
  }

  private mutating func startOver(_ document: Document) -> [Effect] {
    departed = DepartedPeers()
    for index in links.indices {
      links[index].forget()
      links[index].exchange?.lastEmpty = nil
      links[index].exchange?.difference = nil
    }
    return phase == .ready ? sendToAll(document) : []
  }

  // MARK: Messages

  /// The link that a message arrived on, or an immediate answer.
  enum Opening {
    case link(Int)
    case answered([Effect])
  }

  /// Records what the header of a message says about its sender.
  mutating func open(_ header: SyncHeader, isRequest: Bool, from peer: PeerId, access: Access) -> Opening {
    _ = authorship.receive(.heard(peer))
    let index = link(to: peer, access)
    if isRequest, phase == .searching, case .lacking(awaitsAnswer: false) = links[index].state {
      // The peer has said that it lacks the document, and now searches for it itself. If each peer waited for the
      // others' answers before answering, no answer would ever come.
      return .answered([.send(.unavailable, to: peer)])
    }
    if isRequest || header.heads.isEmpty {
      links[index].wholeCount += 1
      // A document is expensive to send, and an honest peer that has received it does not ask again.
      if links[index].wholeCount > Self.maximumWholeCount { return .answered([]) }
    }
    links[index].access = access
    if isRequest {
      // The peer has nothing now, whatever it had before.
      links[index].forget()
    } else if links[index].isLacking {
      links[index].restart()
    } else {
      links[index].shared.isReadOnly = access < .write
    }
    let awaitsAnswer = isRequest || links[index].awaitsAnswer
    // During a search, a peer whose changes we refuse counts as one that lacks the document, and is told what comes of the search.
    if phase == .ready || (!header.heads.isEmpty && access == .write) {
      links[index].beginExchange(awaitsAnswer: awaitsAnswer)
    } else {
      links[index].state = .lacking(awaitsAnswer: awaitsAnswer || !header.heads.isEmpty)
    }
    return .link(index)
  }

  private mutating func message(
    _ data: Data, isRequest: Bool, from peer: PeerId, access: Access, _ document: Document
  ) -> [Effect] {
    guard let header = SyncHeader(data) else { return [.refused(peer, .malformed)] }
    let index: Int
    switch open(header, isRequest: isRequest, from: peer, access: access) {
    case .answered(let effects): return effects
    case .link(let place): index = place
    }
    var refusals: [Effect] = header.changeCount > 0 && access < .write ? [.refused(peer, .readOnly)] : []
    let before = document.heads()
    var filter = filter(for: peer, document)
    do {
      let edits = try document.receiveSyncMessageWithTextEdits(
        state: links[index].shared, message: data, filter: &filter)
      links[index].heads = links[index].shared.theirHeads
      if header.changeCount > 0 { links[index].exchange?.hasUnusable = filter.fault != nil }
      refusals += withhold(filter.leftOut, fault: filter.fault, at: index, document)
      return refusals + settleMessage(at: index, before: before, edits: edits, document)
    } catch {
      links[index].exchange?.hasUnusable = true
      links[index].restart()
      return refusals + [.refused(peer, .rejected("\(error)"))]
    }
  }

  mutating func settleMessage(
    at index: Int, before: Set<ChangeHash>, edits: [TextEdit], _ document: Document
  ) -> [Effect] {
    let peer = links[index].peer
    let heads = document.heads()
    guard heads != before else {
      if phase == .searching, links[index].isLacking { return settle() }
      return send(to: index, document)
    }
    var effects = found(by: index)
    guard edits.isEmpty else { return effects + [.edited(edits, from: peer), .headsChanged(by: peer), .answer(peer)] }
    effects.append(.headsChanged(by: peer))
    return effects + answer(peer, document)
  }

  /// What to tell the peer that has brought changes, and all others.
  private mutating func answer(_ peer: PeerId, _ document: Document) -> [Effect] {
    guard phase == .ready else { return [] }
    return settleWithheld(document) + sendToAll(document, answering: peer)
  }

  /// Ends a search, as the document is found.
  mutating func found(by finder: Int?) -> [Effect] {
    guard phase == .searching else { return [] }
    phase = .ready
    for index in links.indices {
      switch links[index].state {
      case .asked: links[index].state = .exchanging(SyncLink.Exchange())
      case .lacking(awaitsAnswer: false) where index != finder:
        // Offers what was found to the peers that lacked it.
        links[index].state = .exchanging(SyncLink.Exchange())
        links[index].forget()
      case .lacking, .exchanging: break
      }
    }
    return [.found]
  }

  /// What to send one peer now.
  mutating func send(to index: Int, _ document: Document) -> [Effect] {
    if links[index].turn != nil { links[index].outlet = .open }
    let link = links[index]
    if phase == .ready, document.heads().isEmpty {
      // There is nothing to give yet, and only a peer that asks is told so.
      guard link.awaitsAnswer else { return [] }
      links[index].awaitsAnswer = false
      return [.send(.unavailable, to: link.peer)]
    }
    guard !link.isCrowded, let data = document.generateSyncMessage(state: link.shared) else { return [] }
    links[index].awaitsAnswer = false
    return repeats(data, at: index) ? [] : [.send(.sync(data), to: link.peer)]
  }

  /// Restarts the sync with each peer to which a message must have been lost, or from which.
  private mutating func check(_ document: Document) -> [Effect] {
    for index in links.indices { links[index].wholeCount = 0 }
    guard phase == .ready else { return [] }
    let heads = document.heads()
    guard !heads.isEmpty else { return [] }
    return links.indices.flatMap { index in
      links[index].restartIfStalled(ours: heads) ? send(to: index, document) : []
    }
  }
}
