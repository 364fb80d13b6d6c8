/// Finds items by their hashes: an open-addressing table of indices into the owner's list of hashes.
///
/// Hashes are SHA-256 sums, so their own bits place them; nothing is hashed again, and an entry takes four bytes.
struct HashIndex {
  /// An index plus one; zero is free. The size is a power of two, and at most half of the places are taken.
  private var table: [UInt32] = []
  private var count = 0

  init() {}

  /// The index of `hash` in `hashes`, all of which were added with `insert`.
  @inline(__always)
  func place(of hash: ChangeHash, in hashes: [ChangeHash]) -> Int? {
    guard !table.isEmpty else { return nil }
    let mask = table.count - 1
    var at = Int(truncatingIfNeeded: hash.word) & mask
    while table[at] != 0 {
      let place = Int(table[at]) - 1
      if hashes[place] == hash { return place }
      at = (at + 1) & mask
    }
    return nil
  }

  /// Adds the hash at `place` of `hashes`; places must be added in order.
  mutating func insert(place: Int, in hashes: [ChangeHash]) {
    if 2 * (count + 1) > table.count { grow(to: max(16, 2 * table.count), hashes) }
    put(place, hashes[place])
    count += 1
  }

  /// Reserves room for this many more, so that the table need not grow step by step.
  mutating func reserve(_ more: Int, _ hashes: [ChangeHash]) {
    var size = max(16, table.count)
    while 2 * (count + more) > size { size *= 2 }
    if size > table.count { grow(to: size, hashes) }
  }

  private mutating func put(_ place: Int, _ hash: ChangeHash) {
    let mask = table.count - 1
    var at = Int(truncatingIfNeeded: hash.word) & mask
    while table[at] != 0 { at = (at + 1) & mask }
    table[at] = UInt32(place + 1)
  }

  private mutating func grow(to size: Int, _ hashes: [ChangeHash]) {
    table = Array(repeating: 0, count: size)
    for place in 0..<count { put(place, hashes[place]) }
  }
}
