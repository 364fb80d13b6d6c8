import Automerge

/// Which changes of a document are vouched for at one moment, by a signature or by a linked author.
public struct ChangeVouching: Sendable {
  /// How many changes of each actor are signed.
  private let signed: [ActorId: Int]
  /// How many changes of each linked author's actors we had when the author connected. The author has brought or
  /// confirmed every later one.
  private let linked: [ActorId: Int]

  init(signed: [ActorId: Int], linked: [ActorId: Int]) { (self.signed, self.linked) = (signed, linked) }

  /// Whether a signature or the linked author shows that the actor made these of its changes. They are numbered from 1.
  public func covers(_ actor: ActorId, _ numbers: ClosedRange<Int>) -> Bool {
    let signed = signed[actor] ?? 0
    if numbers.upperBound <= signed { return true }
    guard let before = linked[actor] else { return false }
    return before < numbers.lowerBound || before <= signed
  }

  /// The same for one change of the document; false if the document does not have it.
  public func covers(_ change: ChangeHash, of document: Document) -> Bool {
    document.authorship(of: change).map { covers($0.actor, $0.number...$0.number) } ?? false
  }
}

/// The actors that a linked author vouches for, and from which change on.
struct LinkedAuthors {
  private(set) var counts: [ActorId: Int] = [:]

  /// - Parameters:
  ///   - actors: the actors that a linked author vouches for now
  ///   - count: how many changes of an actor the document has
  mutating func update(_ actors: Set<ActorId>, count: (ActorId) -> Int) {
    counts = Dictionary(uniqueKeysWithValues: actors.map { ($0, counts[$0] ?? count($0)) })
  }
}
