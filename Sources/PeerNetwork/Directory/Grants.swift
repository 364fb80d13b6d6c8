import Automerge
import AutomergeRepo
import Foundation
import PeerTransport

/// The access that this person has granted: a share policy with no access by default, kept in the store.
public final class Grants: ShareAuthorizing {
  private let storage: any StorageProvider
  /// Grants that this person has given, or that arrived with a document shared by another peer.
  private var grants: [DocumentId: [PeerId: Access]] = [:]
  /// The other guests of documents, as their hosts list them.
  private(set) var introductions: [DocumentId: [PeerId: Access]] = [:]
  /// Peers from which this person has taken a document: guests of ours, and other guests of a host, whatever the host says.
  private(set) var dismissed: [DocumentId: Set<PeerId>] = [:]
  /// Guests of ours that have given the document back, while this process runs. Only this person can let them in again.
  private(set) var left: [DocumentId: Set<PeerId>] = [:]
  /// Guests whose access this person has changed since they were let in; they may not know of the change yet.
  private(set) var revised: [DocumentId: Set<PeerId>] = [:]
  /// The access that hosts have granted to this person for their documents.
  private(set) var joined: [DocumentId: Joined] = [:]
  /// The former hosts of documents that are our own now. They are the only peers that may offer these documents again.
  private(set) var formerHosts: [DocumentId: PeerId] = [:]
  /// The stored names of known peers.
  private var storedNames: [PeerId: String] = [:]
  /// The names of the peers that this person has met, by the first bytes of their fingerprints.
  private var metNames: [[UInt8]: String] = [:]

