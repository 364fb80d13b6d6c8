import AutomergeRepo
import Foundation
import PeerTransport

/// The stored data of a peer.
struct KnownPeer: Equatable {
  static let prefix: StorageKey = ["peers"]
  static let ticketsKey: StorageKey = ["tickets"]
  static let invitationsKey: StorageKey = ["invitations"]
  static let maximumNameLength = 80

  var name: String? { didSet { nameKey = name.map(ForeignWords.key) } }
  /// The key by which names are compared.
  private(set) var nameKey: String?
  var addresses: [PeerAddress] = []
  /// Whether this person has confirmed the peer, which is known by its key from then on.
  var isPinned = false
  /// Whether this person has blocked the peer.
  var isBlocked = false

  init() {}

  init(record: CBOR) {
    name = record["name"]?.text.flatMap(KnownPeer.clean)
    nameKey = name.map(ForeignWords.key)
    addresses = (record["addresses"]?.array ?? []).compactMap(\.text).compactMap { PeerAddress($0) }
    isPinned = record["pinned"]?.bool ?? false
    isBlocked = record["blocked"]?.bool ?? false
  }

  var record: CBOR {
    .record([
      "name": name.map { .text($0) }, "addresses": .array(addresses.map { .text($0.description) }),
      "pinned": .bool(isPinned), "blocked": .bool(isBlocked),
    ])
  }

  /// A name for one line: no control or format characters, not too long; nil if nothing is left.
  static func clean(_ name: String) -> String? {
    let scalars = name.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
      default: true
      }
    }
    var clean = String(String.UnicodeScalarView(scalars.prefix(maximumNameLength)))
    while clean.first == " " { clean.removeFirst() }
    while clean.last == " " { clean.removeLast() }
    return clean.isEmpty ? nil : clean
  }
}

/// A document that another peer has shared with us.
struct Joined {
  static let key = "joined"

  /// The access that the host grants us.
  var access: Access
  /// The host; nil in records of early versions.
  var host: PeerId?

  init(access: Access, host: PeerId) { (self.access, self.host) = (access, host) }

  init?(record: CBOR) {
    guard let access = record["access"]?.text.flatMap({ Access(rawValue: $0) }) else { return nil }
    (self.access, host) = (access, record["host"]?.text.map { PeerId($0) })
  }

  var record: CBOR {
    .record(["access": .text(access.rawValue), "host": host.map { .text($0.description) }])
  }
}
