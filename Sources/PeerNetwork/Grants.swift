import AutomergeRepo

/// Who may do what, as the person has allowed it: a share policy whose default is nothing, kept in the store.
public final class Grants: SharePolicy {
  private let storage: any StorageProvider
  private var grants: [DocumentId: [PeerId: Access]] = [:]

  /// Reads what has been granted. Documents whose record is damaged are shared with nobody.
  public static func load(from storage: any StorageProvider) async throws(StorageError) -> Grants {
    let grants = Grants(storage: storage)
    try await grants.reload()
    return grants
  }

  /// Reads everything again: another process of the same person may have written it.
  public func reload() async throws(StorageError) {
    var found: [DocumentId: [PeerId: Access]] = [:]
    for (key, record) in try await storage.records(under: ["grants"]) {
      guard let document = key.last.flatMap({ DocumentId($0) }) else { continue }
      for entry in record.entries ?? [] {
        if let peer = entry.key.text, let access = entry.value.text.flatMap({ Access(rawValue: $0) }), access > .none {
          found[document, default: [:]][PeerId(peer)] = access
        }
      }
    }
    grants = found
  }

  private init(storage: any StorageProvider) { self.storage = storage }

  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { access(document, for: peer) > .none }

  public func access(_ document: DocumentId, for peer: PeerId) -> Access { grants[document]?[peer] ?? .none }

  public func documents(sharedWith peer: PeerId) -> [DocumentId]? { documents(for: peer).map(\.document) }

  /// The documents that a peer may see.
  public func documents(for peer: PeerId) -> [(document: DocumentId, access: Access)] {
    grants.compactMap { document, peers in peers[peer].map { (document, $0) } }
      .sorted { $0.document.description < $1.document.description }
  }

  public func peers(on document: DocumentId) -> [PeerId: Access] { grants[document] ?? [:] }

  public var allPeers: Set<PeerId> { Set(grants.values.flatMap(\.keys)) }

  /// Allows at least this much, at once; returns when it is in the store.
  public func grant(_ access: Access, on document: DocumentId, to peer: PeerId) async throws(StorageError) {
    admit(access, on: document, to: peer)
    try await store(document)
  }

  /// Allows at least this much, in memory; `store` makes it last.
  func admit(_ access: Access, on document: DocumentId, to peer: PeerId) {
    guard access > self.access(document, for: peer) else { return }
    grants[document, default: [:]][peer] = access
  }

  /// Takes back what one peer, or everybody, was allowed, at once; returns when that is in the store.
  public func revoke(_ document: DocumentId, from peer: PeerId?) async throws(StorageError) {
    if let peer { grants[document]?[peer] = nil } else { grants[document] = nil }
    if grants[document]?.isEmpty == true { grants[document] = nil }
    try await store(document)
  }

  func store(_ document: DocumentId) async throws(StorageError) {
    let key = ["grants", document.description]
    guard let peers = grants[document] else { return try await storage.remove(key) }
    let entries = peers.sorted { $0.key < $1.key }.map { peer, access in
      CBOR.Entry(.text(peer.description), .text(access.rawValue))
    }
    try await storage.saveRecord(.map(entries), at: key)
  }
}
