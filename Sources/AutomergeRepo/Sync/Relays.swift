import Cryptography
import Foundation

/// Decides which links of one document carry its changes when there are so many peers that not all links need to.
///
/// Every peer on a document tells the others whose changes it accepts there, and on which of these links it sends
/// nothing. All peers have a rank on the document, a hash of both ids, which is the same on every machine. A link may
/// become idle when `relayCount` peers that outrank both its ends accept changes from both and send theirs to both.
/// What one end knows then reaches the other over links whose higher ends rank higher still: the highest peers carry
/// everything.
struct Relays {
  /// With up to this many peers on a document, including this one, every link carries everything.
  /// Source: PeerProtocol.md, "Many peers".
  static let meshLimit = 8
  static let relayCount = 3
  /// Larger than the number of links that a service has.
  static let maximumPeers = 128

  /// What a peer has said about its links on the document.
  struct Report: Equatable {
    var peers: Set<PeerId> = []
    /// The linked peers to which it sends nothing unless they ask.
    var idle: Set<PeerId> = []
  }

  private let document: DocumentId
  private let local: PeerId
  private var reports: [PeerId: Report] = [:]
  private var ranks: [PeerId: UInt64] = [:]

  init(document: DocumentId, local: PeerId) { (self.document, self.local) = (document, local) }

  mutating func heard(_ report: Report, from peer: PeerId) { reports[peer] = report }

  /// Drops the reports of peers that are no longer linked.
  mutating func keep(_ linked: Set<PeerId>) {
    guard reports.contains(where: { !linked.contains($0.key) }) else { return }
    reports = reports.filter { linked.contains($0.key) }
    ranks = ranks.filter { linked.contains($0.key) || $0.key == local }
  }

  /// The links on which we need not send anything.
  ///
  /// - Parameters:
  ///   - linked: all linked peers on the document.
  ///   - writers: those of them whose changes we accept.
  /// - Complexity: O(n²) in the peers.
  mutating func idlePeers(linked: Set<PeerId>, writers: Set<PeerId>) -> Set<PeerId> {
    guard linked.count + 1 > Self.meshLimit else { return [] }
    for peer in linked where ranks[peer] == nil { ranks[peer] = rank(of: peer) }
    let own = ranks[local] ?? rank(of: local)
    ranks[local] = own
    let candidates = writers.filter { outranks($0, local) && reports[$0]?.peers.contains(local) == true }
    guard candidates.count >= Self.relayCount else { return [] }
    return linked.filter { peer in
      guard let taken = reports[peer]?.peers else { return false }
      let relays = candidates.count { relay in
        relay != peer && outranks(relay, peer) && taken.contains(relay) && reports[relay]?.peers.contains(peer) == true
      }
      return relays >= Self.relayCount
    }
  }

  /// Whether a peer sends its messages directly to another one.
  func reaches(_ peer: PeerId, _ other: PeerId) -> Bool {
    guard let report = reports[peer] else { return false }
    return report.peers.contains(other) && !report.idle.contains(other)
  }

  /// Whether an author sends us nothing, but its messages reach a peer over links that are not idle.
  func carries(_ peer: PeerId, _ author: PeerId) -> Bool {
    guard reports[author]?.idle.contains(local) == true else { return false }
    var (seen, open): (Set<PeerId>, [PeerId]) = ([author], [author])
    while let next = open.popLast() {
      if reaches(next, peer) { return true }
      guard let report = reports[next] else { continue }
      for other in report.peers.subtracting(report.idle) where seen.insert(other).inserted { open.append(other) }
    }
    return false
  }

  private func outranks(_ one: PeerId, _ other: PeerId) -> Bool {
    let (first, second) = (ranks[one] ?? 0, ranks[other] ?? 0)
    return first == second ? one < other : first > second
  }

  private func rank(of peer: PeerId) -> UInt64 { Rendezvous.rank(of: peer, on: document) }
}

/// Which peers of a document to call, so that every peer is reached and none needs a hundred links.
public enum Rendezvous {
  /// All peers, in small documents; in larger ones the relays, which are the same for every peer.
  ///
  /// - Complexity: O(n log n) in the peers.
  public static func peersToCall(
    by local: PeerId, among others: Set<PeerId>, on document: DocumentId
  ) -> Set<PeerId> {
    guard others.count + 1 > Relays.meshLimit else { return others }
    let ranked = others.union([local]).map { (rank: rank(of: $0, on: document), peer: $0) }
      .sorted { ($0.rank, $1.peer) > ($1.rank, $0.peer) }
    return Set(ranked.prefix(Relays.relayCount).map(\.peer)).subtracting([local])
  }

  static func rank(of peer: PeerId, on document: DocumentId) -> UInt64 {
    var hash = SHA256()
    hash.update(data: document.bytes)
    hash.update(data: Array(peer.description.utf8))
    return hash.finalize().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
