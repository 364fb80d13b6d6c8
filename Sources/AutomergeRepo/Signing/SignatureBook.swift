import Automerge
import Cryptography
import Foundation

/// The signatures of one document: the last one of each actor.
///
///     offered ──is newer, of an actor in the document──► to be checked ──holds──► proven, if the document has the change
///                                                              └──holds──► awaited, until the document has it
///
/// Only proven signatures are stored and passed on.
struct SignatureBook {
  /// The most signatures that are verified per peer and minute. Source: PeerProtocol.md, "Signatures".
  static let maximumOffersPerMinute = 2048
  static let emptyDigest = Data(SHA256.hash(data: Data()))
  private static let minute: Duration = .seconds(60)

  private(set) var proven: [ActorId: ChangeSignature] = [:]
  /// Valid signatures of changes that the document does not have yet.
  private(set) var awaited: [ActorId: ChangeSignature] = [:]
  private var offers: [PeerId: (start: Duration, count: Int)] = [:]
  private var knownDigest: Data?

  init(stored: [ChangeSignature] = []) {
    for signature in stored where signature.number > proven[signature.actor]?.number ?? 0 {
      proven[signature.actor] = signature
    }
  }

  /// SHA-256 of the proven signatures, sorted by actor: equal books have equal digests.
  var digest: Data {
    mutating get {
      if let knownDigest { return knownDigest }
      var hash = SHA256()
      for signature in proven.values.sorted(by: { $0.actor < $1.actor }) { hash.update(data: signature.encoded) }
      let digest = Data(hash.finalize())
      knownDigest = digest
      return digest
    }
  }

  /// Whether the signature vouches for more changes than the one we have.
  func isNews(_ signature: ChangeSignature) -> Bool {
    signature.number > proven[signature.actor]?.number ?? 0 && awaited[signature.actor] != signature
  }

  /// How many of `count` signatures from a peer may be verified now.
  mutating func admit(_ count: Int, from peer: PeerId, now: Duration) -> Int {
    var offer = offers[peer] ?? (now, 0)
    if now - offer.start >= Self.minute { offer = (now, 0) }
    let admitted = min(count, Self.maximumOffersPerMinute - offer.count)
    offer.count += admitted
    offers[peer] = offer
    return admitted
  }

  /// Whether there is nothing to drop, now or later.
  var isTidy: Bool { offers.isEmpty }

  /// Drops the counts that began over a minute ago.
  mutating func tidy(now: Duration) { offers = offers.filter { now - $0.value.start < Self.minute } }

  /// Records signatures that were verified.
  ///
  /// - Parameter authorship: the actor and number of a change; nil if the document does not have it
  /// - Returns: the signatures that this has proven
  mutating func take(
    _ signatures: [ChangeSignature], _ authorship: (ChangeHash) -> (actor: ActorId, number: Int)?
  ) -> [ChangeSignature] {
    var news: [ChangeSignature] = []
    for signature in signatures where isNews(signature) {
      guard let found = authorship(signature.change) else {
        if signature.number > awaited[signature.actor]?.number ?? 0 { awaited[signature.actor] = signature }
        continue
      }
      guard found == (signature.actor, signature.number) else { continue }
      prove(signature)
      news.append(signature)
    }
    return news
  }

  /// Call after changes were applied. Some may be those that signatures wait for.
  mutating func settle(_ authorship: (ChangeHash) -> (actor: ActorId, number: Int)?) -> [ChangeSignature] {
    guard !awaited.isEmpty else { return [] }
    let waiting = Array(awaited.values)
    awaited = [:]
    return take(waiting, authorship)
  }

  /// Records a signature that is proven, or that this process made. Replaces the actor's earlier one, even one that
  /// vouches for more changes.
  mutating func prove(_ signature: ChangeSignature) {
    if let waiting = awaited[signature.actor], waiting.number <= signature.number { awaited[signature.actor] = nil }
    proven[signature.actor] = signature
    knownDigest = nil
  }

  /// Call after changes were removed from the document. Drops their signatures.
  mutating func remove(where isGone: (ChangeSignature) -> Bool) {
    proven = proven.filter { !isGone($0.value) }
    knownDigest = nil
  }
}
