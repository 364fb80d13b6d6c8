import Automerge
import Foundation

/// Compares all that is shared with each peer, to find documents that differ although neither side has them in memory.
/// Processes of one person share a store, so they have nothing to compare.
@AutomergeRepo
final class CatalogueExchange {
  /// The state of the comparison with a peer.
  private struct Comparison {
    /// The sums of what we share with the peer, without the changes that were not counted yet. Nil if they have to be
    /// counted from the beginning.
    var sums: CatalogueSums?
    /// The digest that the peer was last sent.
    var told: Data?
    /// The last pair of digests, ours and the peer's, that was compared.
    var examined: [Data] = []
  }

  private weak var repo: Repo?
  /// The stored heads of documents that are not in memory. Nil until there is a peer to compare with.
  private var storedHeads: [DocumentId: Set<ChangeHash>]?
  /// The hash of each document in a catalogue, valid while the document has these heads.
  private var hashes: [DocumentId: (heads: Set<ChangeHash>, hash: UInt64)] = [:]
  private var comparisons: [PeerId: Comparison] = [:]

  init(_ repo: Repo) { self.repo = repo }

  // MARK: Stored heads

  /// Reads the stored heads again, because other processes may have written some.
  private func readStoredHeads() async {
    guard let repo, let storage = repo.storage else { return storedHeads = [:] }
    do throws(StorageError) {
      let items = try await storage.loadRange(StoredHeads.prefix)
      var found: [DocumentId: Set<ChangeHash>] = [:]
      for item in items {
        guard let id = item.key.last.flatMap({ DocumentId($0) }),
          let heads = StoredHeads.decode(item.data, atMost: .max)
        else { continue }
        found[id] = heads
      }
      took(found)
    } catch {
      repo.logger.warning("the documents of the store cannot be compared with those of the peers: \(error)")
    }
  }

  private func took(_ found: [DocumentId: Set<ChangeHash>]) {
    let before = storedHeads ?? [:]
    storedHeads = found
    let ids = Set(before.keys).union(found.keys)
    count(ids.filter { before[$0] != found[$0] })
  }

  /// Stores a document's heads if the store does not have them yet.
  func remember(_ handle: DocHandle) {
    let heads = handle.currentHeads
    guard let repo, let storage = repo.storage, let known = storedHeads, known[handle.id] != heads else { return }
    storedHeads?[handle.id] = heads
    let item = StoredHeads.item(handle.id, heads)
    Task { [logger = repo.logger] in
      do throws(StorageError) {
        try await storage.commit([.save(item)])
      } catch {
        logger.debug("\(handle.id): its heads were not stored: \(error)")
      }
    }
  }

  /// Call when the document was dropped from memory; these heads are stored.
  func released(_ handle: DocHandle) {
    if storedHeads != nil { storedHeads?[handle.id] = handle.currentHeads }
  }

  /// Call when the document was deleted.
  func forget(_ document: DocumentId) {
    storedHeads?.removeValue(forKey: document)
    policyChanged()
    hashes.removeValue(forKey: document)
  }

  // MARK: Counting

  /// Call when other documents may be shared with the peers.
  func policyChanged() { for peer in comparisons.keys { comparisons[peer]?.sums = nil } }

  /// Counts what has changed since the last call.
  private func countChanges() {
    if let changed = repo?.upkeep.takeChanged(), !changed.isEmpty { count(changed) }
  }

  /// - Complexity: O(n · p) in these documents and the peers
  private func count(_ changed: some Sequence<DocumentId>) {
    guard let repo else { return }
    var peers: [PeerId] = []
    for (peer, comparison) in comparisons where comparison.sums != nil {
      // Without a list from the policy, what is counted depends on what is in memory and in the store.
      if repo.sharing.policy.documents(sharedWith: peer) == nil {
        comparisons[peer]?.sums = nil
      } else {
        peers.append(peer)
      }
    }
    for id in changed {
      let heads = heads(of: id)
      guard let old = hashes[id] else {
        // The document was in no catalogue yet.
        for peer in peers where repo.sharing.announces(id, to: peer) { comparisons[peer]?.sums = nil }
        continue
      }
      guard old.heads != heads else { continue }
      let new = hash(of: id, heads)
      for peer in peers where repo.sharing.announces(id, to: peer) {
        comparisons[peer]?.sums?.exchange(old.hash, for: new, of: id)
      }
    }
  }

  private func heads(of id: DocumentId) -> Set<ChangeHash> {
    repo?.entries[id]?.handle?.currentHeads ?? storedHeads?[id] ?? []
  }

