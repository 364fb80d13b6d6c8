import Automerge
import Foundation

/// Decides what one document says to its peers.
///
/// A document is searched for until a peer has it, then kept equal with all peers on it:
///
///     searching ──a peer's changes──► ready
///         └──all who were asked have answered no──► notFound
///
/// Each peer on the document has a link. A peer that answers "unavailable" hears nothing more of the document until it speaks
/// of it itself, or connects anew. A message is only ever answered when there is something to say, so two of these fall silent
/// when they are equal.
struct DocumentSync {
  enum Phase: Equatable {
    /// No peer has given us anything of it yet.
    case searching
    case ready
  }

  /// What one peer's message to another says about a document.
  enum Payload: Equatable {
    case sync(Data)
    case request(Data)
    case unavailable
  }

  enum Event {
    /// There is a peer to announce the document to, or to ask for it.
    case connected(PeerId, access: Access)
    case disconnected(PeerId)
    /// The access of a peer on the document has changed; `none` ends its part.
    case accessChanged(PeerId, Access)
    /// The document has changed here.
    case changed
    /// The document has gone back to an earlier state, so what the other side has is uncertain.
    case rewound
    case received(Payload, from: PeerId, access: Access)
    /// A peer has told its heads, outside of the exchange of changes.
    case told(heads: Set<ChangeHash>, by: PeerId)
    /// These peers are sent nothing unless they ask or are found to lack something: relays bring them our changes.
    case idle(Set<PeerId>)
    /// Much waits to be sent to the peer, or no longer; while it does, the peer is told nothing new.
    case crowded(PeerId, Bool)
    /// A regular interval has passed.
    case checked
    /// Other work has run since `later`.
    case turned
    /// All peers that we may ask were asked.
    case asked
    /// About the actors that peers write as.
    case authorship(Authorship.Event)
  }

  enum Effect {
    case send(Payload, to: PeerId)
    /// The edits that a peer's message has made to the document's texts.
    case edited([TextEdit], from: PeerId)
    case headsChanged(by: PeerId)
    case found
    case notFound
    case refused(PeerId, Refusal)
    /// Some peers are told of the document after other work has run: answer with `turned`.
    case later
    /// About the actors that peers write as.
    case authorship(Authorship.Effect)

    /// Whether it announces new changes in the document.
    var isChange: Bool {
      switch self {
      case .edited, .headsChanged: true
      case .send, .found, .notFound, .refused, .later, .authorship: false
      }
    }

    /// What the peer has to send.
    var byteCount: Int { if case .send(let payload, _) = self { payload.byteCount } else { 0 } }
  }

  enum Refusal: Error, Equatable {
    case malformed
    /// The peer has read access and sent changes.
    case readOnly
    /// The document rejected the message.
    case rejected(String)
  }

  struct Link {
    let peer: PeerId
    var state: SyncState
    var access: Access
    var stance: Stance = .unknown
    /// It asked, and has had no answer.
    var awaitsAnswer = false
    /// Relays bring it our changes.
    var isIdle = false
    /// Much waits to be sent to it.
    var isCrowded = false
    /// It has not been told of the last changes yet; the peer with the lowest number has waited longest.
    var owedSince: Int?
    /// Its last heads; nil if it has told none.
    var theirHeads: Set<ChangeHash>?
    /// The last check's finding; nil if the heads were equal.
    var difference: Difference?
    /// Its last changes were unusable.
    var hasUnusable = false
    /// How often it has asked for everything since the last check.
    var wholeCount = 0
    /// The last message without changes that we sent it while it brought changes that we refuse.
    var lastEmpty: Data?
  }

  /// A peer's heads differ from ours; and for how many checks these have stayed the same.
  struct Difference {
    var ours: Set<ChangeHash>
    var theirs: Set<ChangeHash>?
    var checkCount = 0
  }

  /// One turn sends this much; the remaining peers get theirs in later turns.
  /// Source: PeerProtocol.md, "Expensive changes".
  static let byteCountOfTurn = 256 << 10

  /// How often a peer may ask for everything between two checks. Source: PeerProtocol.md, "Expensive changes".
  static let mostWhole = 8

  enum Stance { case unknown, asked, has, lacks }

  var phase: Phase
  /// Some peers are still to be asked, so a search cannot end.
  private var isAsking: Bool
  var links: [Link] = []
  /// How many peers have ever had to wait for their turn.
  private var owedCount = 0
  /// The actors that peers write as, and the changes withheld because of them.
  var authorship = Authorship()
  /// What was shared with peers that are gone, encoded by `SyncState.encode`.
  private var remembered: [PeerId: Data] = [:]