  /// Reads the grants. A document whose record is damaged is shared with no one.
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
    (introductions, dismissed, revised) = ([:], [:], [:])
    for (key, record) in try await storage.records(under: [Self.introductionsKey]) {
      guard let document = key.last.flatMap({ DocumentId($0) }) else { continue }
      for entry in record["guests"]?.entries ?? [] {
        if let peer = entry.key.text, let access = entry.value.text.flatMap({ Access(rawValue: $0) }), access > .none {
          introductions[document, default: [:]][PeerId(peer)] = access
        }
      }
      let names = (record["dismissed"]?.array ?? []).compactMap(\.text)
      // A peer that was let in again since is not dismissed.
      let gone = Set(names.map { PeerId($0) }).subtracting((grants[document] ?? [:]).keys)
      if !gone.isEmpty { dismissed[document] = gone }
      let changed = Set((record["revised"]?.array ?? []).compactMap(\.text).map { PeerId($0) })
        .intersection((grants[document] ?? [:]).keys)
      if !changed.isEmpty { revised[document] = changed }
    }
    (joined, formerHosts) = ([:], [:])
    for (key, record) in try await storage.records(under: [Joined.key]) {
      guard let document = key.last.flatMap({ DocumentId($0) }) else { continue }
      if let host = record["formerHost"]?.text {
        formerHosts[document] = PeerId(host)
      } else {
        joined[document] = Joined(record: record)
      }
    }
    (storedNames, metNames) = ([:], [:])
    for (key, record) in try await storage.records(under: KnownPeer.prefix) {
      let known = KnownPeer(record: record)
      guard let peer = key.last.map({ PeerId($0) }), let name = known.name else { continue }
      storedNames[peer] = name
      if known.isPinned || isGranted(peer), let author = Identity.author(of: peer) { metNames[author] = name }
    }
  }

  private init(storage: any StorageProvider) { self.storage = storage }

  /// The same access, to find out what a decision will change before it is made.
  func copy() -> Grants {
    let copy = Grants(storage: storage)
    (copy.grants, copy.introductions, copy.dismissed) = (grants, introductions, dismissed)
    (copy.left, copy.revised, copy.joined, copy.formerHosts) = (left, revised, joined, formerHosts)
    return copy
  }

  public func announce(_ document: DocumentId, to peer: PeerId) -> Bool { access(document, for: peer) > .none }

  public func access(_ document: DocumentId, for peer: PeerId) -> Access {
    max(grants[document]?[peer] ?? .none, introductions[document]?[peer] ?? .none)
  }

  /// The first half of an actor names the person it belongs to.
  public func fits(_ actor: ActorId, _ peer: PeerId) -> Bool {
    guard let fingerprint = Identity.fingerprint(of: peer) else { return false }
    return actor.data.prefix(Identity.personByteCount).elementsEqual(fingerprint.prefix(Identity.personByteCount))
  }

  public func documents(sharedWith peer: PeerId) -> [DocumentId]? { documents(for: peer).map(\.document) }

  /// The documents that a peer may see.
  public func documents(for peer: PeerId) -> [(document: DocumentId, access: Access)] {
    let own = grants.compactMap { document, peers in peers[peer] == nil ? nil : document }
    let others = introductions.compactMap { document, peers in
      peers[peer] == nil || grants[document]?[peer] != nil ? nil : document
    }
    return (own + others).map { ($0, access($0, for: peer)) }
      .sorted { $0.document.description < $1.document.description }
  }

  public func peers(on document: DocumentId) -> [PeerId: Access] {
    (grants[document] ?? [:]).merging(introductions[document] ?? [:]) { max($0, $1) }
  }

  /// The peers that have the document from us, and the host that we have it from.
  func guests(on document: DocumentId) -> [PeerId: Access] { grants[document] ?? [:] }

  /// Whether something is shared with a peer other than as a fellow guest.
  func isGranted(_ peer: PeerId) -> Bool { grants.contains { $0.value[peer] != nil } }

  public var allPeers: Set<PeerId> {
    Set(grants.values.flatMap(\.keys)).union(introductions.values.flatMap(\.keys))
  }

  /// The access that this person has decided on since the guests were let in.
  var decided: [DocumentId: [PeerId: Access]] {
    Dictionary(
      uniqueKeysWithValues: revised.map { document, peers in
        (document, (grants[document] ?? [:]).filter { peers.contains($0.key) })
      })
  }

  /// Grants at least this access, at once; returns when it is stored.
  public func grant(_ access: Access, on document: DocumentId, to peer: PeerId) async throws(StorageError) {
    admit(access, on: document, to: peer)
    try await store(document)
  }

  /// Grants at least this access, in memory; `store` makes it last.
  func admit(_ access: Access, on document: DocumentId, to peer: PeerId) {
    dismissed[document]?.remove(peer)
    left[document]?.remove(peer)
    guard access > grants[document]?[peer] ?? .none else { return }
    grants[document, default: [:]][peer] = access
  }

  /// Sets the access of a peer that already has some, at once; returns when it is stored. False for any other peer.
  ///
  /// - Parameter companions: stored together with it
  func change(
    _ access: Access, on document: DocumentId, for peer: PeerId, with companions: [StorageChange] = []
  ) async throws(StorageError) -> Bool {
    guard access > .none, grants[document]?[peer] != nil else { return false }
    grants[document]?[peer] = access
    revised[document, default: []].insert(peer)
    try await storage.commit([change(of: document)] + companions)
    try await storeIntroductions(to: document)
    return true
  }

  /// Drops the grant of a peer that has given the document back, without dismissing the peer.
  func forget(_ document: DocumentId, of peer: PeerId) async throws(StorageError) {
    drop(document, of: peer)
    try await store(document)
  }

  /// The same in memory.
  func drop(_ document: DocumentId, of peer: PeerId) {
    if left[document]?.count ?? 0 < Self.maximumDismissed { left[document, default: []].insert(peer) }
    grants[document]?[peer] = nil
    if grants[document]?.isEmpty == true { grants[document] = nil }
  }

  // MARK: This person's access

  /// The access that a document's host has granted to this person; `write` for our own documents.
  public func ownAccess(to document: DocumentId) -> Access { joined[document]?.access ?? .write }

  /// A host has let this person in, in memory; `storeJoined` makes it last.
  func join(_ document: DocumentId, _ entry: Joined) { joined[document] = entry }

  /// The host has changed this person's access, in memory.
  func setOwnAccess(_ access: Access, to document: DocumentId) { joined[document]?.access = access }

  /// The host that we have the document from; nil for our own.
  public func host(of document: DocumentId) -> PeerId? { joined[document]?.host }

  /// The stored name of a peer when last read; the beginning of its id if there is none.
  public func storedName(of peer: PeerId) -> String { storedNames[peer] ?? String(peer.description.prefix(8)) }

  /// The stored name of this author, if this person has met them.
  ///
  /// - Parameter author: the first `Identity.personByteCount` bytes of a fingerprint
  public func metName(ofAuthor author: [UInt8]) -> String? { metNames[author] }

  /// The same for a peer that claims a name: without a stored name, the claim, shortened, and marked if the name belongs to
  /// another.
  public func storedName(of peer: PeerId, claiming claim: String) -> String {
    guard storedNames[peer] == nil, let name = ForeignWords.name(claim) else { return storedName(of: peer) }
    let key = ForeignWords.key(of: name)
    return storedNames.values.contains { ForeignWords.key(of: $0) == key } ? ForeignWords.marked(name, peer) : name
  }

  /// Stores the access that a document's host has granted to this person.
  func storeJoined(_ document: DocumentId) async throws(StorageError) {
    try await storage.commit([joinedChange(of: document)])
  }

  /// What `storeJoined` writes.
  func joinedChange(of document: DocumentId) -> StorageChange {
    let key: StorageKey = [Joined.key, document.description]
    let record =
      joined[document]?.record ?? formerHosts[document].map { .record(["formerHost": .text($0.description)]) }
    return record.map { .save(StoredItem(key: key, data: Data($0.encoded()))) } ?? .remove(key)
  }

  /// Forgets that a peer was once the host of documents that are our own now, and returns these.
  func forgetFormerHost(_ peer: PeerId) -> [DocumentId] {
    let documents = formerHosts.filter { $0.value == peer }.map(\.key)
    for document in documents { formerHosts[document] = nil }
    return documents
  }

  /// Call when the host has ended the sharing: the document is our own from now on, and the host's other guests lose it here.
  ///
  /// - Returns: the peers that have lost it.
  func leaveHost(of document: DocumentId) -> Set<PeerId> {
    guard let host = joined.removeValue(forKey: document)?.host else { return [] }
    formerHosts[document] = host
    let others = (introductions.removeValue(forKey: document) ?? [:]).keys
    grants[document]?[host] = nil
    if grants[document]?.isEmpty == true { grants[document] = nil }
    return Set(others).union([host])
  }

  /// Revokes the grant of one peer, or all grants, at once; returns when it is stored.
  public func revoke(_ document: DocumentId, from peer: PeerId?) async throws(StorageError) {
    try await storage.commit(withdraw(document, from: peer))
  }

  /// Revokes the grant of one peer, or all grants, in memory.
  ///
  /// - Returns: what to store
  func withdraw(_ document: DocumentId, from peer: PeerId?) -> [StorageChange] {
    if let peer { revised[document]?.remove(peer) } else { revised[document] = nil }
    let mayHave = grants[document] != nil || introductions[document] != nil || dismissed[document] != nil
    if let peer {
      let wasGranted = grants[document]?.removeValue(forKey: peer) != nil
      let wasIntroduced = introductions[document]?.removeValue(forKey: peer) != nil
      if wasGranted || wasIntroduced { dismiss([peer], from: document) }
    } else {
      dismiss((grants[document] ?? [:]).keys.sorted(), from: document)
      (grants[document], introductions[document]) = (nil, nil)
    }
    if grants[document]?.isEmpty == true { grants[document] = nil }
    if introductions[document]?.isEmpty == true { introductions[document] = nil }
    return mayHave ? [change(of: document), introductionsChange(of: document)] : [change(of: document)]
  }

  /// More guests than a document ever has.
  private static let maximumDismissed = 256

  private func dismiss(_ peers: [PeerId], from document: DocumentId) {
    for peer in peers where dismissed[document]?.count ?? 0 < Self.maximumDismissed {
      dismissed[document, default: []].insert(peer)
    }
  }

  func store(_ document: DocumentId) async throws(StorageError) {
    try await storage.commit([change(of: document)])
  }

  /// What `store` writes.
  func change(of document: DocumentId) -> StorageChange {
    let key = ["grants", document.description]
    guard let peers = grants[document] else { return .remove(key) }
    let entries = peers.sorted { $0.key < $1.key }.map { peer, access in
      CBOR.Entry(.text(peer.description), .text(access.rawValue))
    }
    return .save(StoredItem(key: key, data: Data(CBOR.map(entries).encoded())))
  }

  // MARK: Guests of the same host

  private static let introductionsKey = "introduced"

  /// Replaces what the host of a document said earlier of its other guests, in memory; `storeIntroductions` makes it last.
  ///
  /// - Returns: the guests that have lost the host's introduction.
  func introduce(_ guests: [PeerId: Access], to document: DocumentId) -> Set<PeerId> {
    let before = Set((introductions[document] ?? [:]).keys)
    let now = guests.filter { dismissed[document]?.contains($0.key) != true }
    introductions[document] = now.isEmpty ? nil : now
    return before.subtracting(now.keys)
  }

  func storeIntroductions(to document: DocumentId) async throws(StorageError) {
    try await storage.commit([introductionsChange(of: document)])
  }

  /// What `storeIntroductions` writes.
  func introductionsChange(of document: DocumentId) -> StorageChange {
    let key = [Self.introductionsKey, document.description]
    let (guests, dismissed) = (introductions[document] ?? [:], dismissed[document] ?? [])
    let revised = revised[document] ?? []
    guard !guests.isEmpty || !dismissed.isEmpty || !revised.isEmpty else { return .remove(key) }
    let entries = guests.sorted { $0.key < $1.key }.map { peer, access in
      CBOR.Entry(.text(peer.description), .text(access.rawValue))
    }
    let record = CBOR.record([
      "guests": .map(entries), "dismissed": .array(dismissed.sorted().map { .text($0.description) }),
      "revised": .array(revised.sorted().map { .text($0.description) }),
    ])
    return .save(StoredItem(key: key, data: Data(record.encoded())))
  }
}
