import Automerge
import Foundation

/// Messages of our own that the repo answers itself. Source: PeerProtocol.md, "Messages".
enum OwnMessage: String {
  /// `{digest}`, or `{buckets}` in answer to a digest that is not ours.
  case catalogue
  /// `{documents: [{id, heads}]}`.
  case heads
  /// `{documentId, peers, idle}`.
  case reach
  /// `{documentId, actors, asks}`.
  case author
  /// `{documentId, changes}`, and `known` in answer.
  case vouch
  /// `{documentId, digest}`, or `{documentId, signatures}`.
  case signed
}

/// The state of the comparison with a peer.
struct Comparison {
  /// The digest that the peer was last told.
  var told: Data?
  /// The last pair of digests, ours and the peer's, that was compared.
  var examined: [Data] = []
}

extension Repo {
  /// Source: PeerProtocol.md, "Closed documents".
  static let mostDocumentsInHeads = 1000

  // MARK: Comparing

  /// Tells a new peer the digest of all that we share, so that documents which neither has in memory are compared as well.
  func beginComparing(with peer: PeerId) {
    comparisons[peer] = Comparison()
    Task {
      await self.readStoredHeads()
      self.sendDigest(to: peer)
    }
  }

  /// Tells every peer the digest, unless it was the last one told.
  func compareCatalogues() {
    guard storedHeads != nil else { return }
    for peer in comparisons.keys.sorted() { sendDigest(to: peer) }
  }

  /// Reads the stored heads, for other processes may have written since the last time.
  private func readStoredHeads() async {
    guard let storage else { return storedHeads = [:] }
    do throws(StorageError) {
      let items = try await storage.loadRange(StoredHeads.prefix)
      var found: [DocumentId: Set<ChangeHash>] = [:]
      for item in items {
        guard let id = item.key.last.flatMap({ DocumentId($0) }), let heads = StoredHeads.decode(item.data) else {
          continue
        }
        found[id] = heads
      }
      storedHeads = found
    } catch {
      logger.warning("what the store has cannot be compared with what peers have: \(error)")
    }
  }

  /// Stores a document's heads where the store does not have them yet.
  func rememberHeads(of handle: DocHandle) {
    let heads = handle.currentHeads
    guard let storage, let known = storedHeads, known[handle.id] != heads else { return }
    storedHeads?[handle.id] = heads
    let item = StoredHeads.item(handle.id, heads)
    Task {
      do throws(StorageError) {
        try await storage.commit([.save(item)])
      } catch {
        self.logger.debug("\(handle.id): its heads were not stored: \(error)")
      }
    }
  }

  /// - Complexity: O(n) in the documents that are shared with the peer.
  func catalogue(for peer: PeerId) -> Catalogue {
    var catalogue = Catalogue()
    let all =
      policy.documents(sharedWith: peer) ?? Array(Set(storedHeads.map { Array($0.keys) } ?? []).union(slots.keys))
    for id in all where announces(id, to: peer) {
      let heads = slots[id]?.handle?.currentHeads ?? storedHeads?[id] ?? []
      catalogue.add(id, heads, hash: catalogueHash(id, heads))
    }
    return catalogue
  }

  private func catalogueHash(_ id: DocumentId, _ heads: Set<ChangeHash>) -> UInt64 {
    if let known = catalogueHashes[id], known.heads == heads { return known.hash }
    let hash = Catalogue.hash(id, heads)
    catalogueHashes[id] = (heads, hash)
    return hash
  }

  private func sendDigest(to peer: PeerId) {
    guard connections[peer] != nil, let comparison = comparisons[peer] else { return }
    let catalogue = catalogue(for: peer)
    // With no document to share we say nothing, and the peer needs no answer.
    guard !catalogue.heads.isEmpty else { return }
    let digest = catalogue.digest
    guard comparison.told != digest else { return }
    comparisons[peer]?.told = digest
    send(type: OwnMessage.catalogue.rawValue, fields: ["digest": .bytes(digest)], to: peer)
  }