  init(phase: Phase) {
    self.phase = phase
    isAsking = phase == .searching
  }

  /// The peers on the document: all with a link that have not said that they lack it.
  var peers: [PeerId] { links.filter { $0.stance != .lacks }.map(\.peer) }

  var linkedPeers: [PeerId] { links.map(\.peer) }

  /// The peers on the document whose changes we take.
  var writers: [PeerId] { links.filter { $0.stance != .lacks && $0.access == .write }.map(\.peer) }

  func isPeer(_ peer: PeerId) -> Bool { links.contains { $0.peer == peer && $0.stance != .lacks } }

  func isWriter(_ peer: PeerId) -> Bool {
    links.contains { $0.peer == peer && $0.stance != .lacks && $0.access == .write }
  }

  /// The peers that wait for the search's result.
  var awaitingPeers: [PeerId] { links.filter(\.awaitsAnswer).map(\.peer) }

  /// Whether a peer has said that it has something.
  var isBeingSent: Bool { links.contains { $0.stance == .has } }

  /// The peers to tell when the search is given up: those that wait, and those that have begun to send the document.
  var engagedPeers: [PeerId] { links.filter { $0.awaitsAnswer || $0.stance == .has }.map(\.peer) }

  /// A peer's last heads; nil if it has told none.
  func heads(of peer: PeerId) -> Set<ChangeHash>? {
    links.firstIndex { $0.peer == peer }.flatMap { links[$0].theirHeads }
  }

  mutating func receive(_ event: Event, document: Document) -> [Effect] {
    switch event {
    case .connected(let peer, let access): return connect(peer, access, document)
    case .disconnected(let peer), .accessChanged(let peer, .none): return drop(peer) + tell(.left(peer), document)
    case .accessChanged(let peer, let access): return changeAccess(of: peer, to: access, document)
    case .checked: return check(document)
    case .turned: return phase == .ready ? speak(to: owed, document) : []
    case .told(let heads, let peer):
      if let index = links.firstIndex(where: { $0.peer == peer }) { links[index].theirHeads = heads }
      return []
    case .idle(let peers): return setIdle(peers, document)
    case .crowded(let peer, let isCrowded):
      guard let index = links.firstIndex(where: { $0.peer == peer }) else { return [] }
      links[index].isCrowded = isCrowded
      return isCrowded || phase != .ready || links[index].stance == .lacks ? [] : send(to: index, document)
    case .changed: return changed(document)
    case .rewound: return startOver(document)
    case .authorship(let event): return tell(event, document)
    case .received(.unavailable, let peer, _): return unavailable(peer)
    case .received(.request(let data), let peer, let access):
      return message(data, isRequest: true, from: peer, access: access, document)
    case .received(.sync(let data), let peer, let access):
      return message(data, isRequest: false, from: peer, access: access, document)
    case .asked:
      isAsking = false
      return settle()
    }
  }

