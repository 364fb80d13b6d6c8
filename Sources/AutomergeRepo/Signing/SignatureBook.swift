import Automerge
import Crypto
import Foundation

/// The signatures of one document: of each actor the last one.
///
///     offered ──is newer, of an actor in the document──► to be checked ──holds──► proven, if the document has the change
///                                                              └──holds──► awaited, until the document has it
///
/// Only what is proven is stored and passed on.
struct SignatureBook {
  /// More are not checked for one peer within a minute. Source: PeerProtocol.md, "Signatures".
  static let mostOffersPerMinute = 2048
  static let emptyDigest = Data(SHA256.hash(data: Data()))
  private static let minute: Duration = .seconds(60)

  private(set) var proven: [ActorId: ChangeSignature] = [:]
  /// They hold, and speak of a change that is not here yet.
  private(set) var awaited: [ActorId: ChangeSignature] = [:]
  private var offers: [PeerId: (start: Duration, count: Int)] = [:]
  private var knownDigest: Data?

  init(stored: [ChangeSignature] = []) {
    for signature in stored where signature.number > proven[signature.actor]?.number ?? 0 {
      proven[signature.actor] = signature
    }
  }

  /// Equal books have equal digests.
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

  /// Whether the signature says more than what is here.
  func isNews(_ signature: ChangeSignature) -> Bool {
    signature.number > proven[signature.actor]?.number ?? 0 && awaited[signature.actor] != signature
  }

  /// How many of some signatures may be checked for a peer now.
  mutating func admit(_ count: Int, from peer: PeerId, now: Duration) -> Int {
    var offer = offers[peer] ?? (now, 0)
    if now - offer.start >= Self.minute { offer = (now, 0) }
    let admitted = min(count, Self.mostOffersPerMinute - offer.count)
    offer.count += admitted
    offers[peer] = offer
    return admitted
  }

  /// Forgets what peers have offered that are gone for more than a minute.
  mutating func tidy(now: Duration) { offers = offers.filter { now - $0.value.start < Self.minute } }

  /// Takes signatures that hold.
  ///
  /// - Parameter authorship: who made a change of the document; nil of one that is not here
  /// - Returns: what is proven now and was not
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

  /// Changes have come: some may be those that were awaited.
  mutating func settle(_ authorship: (ChangeHash) -> (actor: ActorId, number: Int)?) -> [ChangeSignature] {
    guard !awaited.isEmpty else { return [] }
    let waiting = Array(awaited.values)
    awaited = [:]
    return take(waiting, authorship)
  }

  /// Notes what this process has signed itself; an earlier one of the actor goes, even if it speaks for more.
  mutating func prove(_ signature: ChangeSignature) {
    if let waiting = awaited[signature.actor], waiting.number <= signature.number { awaited[signature.actor] = nil }
    proven[signature.actor] = signature
    knownDigest = nil
  }

  /// The document does not have some changes any more.
  mutating func remove(where isGone: (ChangeSignature) -> Bool) {
    proven = proven.filter { !isGone($0.value) }
    knownDigest = nil
  }
}
