/// Finds items by their hashes: an open-addressing table of indices into the owner's list of hashes.
///
/// Hashes are SHA-256 sums, so their own bits place them; nothing is hashed again, and an entry takes four bytes.
///
/// The newest hashes are compared one by one: they are the ones that are looked for while people write together, and they
/// are at hand, which a place anywhere in a large table is not. They are put into the table several at once.
struct HashIndex {
  /// An index plus one; zero is free. The size is a power of two, and at most half of the places are taken.
  private var table: [UInt32] = []
  /// How many are in the table: the first ones.
  private var count = 0

  /// How many are put into the table at once, and how many of the newest are never in it.
  private static let batch = 16, newest = 8

  init() {}

  /// The index of `hash` in `hashes`, all of which were added with `insert`.
  @inline(__always)
  func place(of hash: ChangeHash, in hashes: [ChangeHash]) -> Int? {
    var newest = hashes.count
    while newest > count {
      newest -= 1
      if hashes[newest] == hash { return newest }
    }
    guard !table.isEmpty else { return nil }
    let mask = table.count - 1
    var at = start(of: hash)
    while table[at] != 0 {
      let place = Int(table[at]) - 1
      if hashes[place] == hash { return place }
      at = (at + 1) & mask
    }
    return nil
  }

  /// Adds the hash at `place` of `hashes`; places must be added in order.
  mutating func insert(place: Int, in hashes: [ChangeHash]) {
    guard place - count >= Self.batch + Self.newest else { return }
    let more = count..<count + Self.batch
    if 2 * more.upperBound > table.count { grow(to: max(64, 2 * table.count), hashes) }
    // All places are read before one is used, because the processor fetches them together then.
    var greatest: UInt32 = 0
    for place in more { greatest = max(greatest, table[start(of: hashes[place])]) }
    precondition(greatest <= count, "only these are in the table")
    for place in more { put(place, hashes[place]) }
    count = more.upperBound
  }

  /// Reserves room for this many more, so that the table need not grow step by step.
  mutating func reserve(_ more: Int, _ hashes: [ChangeHash]) {
    var size = max(16, table.count)
    while 2 * (hashes.count + more) > size { size *= 2 }
    if size > table.count { grow(to: size, hashes) }
  }

  /// Where a hash is, or the next free place after it.
  @inline(__always)
  private func start(of hash: ChangeHash) -> Int { Int(truncatingIfNeeded: hash.word) & (table.count - 1) }

  private mutating func put(_ place: Int, _ hash: ChangeHash) {
    let mask = table.count - 1
    var at = start(of: hash)
    while table[at] != 0 { at = (at + 1) & mask }
    table[at] = UInt32(place + 1)
  }

  private mutating func grow(to size: Int, _ hashes: [ChangeHash]) {
    table = Array(repeating: 0, count: size)
    for place in 0..<count { put(place, hashes[place]) }
  }
}
