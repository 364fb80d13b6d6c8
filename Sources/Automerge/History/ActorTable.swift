/// The actors of one document, in the order in which they were met. An `OpId` holds an index into it.
final class ActorTable {
  private(set) var actors: [ActorId] = []
  /// The place of each actor in byte order.
  private(set) var ranks: [UInt32] {
    @inline(__always) unsafeAddress { UnsafePointer(ranksCell.address) }
    @inline(__always) unsafeMutableAddress { ranksCell.address }
  }

  private let ranksCell = Cell<[UInt32]>([])
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

  /// The actor's index; a new actor is added. - Complexity: O(n) in the actors if it is new.
  func index(of actor: ActorId) -> UInt32 {
    if let known = indices[actor] { return known }
    let index = UInt32(actors.count)
    var low = 0, high = sorted.count
    while low < high {
      let middle = (low + high) / 2
      if actors[Int(sorted[middle])] < actor { low = middle + 1 } else { high = middle }
    }
    actors.append(actor)
    indices[actor] = index
    sorted.insert(index, at: low)
    ranks.append(0)
    for rank in low..<sorted.count { ranks[Int(sorted[rank])] = UInt32(rank) }
    return index
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
