import Automerge
import AutomergeRepo
import Foundation
import PeerTransport

/// The move of a document to a successor with the same text and history, but without the removed guests.
public struct DocumentMove: Hashable, Sendable {
  static let key = "moves"
  static let type = "moved"
  /// More heads than a successor has: it begins with a change on top of all heads of the old document.
  static let maximumHeads = 1024
  /// The most people who may have one document. Source: PeerProtocol.md, "Guests of one host".
  static let maximumPeople = GuestList.maximumGuests

  /// The document as it was.
  public var document: DocumentId
  public var successor: DocumentId
  /// The heads of the new document, which has everything that it continues with.
  public var heads: Set<ChangeHash>
  /// The removed guests.
  public var removed: Set<PeerId>
  /// The host that moved it; nil if this person did.
  public var host: PeerId?
  /// The peers that have the old document from us, and will get the new one.
  var guests: [PeerId: Access] = [:]
  /// Whether this person's note already uses the new document.
  public internal(set) var isFollowed: Bool

  /// The fields that are sent to a guest and stored. No more heads than can be read again: without the others, a guest
  /// perhaps follows a moment early.
  var fields: [String: CBOR] {
    [
      "documentId": .text(document.description), "successor": .text(successor.description),
      "heads": .array(heads.sorted().prefix(Self.maximumHeads).map { .bytes(Data($0.bytes)) }),
      "removed": .array(removed.sorted().map { .text($0.description) }),
    ]
  }

  /// Nil if the fields are invalid.
  init?(fields: [String: CBOR], host: PeerId?) {
    guard let document = fields["documentId"]?.text.flatMap({ DocumentId($0) }),
      let successor = fields["successor"]?.text.flatMap({ DocumentId($0) }), document != successor,
      let heads = fields["heads"]?.array, !heads.isEmpty, heads.count <= Self.maximumHeads,
      let removed = fields["removed"]?.array, removed.count <= Self.maximumPeople
    else { return nil }
    let hashes = heads.compactMap { $0.bytes.flatMap { ChangeHash(bytes: Array($0)) } }
    guard hashes.count == heads.count else { return nil }
    self.init(
      document: document, successor: successor, heads: Set(hashes),
      removed: Set(removed.compactMap(\.text).map { PeerId($0) }), host: host, isFollowed: false)
  }

  init(
    document: DocumentId, successor: DocumentId, heads: Set<ChangeHash>, removed: Set<PeerId>, host: PeerId?,
    isFollowed: Bool
  ) {
    (self.document, self.successor, self.heads, self.removed) = (document, successor, heads, removed)
    (self.host, self.isFollowed) = (host, isFollowed)
  }

  init?(record: CBOR) {
    let names = ["documentId", "successor", "heads", "removed"]
    let fields = Dictionary(uniqueKeysWithValues: names.compactMap { name in record[name].map { (name, $0) } })
    self.init(fields: fields, host: record["host"]?.text.map { PeerId($0) })
    isFollowed = record["followed"]?.bool ?? false
    for entry in record["guests"]?.entries ?? [] {
      if let peer = entry.key.text, let access = entry.value.text.flatMap({ Access(rawValue: $0) }), access > .none {
        guests[PeerId(peer)] = access
      }
    }
  }

  var record: CBOR {
    let guests = guests.sorted { $0.key < $1.key }.map {
      CBOR.Entry(.text($0.key.description), .text($0.value.rawValue))
    }
    var members = fields
    members["host"] = host.map { .text($0.description) }
    members["followed"] = .bool(isFollowed)
    members["guests"] = .map(guests)
    return .map(members.sorted { $0.key < $1.key }.map { CBOR.Entry(.text($0.key), $0.value) })
  }
}

extension NoteMove {
  init(_ move: DocumentMove) {
    self.init(
      document: move.document, successor: move.successor, heads: move.heads, host: move.host,
      removedAuthors: Set(move.removed.compactMap { Identity.author(of: $0) }))
  }
}
