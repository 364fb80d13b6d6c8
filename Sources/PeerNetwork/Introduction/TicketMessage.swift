import AutomergeRepo
import Foundation

/// The messages of type `ticket`: a secret to the host, its answer back.
enum TicketMessage: Equatable {
  static let type = "ticket"

  case present(DocumentId, secret: [UInt8])
  /// A spoken ticket's part of the secret; the host knows the document.
  case presentSpoken(secret: [UInt8])
  case accepted(DocumentId, Access, isSpoken: Bool)
  /// The refusal of a ticket; without a document, of a spoken one.
  case refused(DocumentId?, kind: String)

  /// Nil if the fields are invalid.
  init?(fields: [String: CBOR]) {
    let document = fields["documentId"]?.text.flatMap { DocumentId($0) }
    if let secret = fields["secret"]?.bytes {
      guard let document, secret.count == Ticket.secretByteCount else { return nil }
      self = .present(document, secret: Array(secret))
    } else if let secret = fields["spoken"]?.bytes {
      guard secret.count == SpokenTicket.secretByteCount else { return nil }
      self = .presentSpoken(secret: Array(secret))
    } else if fields["accepted"]?.bool == true {
      guard let document, let access = fields["access"]?.text.flatMap({ Access(rawValue: $0) }) else { return nil }
      self = .accepted(document, access, isSpoken: fields["isSpoken"]?.bool ?? false)
    } else {
      guard let kind = fields["error"]?.text, document != nil || fields["isSpoken"]?.bool == true else { return nil }
      self = .refused(document, kind: kind)
    }
  }

  var fields: [String: CBOR] {
    switch self {
    case .present(let document, let secret):
      ["documentId": .text(document.description), "secret": .bytes(Data(secret))]
    case .presentSpoken(let secret):
      ["spoken": .bytes(Data(secret))]
    case .accepted(let document, let access, let isSpoken):
      [
        "documentId": .text(document.description), "accepted": true, "access": .text(access.rawValue),
        "isSpoken": isSpoken ? true : .undefined,
      ]
    case .refused(let document?, let kind):
      ["documentId": .text(document.description), "error": .text(kind)]
    case .refused(nil, let kind):
      ["isSpoken": true, "error": .text(kind)]
    }
  }
}
