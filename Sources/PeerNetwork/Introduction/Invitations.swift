import AutomergeRepo
import PeerTransport

/// The state of all invitations: those that we send, and those that we receive.
///
///     sent:      offered ──nonce──► open ──accepted──► (unconfirmed ──confirmed──►) granted
///     received:  offered ──opening──► open ──accepted──► awaited ──granted──► done
///                   └──10 s, or the link ends──► broken off
///
/// If digits are shown, both people confirm before anything is granted: the invited person accepts, the inviter
/// compares. Reads no clock, draws no random numbers, and shows a person nothing before the digits are known.
public struct Invitations: Sendable {
  /// Source of all limits: PeerProtocol.md, "Invitations".
  public static let maximumOpen = 16
  /// From a peer not met, and from one met: how many that this person has not accepted.
  public static let maximumPerStrangerAndHour = 3
  public static let maximumPerFriendAndHour = 16
  /// Invitations older than this are forgotten.
  public static let lifetime: Duration = .seconds(24 * 60 * 60)
  /// How long an inviter may take to open its offer.
  public static let openingTimeout: Duration = .seconds(10)
  private static let hour: Duration = .seconds(60 * 60)

  public struct Sent: Hashable, Sendable {
    public var id: [UInt8]
    public var peer: PeerId
    public var document: DocumentId
    public var access: Access
    /// Six digits, if one of the two has not met the other.
    public var code: String?
    /// Whether the other person has accepted, and this person still has to say whether the digits are equal.
    public var awaitsConfirmation = false
    var nonce: [UInt8]
    var knowsInvited: Bool
    /// Kept for sending it again if the link breaks before it has arrived.
    var offer: InviteMessage.Offer
    var isOpen = false
    /// Whether the document was granted. The invitation is kept in case the other side asks again, because the answer
    /// may have been lost.
    var isGranted = false
    var time: Duration
  }

  public struct Received: Hashable, Sendable {
    public var id: [UInt8]
    public var peer: PeerId
    public var name: String
    public var document: DocumentId
    public var title: String
    public var access: Access
    public var code: String?
    var commitment: [UInt8]
    var nonce: [UInt8]
    /// Whether we have met the inviter.
    var isFromFriend: Bool
    /// Whether either of the two has not met the other.
    var isFirstContact: Bool
    var state = State.offered
    var time: Duration

    enum State { case offered, open, awaited }
  }

  enum Effect: Equatable {
    case send(InviteMessage, invitation: [UInt8], to: PeerId)
    /// The invitation has arrived, with the digits if they are needed.
    case delivered(Sent)
    /// Show the invitation to this person.
    case arrived(Received)
    /// The invitation was withdrawn or has expired.
    case withdrawn(Received)
    /// The other person has accepted: store the grant.
    case grant(Sent)
    /// The other person's yes has come again: repeat the answer, with the access that the peer has by now.
    case repeatGrant(Sent)
    /// The other person has accepted; this person now compares the digits.
    case confirm(Sent)
    case declined(Sent)
    /// The document may be opened.
    case granted(Received, Access)
    /// The peer's messages contradict each other: an attacker is in the middle, or the peer cheats.
    case cheated(PeerId)
    /// The inviter could compute the digits, and left without opening its offer.
    case brokeOff(Received)
    /// So many invitations were broken off that further ones from strangers are refused.
    case closedToStrangers
  }

  private let local: [UInt8]
  private var sentOnes: [Sent] = []
  private var receivedOnes: [Received] = []
  /// Offers that were broken off. An inviter that resumes one gets the same number, and therefore the same digits.
  private var interrupted: [Received] = []
  private var recent: [PeerId: [Duration]] = [:]
  var budget = OfferBudget()

  public init(local: PeerId) { self.local = Identity.fingerprint(of: local) ?? [] }

  /// The invitations that this person may answer.
  public func received(at now: Duration) -> [Received] {
    receivedOnes.filter { $0.state == .open && now - $0.time < Self.lifetime }
  }

  /// Our invitations that wait for the invited peer's answer, or for this person to confirm.
  public func sent(at now: Duration) -> [Sent] {
    sentOnes.filter { $0.isOpen && !$0.isGranted && now - $0.time < Self.lifetime }
  }

