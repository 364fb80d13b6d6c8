/// A set of hashes that most often is empty or has one member, and then takes no memory of its own.
///
/// Several members are in a `Set`, whose random seed keeps a peer from choosing hashes that collide.
struct ChangeHashSet: Equatable, Sequence {
  /// The member, if there is exactly one.
  private var only: ChangeHash?
  /// All members, if there are several; otherwise empty.
  private var several: Set<ChangeHash> = []

  init() {}

  var count: Int { only == nil ? several.count : 1 }
  var isEmpty: Bool { only == nil && several.isEmpty }

  @inline(__always)
  func contains(_ hash: ChangeHash) -> Bool {
    if let only { return only == hash }
    return !several.isEmpty && several.contains(hash)
  }

  mutating func insert(_ hash: ChangeHash) {
    guard let only else {
      if several.isEmpty { self.only = hash } else { several.insert(hash) }
      return
    }
    guard only != hash else { return }
    self.only = nil
    several.insert(only)
    several.insert(hash)
  }

  mutating func formUnion(_ hashes: [ChangeHash]) {
    if hashes.count > 1 { several.reserveCapacity(count + hashes.count) }
    for hash in hashes { insert(hash) }
  }

  /// Keeps the members that are among `hashes`.
  mutating func formIntersection(_ hashes: [ChangeHash]) {
    if let only {
      if !hashes.contains(only) { self.only = nil }
    } else if hashes.isEmpty {
      several = []
    } else {
      several.formIntersection(hashes)
      if several.count == 1 { (only, several) = (several.first, []) }
    }
  }

  func makeIterator() -> Set<ChangeHash>.Iterator { (only.map { [$0] } ?? several).makeIterator() }
}
