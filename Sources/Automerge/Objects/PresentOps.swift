/// The visible operations of a slot, ascending by their ids.
///
/// Of many, those that are no longer visible stay in the list until they are half of it, so that removing one does not move the
/// others.
struct PresentOps {
  private var listed: SortedOps<OpId>
  private var gone: Set<OpId> = []

  private static let fewCount = 32

  init(_ ids: [OpId] = []) { listed = SortedOps(ids) }

  var isEmpty: Bool { listed.isEmpty }
  var count: Int { listed.count - gone.count }
  /// The last one is never gone.
  var last: OpId? { listed.last }
  var ids: [OpId] { gone.isEmpty ? listed.elements : listed.filter { !gone.contains($0) } }

  mutating func insert(_ id: OpId, _ actors: ActorTable) {
    listed.insert(id, actors)
  }

  mutating func remove(_ id: OpId, _ actors: ActorTable) {
    guard listed[id, actors] != nil else { return }
    let count = listed.count
    if count <= Self.fewCount, gone.isEmpty {
      listed.removeOfFew(id, actors)
    } else {
      gone.insert(id)
      if 2 * gone.count > count { (listed, gone) = (SortedOps(ids), []) }
    }
    while let last = listed.last, gone.remove(last) != nil { listed.removeLast() }
  }
}