  func sendHeads(of documents: [(DocumentId, Set<ChangeHash>)], to peer: PeerId) {
    for start in stride(from: 0, to: documents.count, by: Repo.mostDocumentsInHeads) {
      let part = documents[start..<min(documents.count, start + Repo.mostDocumentsInHeads)]
      let list = part.map { id, heads in
        CBOR.record(["id": .bytes(Data(id.bytes)), "heads": .bytes(StoredHeads.encode(heads))])
      }
      send(type: OwnMessage.heads.rawValue, fields: ["documents": .array(list)], to: peer)
    }
  }

  func send(_ report: Relays.Report, on document: DocumentId, to peer: PeerId) {
    func list(_ peers: Set<PeerId>) -> CBOR { .array(peers.sorted().map { .text($0.description) }) }
    send(
      type: OwnMessage.reach.rawValue,
      fields: [
        "documentId": .text(document.description), "peers": list(report.peers), "idle": list(report.idle),
      ], to: peer)
  }

  // MARK: Receiving

  func receive(_ kind: OwnMessage, _ fields: [String: CBOR], from peer: PeerId) {
    // Processes of one person share a store: there is nothing to compare.
    switch kind {
    case .catalogue: receiveCatalogue(fields, from: peer)
    case .heads: receiveHeads(fields, from: peer)
    case .reach: receiveReach(fields, from: peer)
    case .author: receiveAuthors(fields, from: peer)
    case .vouch: receiveVouch(fields, from: peer)
    case .signed: receiveSigned(fields, from: peer)
    }
  }

  private func receiveCatalogue(_ fields: [String: CBOR], from peer: PeerId) {
    guard storedHeads != nil, comparisons[peer] != nil else { return }
    if let digest = fields["digest"]?.bytes {
      let ours = catalogue(for: peer)
      guard !ours.heads.isEmpty, digest != ours.digest, comparisons[peer]?.examined != [ours.digest, digest] else {
        return
      }
      comparisons[peer]?.examined = [ours.digest, digest]
      send(type: OwnMessage.catalogue.rawValue, fields: ["buckets": .bytes(ours.buckets)], to: peer)
    } else if let buckets = fields["buckets"]?.bytes, buckets.count == Catalogue.bucketByteCount {
      let ours = catalogue(for: peer)
      sendHeads(of: ours.documents(differingFrom: buckets).map { ($0, ours.heads[$0] ?? []) }, to: peer)
    }
  }

  /// A document in memory is kept equal by its own sync; another one is loaded if the peer's heads differ.
  private func receiveHeads(_ fields: [String: CBOR], from peer: PeerId) {
    var toLoad: [DocumentId] = []
    for entry in fields["documents"]?.array?.prefix(Repo.mostDocumentsInHeads) ?? [] {
      guard let id = entry["id"]?.bytes.flatMap({ DocumentId(bytes: Array($0)) }),
        let heads = entry["heads"]?.bytes.flatMap(StoredHeads.decode), access(id, for: peer) > .none
      else { continue }
      if let handle = slots[id]?.handle {
        handle.receive(.told(heads: heads, by: peer))
      } else if storedHeads?[id] != heads {
        toLoad.append(id)
      }
    }
    guard !toLoad.isEmpty else { return }
    Task {
      for id in toLoad where self.slots[id] == nil && self.connections[peer] != nil { _ = await self.find(id) }
    }
  }

  private func receiveReach(_ fields: [String: CBOR], from peer: PeerId) {
    guard let id = fields["documentId"]?.text.flatMap({ DocumentId($0) }), access(id, for: peer) > .none,
      let handle = slots[id]?.handle
    else { return }
    func list(_ value: CBOR?) -> Set<PeerId> {
      let names = (value?.array ?? []).prefix(Relays.mostPeers).compactMap(\.text)
      return Set(names.filter { $0.utf8.count <= EphemeralGate.maximumIdBytes }.map { PeerId($0) })
    }
    handle.heard(Relays.Report(peers: list(fields["peers"]), idle: list(fields["idle"])), from: peer)
  }
}