  /// The sums of what we share with a peer.
  private func sums(for peer: PeerId) -> CatalogueSums {
    countChanges()
    if let known = comparisons[peer]?.sums { return known }
    let sums = catalogue(for: peer).sums
    comparisons[peer]?.sums = sums
    return sums
  }

  /// Traps unless the sums that were updated change by change are those of what is shared with each peer.
  func checkInvariants() {
    for peer in comparisons.keys {
      let sums = sums(for: peer)
      precondition(sums == catalogue(for: peer).sums, "the sums of \(peer) are not those of its catalogue")
    }
  }

  // MARK: Comparing

  /// Sends a new peer the digest of all that we share with it.
  func begin(with peer: PeerId) {
    comparisons[peer] = Comparison()
    // A server announces nothing to most of its peers: for them it need not read the store.
    guard sharesAnything(with: peer) else { return }
    Task {
      await self.readStoredHeads()
      self.sendDigest(to: peer)
    }
  }

  func end(with peer: PeerId) { comparisons[peer] = nil }

  /// Sends every peer its digest, unless it was the last one sent.
  func compareAll() {
    guard storedHeads != nil else {
      if let peer = comparisons.keys.sorted().first(where: sharesAnything) { begin(with: peer) }
      return
    }
    for peer in comparisons.keys.sorted() { sendDigest(to: peer) }
  }

  private func sharesAnything(with peer: PeerId) -> Bool { repo?.sharing.sharesAnything(with: peer) ?? false }

  private func sendDigest(to peer: PeerId) {
    guard let repo, repo.connections.isConnected(peer), let comparison = comparisons[peer] else { return }
    let sums = sums(for: peer)
    // If we share no document, we send nothing, and the peer needs no answer.
    guard sums.count > 0 else { return }
    let digest = sums.digest
    guard comparison.told != digest else { return }
    comparisons[peer]?.told = digest
    repo.connections.send(.catalogueDigest(digest), to: peer)
  }

  /// - Complexity: O(n) in the documents that are shared with the peer.
  private func catalogue(for peer: PeerId) -> Catalogue {
    var catalogue = Catalogue()
    guard let repo else { return catalogue }
    let all =
      repo.sharing.policy.documents(sharedWith: peer)
      ?? Array(Set(storedHeads.map { Array($0.keys) } ?? []).union(repo.entries.ids))
    for id in all where repo.sharing.announces(id, to: peer) {
      let heads = heads(of: id)
      catalogue.add(id, heads, hash: hash(of: id, heads))
    }
    return catalogue
  }

  private func hash(of id: DocumentId, _ heads: Set<ChangeHash>) -> UInt64 {
    if let known = hashes[id], known.heads == heads { return known.hash }
    let hash = Catalogue.hash(id, heads)
    hashes[id] = (heads, hash)
    return hash
  }

  // MARK: Receiving

  func received(digest: Data, from peer: PeerId) {
    guard storedHeads != nil, comparisons[peer] != nil else { return }
    let ours = sums(for: peer)
    guard ours.count > 0 else { return }
    let ourDigest = ours.digest
    guard digest != ourDigest, comparisons[peer]?.examined != [ourDigest, digest] else { return }
    comparisons[peer]?.examined = [ourDigest, digest]
    repo?.connections.send(.catalogueBuckets(ours.buckets), to: peer)
  }

  func received(buckets: Data, from peer: PeerId) {
    guard storedHeads != nil, comparisons[peer] != nil else { return }
    countChanges()
    let ours = catalogue(for: peer)
    repo?.connections.sendHeads(of: ours.documents(differingFrom: buckets).map { ($0, ours.heads[$0] ?? []) }, to: peer)
  }

  /// Compares a peer's heads with ours. A document in memory is synced anyway; any other is loaded if its heads differ.
  func received(_ documents: [(document: DocumentId, heads: Set<ChangeHash>)], from peer: PeerId) {
    guard let repo else { return }
    var toLoad: [DocumentId] = []
    for (id, heads) in documents where repo.sharing.access(id, for: peer) > .none {
      if let handle = repo.entries[id]?.handle {
        handle.receive(.told(heads: heads, by: peer))
      } else if storedHeads?[id] != heads {
        toLoad.append(id)
      }
    }
    guard !toLoad.isEmpty else { return }
    Task {
      for id in toLoad where repo.entries[id] == nil && repo.connections.isConnected(peer) { _ = await repo.search(id) }
    }
  }
}