  /// The document has changed here. Ends a search that found it other than through a peer.
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
      links[index].stance = .asked
      guard let data = document.generateSyncMessage(state: links[index].state) else { return [] }
      return [.send(.request(data), to: peer)]
    case .ready:
      return send(to: index, document)
    }
  }

  private mutating func drop(_ peer: PeerId) -> [Effect] {
    drop(peer, settles: true)
  }

  @discardableResult
  private mutating func drop(_ peer: PeerId, settles: Bool) -> [Effect] {
    guard let index = links.firstIndex(where: { $0.peer == peer }) else { return [] }
    remembered[peer] = links[index].state.encode()
    links.remove(at: index)
    return settles ? settle() : []
  }

  private mutating func unavailable(_ peer: PeerId) -> [Effect] {
    guard let index = links.firstIndex(where: { $0.peer == peer }) else { return [] }
    links[index].stance = .lacks
    return settle()
  }

  /// Ends a search when no peer is left to answer.
  private mutating func settle() -> [Effect] {
    guard phase == .searching, !isAsking, !links.contains(where: { $0.stance == .asked || $0.stance == .has }) else {
      return []
    }
    var effects: [Effect] = []
    for index in links.indices where links[index].awaitsAnswer {
      links[index].awaitsAnswer = false
      effects.append(.send(.unavailable, to: links[index].peer))
    }
    return effects + [.notFound]
  }

  private mutating func changeAccess(of peer: PeerId, to access: Access, _ document: Document) -> [Effect] {
    guard let index = links.firstIndex(where: { $0.peer == peer }), links[index].access != access else { return [] }
    links[index].access = access
    links[index].state.isReadOnly = access < .write
    return phase == .ready && links[index].stance != .lacks ? send(to: index, document) : []
  }

  /// The link to `peer`, created if there is none. Of an earlier connection only what was surely shared survives: messages may
  /// have been lost with it.
  mutating func link(to peer: PeerId, _ access: Access) -> Int {
    if let index = links.firstIndex(where: { $0.peer == peer }) { return index }
    let state = DocumentSync.state(remembered.removeValue(forKey: peer), access)
    links.append(Link(peer: peer, state: state, access: access))
    return links.count - 1
  }

  /// A peer with read access is told so, and its changes are refused.
  static func state(_ encoded: Data?, _ access: Access) -> SyncState {
    let state = encoded.flatMap { try? SyncState(bytes: $0) } ?? SyncState()
    state.isReadOnly = access < .write
    return state
  }

  private mutating func startOver(_ document: Document) -> [Effect] {
    remembered = [:]
    for index in links.indices {
      links[index].state = DocumentSync.state(nil, links[index].access)
      (links[index].lastEmpty, links[index].difference) = (nil, nil)
    }
    return phase == .ready ? sendToAll(document) : []
  }

  // MARK: Messages

  /// The link that a message came over, or an immediate answer.
  enum Opening {
    case link(Int)
    case answered([Effect])
  }

  /// Notes what the envelope of a message says about its sender.
  mutating func open(_ header: SyncHeader, isRequest: Bool, from peer: PeerId, access: Access) -> Opening {
    _ = authorship.receive(.heard(peer))
    let index = link(to: peer, access)
    if isRequest, phase == .searching, links[index].stance == .lacks, !links[index].awaitsAnswer {
      // It told us that it lacks the document, and now begins a search of its own: if each waited for the others' answers
      // before giving its own, none would ever come.
      return .answered([.send(.unavailable, to: peer)])
    }
    if isRequest || header.heads.isEmpty {
      links[index].wholeCount += 1
      // A document is expensive to send, and a peer that has received it does not ask again.
      if links[index].wholeCount > DocumentSync.mostWhole { return .answered([]) }
    }
    if isRequest {
      // It has nothing, whatever it had before.
      links[index].state = DocumentSync.state(nil, access)
      links[index].awaitsAnswer = true
    } else if links[index].stance == .lacks {
      links[index].state = DocumentSync.state(links[index].state.encode(), access)
    } else if links[index].access != access {
      links[index].state.isReadOnly = access < .write
    }
    links[index].access = access
    // During a search, a peer whose changes we refuse is as good as one without any.
    let hasSomething = !header.heads.isEmpty && (phase == .ready || access == .write)
    links[index].stance = hasSomething ? .has : phase == .searching ? .lacks : .unknown
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
        state: links[index].state, message: data, filter: &filter)
      links[index].theirHeads = links[index].state.theirHeads
      if header.changeCount > 0 { links[index].hasUnusable = filter.fault != nil }
      refusals += withhold(filter.leftOut, fault: filter.fault, at: index, document)
      return refusals + settleMessage(at: index, before: before, edits: edits, document)
    } catch {
      links[index].hasUnusable = true
      links[index].state = DocumentSync.state(links[index].state.encode(), access)
      return refusals + [.refused(peer, .rejected("\(error)"))]
    }
  }

  mutating func settleMessage(
    at index: Int, before: Set<ChangeHash>, edits: [TextEdit], _ document: Document
  ) -> [Effect] {
    let peer = links[index].peer
    let heads = document.heads()
    guard heads != before else {
      if phase == .searching, links[index].stance == .lacks { return settle() }
      return send(to: index, document)
    }
    var effects = found(by: index)
    if !edits.isEmpty { effects.append(.edited(edits, from: peer)) }
    effects.append(.headsChanged(by: peer))
    return effects + settleWithheld(document) + sendToAll(document, answering: peer)
  }

  /// Ends a search, as there is something now.
  mutating func found(by index: Int?) -> [Effect] {
    guard phase == .searching else { return [] }
    phase = .ready
    offerToThoseWithout(except: index)
    return [.found]
  }

  /// Offers what was found to the peers that said during the search that they have nothing.
  private mutating func offerToThoseWithout(except finder: Int?) {
    for index in links.indices where index != finder && links[index].stance == .lacks && !links[index].awaitsAnswer {
      links[index].stance = .unknown
      links[index].state = DocumentSync.state(nil, links[index].access)
    }
  }

  /// What to tell one peer now.
  mutating func send(to index: Int, _ document: Document) -> [Effect] {
    let link = links[index]
    links[index].owedSince = nil
    if phase == .ready, document.heads().isEmpty {
      // Nothing to give yet: only a peer that asks is told so.
      guard link.awaitsAnswer else { return [] }
      links[index].awaitsAnswer = false
      return [.send(.unavailable, to: link.peer)]
    }
    guard !link.isCrowded, let data = document.generateSyncMessage(state: link.state) else { return [] }
    links[index].awaitsAnswer = false
    return repeats(data, at: index) ? [] : [.send(.sync(data), to: link.peer)]
  }

  /// Starts the sync with a peer again if its heads differ from ours and neither side's have changed since the last check: a
  /// message must have been lost, and the two wait for each other or repeat themselves. Keeps only what was surely shared, so
  /// everything else is asked again. The intervals grow, for a large document on a slow network looks the same.
  private mutating func check(_ document: Document) -> [Effect] {
    for index in links.indices { links[index].wholeCount = 0 }
    guard phase == .ready else { return [] }
    let heads = document.heads()
    guard !heads.isEmpty else { return [] }
    return links.indices.flatMap { index -> [Effect] in
      let theirs = links[index].theirHeads
      guard links[index].stance != .lacks, theirs != heads else {
        links[index].difference = nil
        return []
      }
      var difference = links[index].difference ?? Difference(ours: heads, theirs: theirs)
      if difference.ours != heads || difference.theirs != theirs {
        difference = Difference(ours: heads, theirs: theirs)
      }
      let count = difference.checkCount
      difference.checkCount += 1
      links[index].difference = difference
      // After 1, 2, 4, 8 … checks.
      guard count > 0, count & (count - 1) == 0 else { return [] }
      links[index].state = DocumentSync.state(links[index].state.encode(), links[index].access)
      links[index].lastEmpty = nil
      return send(to: index, document)
    }
  }

  /// - Parameters:
  ///   - answered: the peer that is told even if its link is idle, for it has just spoken.
  ///   - left: the peers that are told later.
  mutating func sendToAll(
    _ document: Document, answering answered: PeerId? = nil, except left: PeerId? = nil
  ) -> [Effect] {
    let indices = links.indices.filter { index in
      let link = links[index]
      guard link.peer != left, !link.awaitsAnswer else { return link.peer != left }
      return link.stance != .lacks && (!link.isIdle || link.peer == answered)
    }
    return speak(to: indices, document)
  }

  /// The peers that wait for their turn, and still want it.
  private var owed: [Int] {
    links.indices.filter { links[$0].owedSince != nil && (links[$0].stance != .lacks || links[$0].awaitsAnswer) }
  }

  /// Tells these peers what is due, longest waiting first, within the limit of one turn.
  private mutating func speak(to indices: [Int], _ document: Document) -> [Effect] {
    var (effects, byteCount, isOwing): ([Effect], Int, Bool) = ([], 0, false)
    let waiting = indices.filter { links[$0].owedSince != nil }
      .sorted { links[$0].owedSince ?? 0 < links[$1].owedSince ?? 0 }
    for index in waiting + indices.filter({ links[$0].owedSince == nil }) {
      guard byteCount < DocumentSync.byteCountOfTurn else {
        isOwing = true
        guard links[index].owedSince == nil else { continue }
        owedCount += 1
        links[index].owedSince = owedCount
        continue
      }
      let new = send(to: index, document)
      byteCount += new.reduce(0) { $0 + $1.byteCount }
      effects += new
    }
    return isOwing ? effects + [.later] : effects
  }

  /// A peer that we speak to again is told at once what it may have missed.
  private mutating func setIdle(_ peers: Set<PeerId>, _ document: Document) -> [Effect] {
    links.indices.flatMap { index -> [Effect] in
      let wasIdle = links[index].isIdle
      links[index].isIdle = peers.contains(links[index].peer)
      guard wasIdle, !links[index].isIdle, phase == .ready, links[index].stance != .lacks else { return [] }
      return send(to: index, document)
    }
  }
}