  /// Whether a peer has an invitation of ours to answer, or this person one of the peer's.
  func isOpen(with peer: PeerId) -> Bool {
    sentOnes.contains { $0.peer == peer && !$0.isGranted }
      || receivedOnes.contains { $0.peer == peer && $0.state != .offered }
  }

  /// Whether the peer has accepted this invitation of ours, and it has not been withdrawn since.
  func isGranted(_ id: [UInt8]) -> Bool { sentOnes.contains { $0.id == id && $0.isGranted } }

  // MARK: Sending

  /// - Parameters:
  ///   - id, nonce: random.
  ///   - knowsInvited: whether the two have met.
  mutating func invite(
    _ peer: PeerId, to document: DocumentId, title: String, access: Access, name: String, id: [UInt8], nonce: [UInt8],
    knowsInvited: Bool, at now: Duration
  ) -> [Effect] {
    forgetOld(at: now)
    // Replaces an earlier invitation of the same peer to the same document.
    sentOnes.removeAll { $0.peer == peer && $0.document == document }
    if sentOnes.count >= Self.maximumOpen { sentOnes.removeFirst() }
    let commitment = ShortAuthenticationString.commitment(
      to: nonce, inviter: local, invited: Identity.fingerprint(of: peer) ?? [])
    let offer = InviteMessage.Offer(
      document: document, title: title, access: access, name: name, commitment: commitment, knowsInvited: knowsInvited)
    sentOnes.append(
      Sent(
        id: id, peer: peer, document: document, access: access, nonce: nonce, knowsInvited: knowsInvited,
        offer: offer, time: now))
    return [.send(.offer(offer), invitation: id, to: peer)]
  }

  /// This person has said whether the digits are equal.
  mutating func confirm(_ id: [UInt8], areEqual: Bool) -> [Effect] {
    guard let index = sentOnes.firstIndex(where: { $0.id == id && $0.awaitsConfirmation }) else { return [] }
    guard areEqual else { return [.send(.withdrawn, invitation: id, to: sentOnes.remove(at: index).peer)] }
    return grant(at: index)
  }

  /// Withdraws what was sent to a peer, for one document or for all.
  mutating func withdraw(from peer: PeerId?, document: DocumentId?) -> [Effect] {
    let gone = sentOnes.filter {
      (peer == nil || $0.peer == peer) && (document == nil || $0.document == document)
    }
    sentOnes.removeAll { gone.contains($0) }
    return gone.map { .send(.withdrawn, invitation: $0.id, to: $0.peer) }
  }

  /// Forgets an invitation that did not arrive.
  mutating func forget(_ id: [UInt8]) { sentOnes.removeAll { $0.id == id } }

  /// Call when there is a new link to a peer: repeats what may have been lost with the last one.
  mutating func reconnected(to peer: PeerId) -> [Effect] {
    let sent = sentOnes.filter { $0.peer == peer && !$0.isGranted }.map { sent in
      Effect.send(sent.isOpen ? .opening(nonce: sent.nonce) : .offer(sent.offer), invitation: sent.id, to: peer)
    }
    let answered = receivedOnes.filter { $0.peer == peer && $0.state == .awaited }.map { received in
      Effect.send(.answer(accepts: true), invitation: received.id, to: peer)
    }
    return sent + answered
  }

  // MARK: Answering

  /// Call when this person has answered. Nil if the invitation does not exist.
  mutating func answer(_ id: [UInt8], accepts: Bool) -> (Received, [Effect])? {
    guard let index = receivedOnes.firstIndex(where: { $0.id == id && $0.state == .open }) else { return nil }
    let received = receivedOnes[index]
    if accepts { receivedOnes[index].state = .awaited } else { receivedOnes.remove(at: index) }
    return (received, [.send(.answer(accepts: accepts), invitation: id, to: received.peer)])
  }

  /// Drops everything of a peer, without telling it.
  mutating func drop(_ peer: PeerId) {
    receivedOnes.removeAll { $0.peer == peer }
    interrupted.removeAll { $0.peer == peer }
    sentOnes.removeAll { $0.peer == peer }
  }

  /// Declines an invitation that needs no decision, without asking this person. Tells a peer that was met.
  mutating func dismiss(_ id: [UInt8]) -> [Effect] {
    guard let index = receivedOnes.firstIndex(where: { $0.id == id }) else { return [] }
    let received = receivedOnes.remove(at: index)
    return received.isFromFriend ? [.send(.answer(accepts: false), invitation: id, to: received.peer)] : []
  }

