import Automerge
import Foundation

/// What repos of this program send each other besides automerge-repo's messages. Source: PeerProtocol.md, "Messages".
enum PrivateMessage {
  /// The digest of all documents that the sender shares with the receiver.
  case catalogueDigest(Data)
  /// The sums behind such a digest, sent when the receiver's digest differs.
  case catalogueBuckets(Data)
  case heads([(document: DocumentId, heads: Set<ChangeHash>)])
  /// The sender's links on a document.
  case reach(Relays.Report, on: DocumentId)
  /// The actors that the sender writes as, and whether it asks for the receiver's.
  case authors(Set<ActorId>, asks: Bool, on: DocumentId)
  /// Asks the author of these changes whether it knows them.
  case vouchRequest(Set<ChangeHash>, on: DocumentId)
  /// Which of those changes the author knows.
  case vouchAnswer(known: Set<ChangeHash>, of: Set<ChangeHash>, on: DocumentId)
  case signatureDigest(Data, on: DocumentId)
  case signatures([ChangeSignature], on: DocumentId)

  /// Source of the three limits: PeerProtocol.md, "Closed documents", "Authors", "Signatures".
  static let maximumDocuments = 1000
  static let maximumChanges = 256
  static let maximumSignatures = 256

  private enum Kind: String { case catalogue, heads, reach, author, vouch, signed }

  /// Whether messages of this type are the repo's own.
  static func isType(_ type: String) -> Bool { Kind(rawValue: type) != nil }

  var type: String { kind.rawValue }

  private var kind: Kind {
    switch self {
    case .catalogueDigest, .catalogueBuckets: .catalogue
    case .heads: .heads
    case .reach: .reach
    case .authors: .author
    case .vouchRequest, .vouchAnswer: .vouch
    case .signatureDigest, .signatures: .signed
    }
  }

  /// The message's fields without its type, sender and receiver.
  var fields: [String: CBOR] {
    switch self {
    case .catalogueDigest(let digest): ["digest": .bytes(digest)]
    case .catalogueBuckets(let buckets): ["buckets": .bytes(buckets)]
    case .heads(let documents):
      [
        "documents": .array(
          documents.map { id, heads in
            // The receiver drops a document with more; with some missing, it finds that the heads differ.
            .record([
              "id": .bytes(Data(id.bytes)),
              "heads": .bytes(StoredHeads.encode(heads, atMost: StoredHeads.maximumHeads)),
            ])
          })
      ]
    case .reach(let report, let id):
      ["documentId": id.field, "peers": Self.list(report.peers), "idle": Self.list(report.idle)]
    case .authors(let actors, let asks, let id):
      ["documentId": id.field, "actors": Self.list(actors), "asks": .bool(asks)]
    case .vouchRequest(let changes, let id):
      ["documentId": id.field, "changes": .bytes(StoredHeads.encode(changes))]
    case .vouchAnswer(let known, let changes, let id):
      [
        "documentId": id.field, "changes": .bytes(StoredHeads.encode(changes)),
        "known": .bytes(StoredHeads.encode(known)),
      ]
    case .signatureDigest(let digest, let id): ["documentId": id.field, "digest": .bytes(digest)]
    case .signatures(let signatures, let id):
      ["documentId": id.field, "signatures": .array(signatures.map { .bytes($0.encoded) })]
    }
  }

  private static func list(_ peers: Set<PeerId>) -> CBOR { .array(peers.sorted().map { .text($0.description) }) }

  private static func list(_ actors: Set<ActorId>) -> CBOR {
    let sorted = actors.map(\.data).sorted { $0.lexicographicallyPrecedes($1) }
    return .array(sorted.prefix(Authorship.maximumActors).map { .bytes($0) })
  }

  /// Nil if the type is not the repo's own, or the fields are not what it needs. Drops what exceeds a limit.
  init?(type: String, fields: [String: CBOR]) {
    guard let kind = Kind(rawValue: type) else { return nil }
    let id = fields["documentId"]?.text.flatMap { DocumentId($0) }
    switch (kind, id) {
    case (.catalogue, _):
      if let digest = fields["digest"]?.bytes {
        self = .catalogueDigest(digest)
      } else if let buckets = fields["buckets"]?.bytes, buckets.count == Catalogue.bucketByteCount {
        self = .catalogueBuckets(buckets)
      } else {
        return nil
      }
    case (.heads, _):
      let entries = fields["documents"]?.array?.prefix(Self.maximumDocuments) ?? []
      self = .heads(
        entries.compactMap { entry in
          guard let id = entry["id"]?.bytes.flatMap({ DocumentId(bytes: Array($0)) }),
            let heads = entry["heads"]?.bytes.flatMap(StoredHeads.decode)
          else { return nil }
          return (id, heads)
        })
    case (.reach, let id?):
      self = .reach(Relays.Report(peers: Self.peers(fields["peers"]), idle: Self.peers(fields["idle"])), on: id)
    case (.author, let id?):
      let names = (fields["actors"]?.array ?? []).prefix(Authorship.maximumActors).compactMap(\.bytes)
      let actors = names.compactMap { $0.isEmpty || $0.count > 64 ? nil : ActorId(data: $0) }
      self = .authors(Set(actors), asks: fields["asks"] == .bool(true), on: id)
    case (.vouch, let id?):
      guard let changes = fields["changes"]?.bytes.flatMap(StoredHeads.decode), changes.count <= Self.maximumChanges
      else { return nil }
      if let known = fields["known"]?.bytes.flatMap(StoredHeads.decode) {
        self = .vouchAnswer(known: known.intersection(changes), of: changes, on: id)
      } else {
        self = .vouchRequest(changes, on: id)
      }
    case (.signed, let id?):
      if let list = fields["signatures"]?.array {
        let encoded = list.prefix(Self.maximumSignatures).compactMap(\.bytes)
        self = .signatures(encoded.compactMap(ChangeSignature.init(encoded:)), on: id)
      } else if let digest = fields["digest"]?.bytes, digest.count == SignatureBook.emptyDigest.count {
        self = .signatureDigest(digest, on: id)
      } else {
        return nil
      }
    case (.reach, nil), (.author, nil), (.vouch, nil), (.signed, nil): return nil
    }
  }

  private static func peers(_ value: CBOR?) -> Set<PeerId> {
    let names = (value?.array ?? []).prefix(Relays.maximumPeers).compactMap(\.text)
    return Set(names.filter { $0.utf8.count <= EphemeralGate.maximumIdBytes }.map { PeerId($0) })
  }
}

extension DocumentId {
  fileprivate var field: CBOR { .text(description) }
}
