import AutomergeRepo
import Foundation

/// The messages by which people invite each other; an invitation is identified by 16 random bytes of the inviter's.
///
///     inviter                                   invited
///       invite {offer, commitment}     ──►
///                                      ◄──      invite-answer {nonce}
///       invite {nonce}                 ──►      asks the person, shows the digits
///                                      ◄──      invite-answer {accept}
///       invite {access}                ──►      the document may be opened
enum InviteMessage: Equatable {
  static let inviteType = "invite"
  static let answerType = "invite-answer"
  static let idByteCount = 16
  static let nonceByteCount = 32

  case offer(Offer)
  /// The inviter's nonce, which must be the one that was committed to.
  case opening(nonce: [UInt8])
  /// The document may be opened now, with this access.
  case granted(Access)
  /// The inviter withdraws the invitation.
  case withdrawn
  case nonce([UInt8], knowsInviter: Bool)
  case answer(accepts: Bool)

  struct Offer: Hashable {
    var document: DocumentId
    var title: String
    var access: Access
    /// The inviter's name for itself.
    var name: String
    var commitment: [UInt8]
    /// Whether the inviter has met the invited peer before.
    var knowsInvited: Bool
  }

  var type: String {
    switch self {
    case .offer, .opening, .granted, .withdrawn: Self.inviteType
    case .nonce, .answer: Self.answerType
    }
  }

  func fields(of invitation: [UInt8]) -> [String: CBOR] {
    var fields: [String: CBOR]
    switch self {
    case .offer(let offer):
      fields = [
        "documentId": .text(offer.document.description), "title": .text(offer.title),
        "access": .text(offer.access.rawValue), "name": .text(offer.name),
        "commitment": .bytes(Data(offer.commitment)), "known": .bool(offer.knowsInvited),
      ]
    case .opening(let nonce): fields = ["nonce": .bytes(Data(nonce))]
    case .granted(let access): fields = ["granted": .text(access.rawValue)]
    case .withdrawn: fields = ["withdrawn": true]
    case .nonce(let nonce, let knowsInviter): fields = ["nonce": .bytes(Data(nonce)), "known": .bool(knowsInviter)]
    case .answer(let accepts): fields = ["accept": .bool(accepts)]
    }
    fields["invitation"] = .bytes(Data(invitation))
    return fields
  }

  /// Nil if the fields are invalid.
  static func parse(type: String, _ fields: [String: CBOR]) -> (invitation: [UInt8], message: InviteMessage)? {
    guard let invitation = fields["invitation"]?.bytes, invitation.count == idByteCount,
      let message = type == inviteType ? invite(fields) : answer(fields)
    else { return nil }
    return (Array(invitation), message)
  }

  private static func invite(_ fields: [String: CBOR]) -> InviteMessage? {
    if let nonce = nonce(in: fields) { return .opening(nonce: nonce) }
    if let granted = fields["granted"]?.text {
      return Access(rawValue: granted).flatMap { $0 == .none ? nil : .granted($0) }
    }
    if fields["withdrawn"]?.bool == true { return .withdrawn }
    guard let document = fields["documentId"]?.text.flatMap({ DocumentId($0) }),
      let access = fields["access"]?.text.flatMap({ Access(rawValue: $0) }), access != .none,
      let commitment = fields["commitment"]?.bytes, commitment.count == nonceByteCount
    else { return nil }
    return .offer(
      Offer(
        document: document, title: fields["title"]?.text.flatMap(KnownPeer.clean) ?? "a note", access: access,
        name: fields["name"]?.text.flatMap(KnownPeer.clean) ?? "", commitment: Array(commitment),
        knowsInvited: fields["known"]?.bool ?? false))
  }

  private static func answer(_ fields: [String: CBOR]) -> InviteMessage? {
    if let nonce = nonce(in: fields) { return .nonce(nonce, knowsInviter: fields["known"]?.bool ?? false) }
    return fields["accept"]?.bool.map { .answer(accepts: $0) }
  }

  private static func nonce(in fields: [String: CBOR]) -> [UInt8]? {
    fields["nonce"]?.bytes.flatMap { $0.count == nonceByteCount ? Array($0) : nil }
  }
}
