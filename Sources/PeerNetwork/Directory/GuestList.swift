import AutomergeRepo
import Foundation
import PeerTransport

/// A host's list of the guests on a document, so that they can speak to each other.
struct GuestList: Equatable {
  static let type = "guests"
  /// Larger than the number of links that a service has. Source: PeerProtocol.md, "Many peers".
  static let maximumGuests = 128

  struct Guest: Equatable {
    var peer: PeerId
    var access: Access
    var name: String?
    /// The addresses where the guest may be reached.
    var addresses: [PeerAddress]
  }

  var document: DocumentId
  /// All guests: one that is not in the list has lost the document.
  var guests: [Guest]

  init(document: DocumentId, guests: [Guest]) {
    (self.document, self.guests) = (document, Array(guests.prefix(Self.maximumGuests)))
  }

  /// Nil if the fields are invalid. Drops invalid guests, and addresses that are not numeric.
  init?(fields: [String: CBOR]) {
    guard let document = fields["documentId"]?.text.flatMap({ DocumentId($0) }), let list = fields["guests"]?.array
    else { return nil }
    var guests: [Guest] = []
    for entry in list.prefix(Self.maximumGuests) {
      guard let peer = entry["peer"]?.text.map({ PeerId($0) }), Identity.fingerprint(of: peer) != nil,
        let access = entry["access"]?.text.flatMap({ Access(rawValue: $0) }), access > .none,
        !guests.contains(where: { $0.peer == peer })
      else { continue }
      let addresses = (entry["addresses"]?.array ?? []).prefix(Ticket.maximumAddresses)
        .compactMap(\.text).compactMap { PeerAddress($0) }.filter(\.isCallable)
      guests.append(
        Guest(
          peer: peer, access: access, name: entry["name"]?.text.flatMap(KnownPeer.clean), addresses: addresses))
    }
    self.init(document: document, guests: guests)
  }

  var fields: [String: CBOR] {
    [
      "documentId": .text(document.description),
      "guests": .array(
        guests.map { guest in
          .record([
            "peer": .text(guest.peer.description), "access": .text(guest.access.rawValue),
            "name": guest.name.map { .text($0) },
            "addresses": .array(guest.addresses.map { .text($0.description) }),
          ])
        }),
    ]
  }
}
