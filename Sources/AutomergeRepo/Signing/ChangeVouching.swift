import Automerge

/// Whose word there is for the changes of a document, as of one moment.
public struct ChangeVouching: Sendable {
  /// How many changes of each actor are signed.
  private let signed: [ActorId: Int]
  /// Authors who are linked to us, with how many changes of theirs were here when they came: what was taken since then they have
  /// brought or confirmed themselves.
  private let linked: [ActorId: Int]

  init(signed: [ActorId: Int], linked: [ActorId: Int]) { (self.signed, self.linked) = (signed, linked) }

  /// Whether there is anybody's word that the actor itself made these of its changes, which are numbered from 1.
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

/// Which actors count by the word of a link, and since when.
struct LinkedAuthors {
  private(set) var counts: [ActorId: Int] = [:]

  /// - Parameters:
  ///   - actors: those whose word counts now
  ///   - count: how many changes of an actor are here
  mutating func update(_ actors: Set<ActorId>, count: (ActorId) -> Int) {
    counts = Dictionary(uniqueKeysWithValues: actors.map { ($0, counts[$0] ?? count($0)) })
  }
}
