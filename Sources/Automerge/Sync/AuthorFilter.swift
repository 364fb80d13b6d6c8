/// The actors whose new changes are left out of a message, and the changes that were left out.
public struct AuthorFilter: Sendable {
  /// The actors whose new changes are left out, each with changes that are known to be its own: these are accepted, and
  /// so are those of the actor that they depend on, if they are in the same message.
  public let attested: [ActorId: Set<ChangeHash>]
  /// The last change of each actor that was left out.
  public private(set) var leftOut: [ActorId: ChangeHash] = [:]
  /// The first reason why one of the other changes was not applied.
  public internal(set) var fault: LoadError?

  public init(attested: [ActorId: Set<ChangeHash>]) { self.attested = attested }

  public init(refusing actor: ActorId) { self.init(attested: [actor: []]) }

  func refuses(_ actor: ActorId) -> Bool { attested[actor] != nil }

  /// Removes the changes of a message that the filter does not let through.
  /// - Complexity: O(n) in the changes, times the actors with an attested change among them.
  mutating func sift(_ changes: inout [DecodedChange], isKnown: (ChangeHash) -> Bool) {
    guard changes.contains(where: { refuses($0.header.actor) }) else { return }
    var admitted: Set<Int> = []
    var places: [ChangeHash: Int]?
    for (actor, hashes) in attested where !hashes.isEmpty {
      var open = changes.indices.filter { hashes.contains(changes[$0].hash) }
      guard !open.isEmpty else { continue }
      let placeOf = places ?? Dictionary(changes.indices.map { (changes[$0].hash, $0) }) { first, _ in first }
      places = placeOf
      var seen = Set(open)
      while let place = open.popLast() {
        if changes[place].header.actor == actor { admitted.insert(place) }
        for dep in changes[place].header.deps {
          if let next = placeOf[dep], seen.insert(next).inserted { open.append(next) }
        }
      }
    }
    var lastSeq: [ActorId: UInt64] = [:]
    var place = -1
    changes.removeAll { change in
      place += 1
      let header = change.header
      guard refuses(header.actor), !admitted.contains(place), !isKnown(change.hash) else { return false }
      if header.seq >= lastSeq[header.actor, default: 0] {
        lastSeq[header.actor] = header.seq
        leftOut[header.actor] = change.hash
      }
      return true
    }
  }
}
