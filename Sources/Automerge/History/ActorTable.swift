/// The actors of one document, in the order in which they first appeared. An `OpId` holds an index into this table.
final class ActorTable {
  private(set) var actors: [ActorId] = []
  /// Numbers in the byte order of the actors, with gaps for actors to come.
  private(set) var ranks: [UInt32] = []
  /// Actor indices in byte order.
  private(set) var sorted: [UInt32] = []
  private var indices: [ActorId: UInt32] = [:]

  init() {}

  init(copying other: ActorTable) {
    (actors, ranks, sorted, indices) = (other.actors, other.ranks, other.sorted, other.indices)
  }

  var count: Int { actors.count }

  subscript(index: UInt32) -> ActorId { actors[Int(index)] }

  func find(_ actor: ActorId) -> UInt32? { indices[actor] }

  /// The actor's index; adds a new actor.
  /// - Complexity: O(n) in the actors if it is new, though nearly always this moves only as many four-byte numbers
  func index(of actor: ActorId) -> UInt32 {
    if let known = indices[actor] { return known }
    let index = UInt32(actors.count)
    var low = 0, high = sorted.count
    while low < high {
      let middle = (low + high) / 2
      if actors[Int(sorted[middle])] < actor { low = middle + 1 } else { high = middle }
    }
    // Taken out while they change: see decision 25.
    var (takenActors, takenRanks): ([ActorId], [UInt32]) = ([], [])
    swap(&takenActors, &actors)
    takenActors.append(actor)
    swap(&takenActors, &actors)
    indices[actor] = index
    sorted.insert(index, at: low)
    let rank = rank(at: low)
    swap(&takenRanks, &ranks)
    takenRanks.append(rank ?? 0)
    swap(&takenRanks, &ranks)
    if rank == nil { spreadRanks() }
    return index
  }

  private static let rankStep: UInt32 = 1 << 16

  /// A number for the actor at `place` in byte order, between those of its neighbours; nil if there is none left.
  private func rank(at place: Int) -> UInt32? {
    let before = place > 0 ? ranks[Int(sorted[place - 1])] : nil
    let behind = place + 1 < sorted.count ? ranks[Int(sorted[place + 1])] : nil
    switch (before, behind) {
    case (nil, nil): return .max / 2
    case (let before?, nil): return before < .max - Self.rankStep ? before + Self.rankStep : nil
    case (nil, let behind?): return behind > Self.rankStep ? behind - Self.rankStep : nil
    case (let before?, let behind?): return behind - before > 1 ? before + (behind - before) / 2 : nil
    }
  }

  /// Numbers all actors again, around the middle.
  /// - Complexity: O(n) in the actors
  private func spreadRanks() {
    let count = UInt32(sorted.count), step = max(1, min(Self.rankStep, UInt32.max / (count + 1)))
    let start = UInt32.max / 2 - count / 2 * step
    var taken: [UInt32] = []
    swap(&taken, &ranks)
    for (place, actor) in sorted.enumerated() { taken[Int(actor)] = start + UInt32(place) * step }
    swap(&taken, &ranks)
  }

  /// The order of operations: by counter, then by the actor's bytes.
  @inline(__always)
  func precedes(_ left: OpId, _ right: OpId) -> Bool {
    if left.counter != right.counter { return left.counter < right.counter }
    return left.actor != right.actor && ranks[Int(left.actor)] < ranks[Int(right.actor)]
  }
}

extension OpId {
  /// The id `distance` operations later by the same actor. The caller knows that it exists.
  @inline(__always)
  func advanced(by distance: Int) -> OpId { OpId(counter: UInt32(Int(counter) + distance), actor: actor) }
}
