import AutomergeRepo
import Foundation

@testable import PeerNetwork
@testable import PeerTransport

/// Invitations in any order, from strangers and friends, with this person answering at any time.
///
/// Nothing is granted that both people have not agreed to; strangers learn our numbers, and with them the digits, as seldom as
/// they may; and no matter how often anything comes, little is kept.
public struct MeetingShapes {
  private static let identities = (0..<6).compactMap {
    Identity(privateKey: [UInt8](repeating: UInt8($0 + 1), count: 32))
  }
  private static let documents = (0..<2).compactMap { DocumentId(bytes: [UInt8](repeating: UInt8($0 + 1), count: 16)) }
  private static let friends = 2

  private var invitations: Invitations
  private var now: Duration = .seconds(100_000)
  private var drawn = 0
  /// Of strangers' invitations: when our number was shown, until our person has seen it or it counts no longer.
  private var unseen: [[UInt8]: Duration] = [:]
  /// Numbers behind digits that our person has seen.
  private var seen: Set<[UInt8]> = []
  private var accepted: Set<[UInt8]> = []
  private var invited: Set<[UInt8]> = []
  private var confirmed: Set<[UInt8]> = []
  private var agreed: Set<[UInt8]> = []

  public static func check(_ input: [UInt8]) throws {
    var shapes = MeetingShapes(invitations: Invitations(local: identities[0].peerId))
    var script = Script(input)
    while !script.isOver { try shapes.step(&script) }
  }

  private init(invitations: Invitations) { self.invitations = invitations }

  private mutating func step(_ script: inout Script) throws {
    let peer = 1 + script.below(5), id = [UInt8](repeating: 0, count: 15) + [UInt8(script.below(8))]
    let identity = Self.identities[peer], isKnown = peer <= Self.friends
    let effects: [Invitations.Effect]
    switch script.below(16) {
    case 0...3:
      let offer = InviteMessage.Offer(
        document: Self.documents[script.below(2)], title: "T", access: script.bit() ? .write : .read, name: "N",
        commitment: commitment(of: identity, script.next()), knowsInvited: script.bit())
      effects = receive(.offer(offer), id, peer)
    case 4, 5: effects = receive(.opening(nonce: number(script.next())), id, peer)
    case 6: effects = receive(.withdrawn, id, peer)
    case 7: effects = receive(.granted(.write), id, peer)
    case 8: effects = receive(.nonce(number(script.next()), knowsInviter: script.bit()), id, peer)
    case 9:
      agreed.insert(id)
      effects = receive(.answer(accepts: script.bit()), id, peer)
    case 10: effects = script.bit() ? invitations.linkEnded(identity.peerId) : invitations.expire(at: now)
    case 11:
      now += .seconds(1 << script.below(14))
      effects = invitations.expire(at: now)
    case 12:
      let accepts = script.bit()
      let answer = invitations.answer(id, accepts: accepts)
      if let answer, accepts { accepted.insert(answer.0.id) }
      effects = answer?.1 ?? []
    case 13:
      confirmed.insert(id)
      effects = invitations.confirm(id, areEqual: script.bit())
      if effects.isEmpty { confirmed.remove(id) }
    case 14:
      // Real ids are random: no two invitations of ours have one.
      guard !invitations.sent(at: now).contains(where: { $0.id == id }) else { return }
      invited.insert(id)
      (agreed, confirmed) = (agreed.subtracting([id]), confirmed.subtracting([id]))
      effects = invitations.invite(
        identity.peerId, to: Self.documents[script.below(2)], title: "T", access: .write, name: "N", id: id,
        nonce: number(script.next()), knowsInvited: isKnown, at: now)
    default: effects = script.bit() ? invitations.reconnected(to: identity.peerId) : restart()
    }
    try note(effects, isKnown: isKnown)
    let openCount = invitations.received(at: now).count
    try Broken.unless(openCount <= 2 * Invitations.maximumOpen, "\(openCount) open invitations")
    try Broken.unless(invitations.sent(at: now).count <= Invitations.maximumOpen, "too many sent ones")
  }

  private mutating func receive(_ message: InviteMessage, _ id: [UInt8], _ peer: Int) -> [Invitations.Effect] {
    drawn += 1
    let nonce = (0..<32).map { UInt8(truncatingIfNeeded: drawn >> (8 * ($0 % 4))) }
    return invitations.receive(
      message, invitation: id, from: Self.identities[peer].peerId, isKnown: peer <= Self.friends, nonce: nonce, at: now)
  }

  /// Open invitations are lost with the process; what strangers have used up is not.
  private mutating func restart() -> [Invitations.Effect] {
    let record = invitations.budget.record(now: now, date: Date(timeIntervalSince1970: 1e9))
    invitations = Invitations(local: Self.identities[0].peerId)
    invitations.budget = OfferBudget(record: record, now: now, date: Date(timeIntervalSince1970: 1e9))
    (accepted, invited, confirmed, agreed) = ([], [], [], [])
    return []
  }

  private mutating func note(_ effects: [Invitations.Effect], isKnown: Bool) throws {
    for effect in effects {
      switch effect {
      case .send(.nonce(let nonce, _), _, _) where !isKnown:
        // The same number again tells nothing new.
        guard unseen[nonce] == nil, !seen.contains(nonce) else { continue }
        let recent = unseen.values.count { now - $0 < OfferBudget.period }
        try Broken.unless(recent < OfferBudget.maximumBrokenOff, "\(recent + 1) numbers for strangers in an hour")
        unseen[nonce] = now
      case .arrived(let received):
        if !received.isFromFriend {
          unseen[received.nonce] = nil
          seen.insert(received.nonce)
        }
        try Broken.unless(received.isFromFriend || received.code?.count == 6, "a stranger without digits")
        accepted.remove(received.id)
      case .withdrawn(let received):
        if !received.isFromFriend { unseen[received.nonce] = now }
      case .granted(let received, _):
        try Broken.unless(accepted.contains(received.id), "granted what our person has not accepted")
      case .grant(let sent), .repeatGrant(let sent):
        try Broken.unless(invited.contains(sent.id) && agreed.contains(sent.id), "granted to one that has not accepted")
        try Broken.unless(
          sent.code == nil || confirmed.contains(sent.id), "granted before our person has compared the digits")
      case .confirm(let sent): try Broken.unless(sent.code != nil, "nothing to compare")
      case .send, .delivered, .declined, .cheated, .brokeOff, .closedToStrangers: break
      }
    }
  }

  private func number(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte & 3, count: 32) }

  private func commitment(of inviter: Identity, _ byte: UInt8) -> [UInt8] {
    ShortAuthenticationString.commitment(
      to: number(byte), inviter: inviter.fingerprint, invited: Self.identities[0].fingerprint)
  }
}