  // MARK: Broken-off offers

  /// Call when a link has ended: its peer's unopened offers count as broken off.
  mutating func linkEnded(_ peer: PeerId) -> [Effect] { interrupt { $0.peer == peer } }

  /// Call at intervals: offers that were not opened in time count as broken off.
  mutating func expire(at now: Duration) -> [Effect] {
    interrupt { now - $0.time >= Self.openingTimeout }
  }

  private mutating func interrupt(where isOver: (Received) -> Bool) -> [Effect] {
    let gone = receivedOnes.filter { $0.state == .offered && isOver($0) }
    receivedOnes.removeAll { gone.contains($0) }
    interrupted = Array((interrupted + gone).suffix(Self.maximumOpen))
    return gone.filter { !$0.isFromFriend }.map { .brokeOff($0) }
  }

  // MARK: Receiving

  /// - Parameters:
  ///   - nonce: random, for an answer that needs one.
  ///   - isKnown: whether we have met the peer.
  mutating func receive(
    _ message: InviteMessage, invitation id: [UInt8], from peer: PeerId, isKnown: Bool, nonce: [UInt8],
    at now: Duration
  ) -> [Effect] {
    switch message {
    case .offer(let offer): return offered(offer, id, from: peer, isKnown: isKnown, nonce: nonce, at: now)
    case .opening(let nonce): return opened(nonce, id, from: peer)
    case .granted(let access):
      guard let index = receivedOnes.firstIndex(where: { $0.id == id && $0.peer == peer && $0.state == .awaited })
      else { return [] }
      // A person with whom one shares everything in an hour is no nuisance.
      let received = receivedOnes.remove(at: index)
      if let time = recent[peer]?.firstIndex(of: received.time) { recent[peer]?.remove(at: time) }
      return [.granted(received, access)]
    case .withdrawn:
      interrupted.removeAll { $0.id == id && $0.peer == peer }
      guard let index = receivedOnes.firstIndex(where: { $0.id == id && $0.peer == peer }) else { return [] }
      let received = receivedOnes.remove(at: index)
      if received.state == .offered { return received.isFromFriend ? [] : [.brokeOff(received)] }
      if !received.isFromFriend { budget.withdrawn(id, at: now) }
      return [.withdrawn(received)]
    case .nonce(let nonce, let knowsInviter): return answered(nonce, knowsInviter, id, from: peer)
    case .answer(let accepts): return answered(accepts, id, from: peer)
    }
  }

  private mutating func offered(
    _ offer: InviteMessage.Offer, _ id: [UInt8], from peer: PeerId, isKnown: Bool, nonce: [UInt8], at now: Duration
  ) -> [Effect] {
    forgetOld(at: now)
    if let known = receivedOnes.first(where: { $0.id == id }) {
      guard known.peer == peer, known.state == .offered else { return [] }
      return [.send(.nonce(known.nonce, knowsInviter: isKnown), invitation: id, to: peer)]
    }
    if let index = interrupted.firstIndex(where: { $0.id == id }) {
      // Our number is the same as before, so it reveals nothing new and costs no try.
      guard interrupted[index].peer == peer, interrupted[index].commitment == offer.commitment else { return [] }
      var again = interrupted.remove(at: index)
      again.time = now
      receivedOnes.append(again)
      return [.send(.nonce(again.nonce, knowsInviter: isKnown), invitation: id, to: peer)]
    }
    // Strangers must leave room for people this person has met.
    guard receivedOnes.count(where: { $0.isFromFriend == isKnown }) < Self.maximumOpen,
      mayInvite(peer, isKnown, at: now)
    else { return [] }
    // A newer one for the same document replaces the older one.
    let older = receivedOnes.filter { $0.peer == peer && $0.document == offer.document && $0.state != .awaited }
    if !isKnown, !budget.begin(id, inPlaceOf: older.count { $0.state == .open }, at: now) {
      return budget.tells() ? [.closedToStrangers] : []
    }
    receivedOnes.removeAll { older.contains($0) }
    for old in older where !old.isFromFriend { budget.withdrawn(old.id, at: now) }
    count(peer, at: now)
    let isFirstContact = !isKnown || !offer.knowsInvited
    receivedOnes.append(
      Received(
        id: id, peer: peer, name: isFirstContact ? ForeignWords.name(offer.name) ?? "" : offer.name,
        document: offer.document, title: isFirstContact ? ForeignWords.title(offer.title) ?? "a note" : offer.title,
        access: offer.access, commitment: offer.commitment, nonce: nonce, isFromFriend: isKnown,
        isFirstContact: isFirstContact, time: now))
    return [.send(.nonce(nonce, knowsInviter: isKnown), invitation: id, to: peer)]
  }

  /// Whether a peer may send another invitation, judged by how many it has sent lately that were not accepted.
  private func mayInvite(_ peer: PeerId, _ isKnown: Bool, at now: Duration) -> Bool {
    (recent[peer] ?? []).count { now - $0 < Self.hour }
      < (isKnown ? Self.maximumPerFriendAndHour : Self.maximumPerStrangerAndHour)
  }

  /// The list stays short: few invitations are accepted from strangers, and there are few friends.
  private mutating func count(_ peer: PeerId, at now: Duration) {
    recent[peer] = (recent[peer] ?? []).filter { now - $0 < Self.hour } + [now]
  }

  private mutating func opened(_ nonce: [UInt8], _ id: [UInt8], from peer: PeerId) -> [Effect] {
    // The peer may have answered on a link that broke.
    if let index = interrupted.firstIndex(where: { $0.id == id && $0.peer == peer }) {
      receivedOnes.append(interrupted.remove(at: index))
    }
    guard let index = receivedOnes.firstIndex(where: { $0.id == id && $0.peer == peer && $0.state == .offered }),
      let inviter = Identity.fingerprint(of: peer)
    else { return [] }
    guard
      ShortAuthenticationString.commitment(to: nonce, inviter: inviter, invited: local)
        == receivedOnes[index].commitment
    else {
      receivedOnes.remove(at: index)
      return [.cheated(peer)]
    }
    receivedOnes[index].state = .open
    if !receivedOnes[index].isFromFriend { budget.opened(id) }
    if receivedOnes[index].isFirstContact {
      receivedOnes[index].code = ShortAuthenticationString.digits(
        inviter: inviter, inviterNonce: nonce, invited: local, invitedNonce: receivedOnes[index].nonce)
    }
    return [.arrived(receivedOnes[index])]
  }

  private mutating func answered(
    _ nonce: [UInt8], _ knowsInviter: Bool, _ id: [UInt8], from peer: PeerId
  ) -> [Effect] {
    guard let index = sentOnes.firstIndex(where: { $0.id == id && $0.peer == peer && !$0.isOpen }),
      let invited = Identity.fingerprint(of: peer)
    else { return [] }
    sentOnes[index].isOpen = true
    if !knowsInviter || !sentOnes[index].knowsInvited {
      sentOnes[index].code = ShortAuthenticationString.digits(
        inviter: local, inviterNonce: sentOnes[index].nonce, invited: invited, invitedNonce: nonce)
    }
    return [.send(.opening(nonce: sentOnes[index].nonce), invitation: id, to: peer), .delivered(sentOnes[index])]
  }

  private mutating func answered(_ accepts: Bool, _ id: [UInt8], from peer: PeerId) -> [Effect] {
    guard
      let index = sentOnes.firstIndex(where: {
        $0.id == id && $0.peer == peer && $0.isOpen && !$0.awaitsConfirmation
      })
    else { return [] }
    guard accepts else { return sentOnes[index].isGranted ? [] : [.declined(sentOnes.remove(at: index))] }
    if sentOnes[index].isGranted { return [.repeatGrant(sentOnes[index])] }
    if sentOnes[index].code != nil {
      sentOnes[index].awaitsConfirmation = true
      return [.confirm(sentOnes[index])]
    }
    return grant(at: index)
  }

  private mutating func grant(at index: Int) -> [Effect] {
    sentOnes[index].awaitsConfirmation = false
    sentOnes[index].isGranted = true
    return [.grant(sentOnes[index])]
  }

  private mutating func forgetOld(at now: Duration) {
    sentOnes.removeAll { now - $0.time >= Self.lifetime }
    receivedOnes.removeAll { now - $0.time >= Self.lifetime }
    interrupted.removeAll { now - $0.time >= Self.hour }
    recent = recent.filter { now - ($0.value.last ?? .zero) < Self.hour }
  }
}
