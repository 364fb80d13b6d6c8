/// Which leaf of a tree contains an operation's element: for each actor, stretches of counters sorted by their start.
///
/// A stretch extends to the start of the next one, so ids that belong to other objects fall into some stretch too; only
/// the leaf shows whether the element is there.
struct OpIndex {
  private var actors: [OpStretches] = []
  /// Those of actors with great numbers: a document may have thousands of actors, and very many sequences of a few of them.
  private var others: [UInt32: OpStretches] = [:]
  private static let firstCount = 16
  /// True until the first look-up, which builds the whole index: a document with a single writer never pays for it.
  private(set) var isMadeLater = true

  /// The leaf to look in.
  /// - Complexity: O(log n) in the stretches of the actor
  func leaf(of id: OpId) -> UInt32? {
    if Int(id.actor) < actors.count { return actors[Int(id.actor)].leaf(of: id.counter) }
    return others.isEmpty ? nil : others[id.actor]?.leaf(of: id.counter)
  }

  /// An empty index to fill.
  static var made: OpIndex {
    var index = OpIndex()
    index.isMadeLater = false
    return index
  }

  /// Adds all stretches of an actor; once for each actor.
  mutating func add(_ stretches: OpStretches, actor: Int) {
    guard actor < Self.firstCount else {
      others[UInt32(actor)] = stretches
      return
    }
    makeRoom(for: actor)
    actors[actor] = stretches
  }

  private mutating func makeRoom(for actor: Int) {
    if actor >= actors.count {
      actors.append(contentsOf: repeatElement(OpStretches(), count: actor + 1 - actors.count))
    }
  }

  /// Records that `leaf` contains the `count` elements from `first` on.
  mutating func assign(_ first: OpId, count: Int, leaf: UInt32) {
    if isMadeLater { return }
    let actor = Int(first.actor)
    guard actor < Self.firstCount else {
      others[first.actor, default: OpStretches()].assign(first.counter, to: first.counter + UInt32(count), leaf: leaf)
      return
    }
    makeRoom(for: actor)
    actors[actor].assign(first.counter, to: first.counter + UInt32(count), leaf: leaf)
  }
}

extension TextTree {
  /// Records that `leaf` contains the `count` elements from `first` on.
  @inline(__always)
  func assign(_ first: OpId, count: Int, leaf: UInt32) {
    if index.isMadeLater { return }
    // Taken out while it changes: see decision 25.
    var taken = OpIndex()
    swap(&taken, &index)
    taken.assign(first, count: count, leaf: leaf)
    swap(&taken, &index)
  }

  /// The index of the present tree.
  /// - Complexity: O(n) in the runs.
  func makeIndex() -> OpIndex {
    var keys: [UInt64] = [], ends: [(end: UInt32, leaf: UInt32)] = []
    for leaf in 0..<leaves.count {
      for run in 0..<leaves[leaf].count {
        let run = runs[slot(UInt32(leaf), run)]
        keys.append(run.id.sortKey)
        ends.append((run.id.counter + UInt32(run.count), UInt32(leaf)))
      }
    }
    var made = OpIndex.made, stretches: [OpStretches.Stretch] = [], actor = 0, known: UInt32 = 0
    for place in RadixOrder.order(of: keys) {
      let key = keys[Int(place)], (end, leaf) = ends[Int(place)]
      if Int(key >> 32) != actor {
        made.add(OpStretches(stretches, known: known), actor: actor)
        (actor, stretches) = (Int(key >> 32), [])
      }
      if stretches.last?.leaf != leaf {
        stretches.append(OpStretches.Stretch(start: UInt32(truncatingIfNeeded: key), leaf: leaf))
      }
      known = end
    }
    made.add(OpStretches(stretches, known: known), actor: actor)
    return made
  }
}

/// One actor's stretches of counters, each with the leaf that contains it.
///
/// They are grouped in blocks, so that inserting one among very many moves only those of its block.
struct OpStretches {
  struct Stretch: BitwiseCopyable {
    let start: UInt32
    let leaf: UInt32
  }

  private struct Place {
    let block: Int
    let stretch: Int
  }

  private static let blockCapacity = 512

  init() {}

  /// Ascending stretches up to the counter `known`; no two neighbours have the same leaf.
  init(_ stretches: [Stretch], known: UInt32) {
    self.known = known
    for start in stride(from: 0, to: stretches.count, by: Self.blockCapacity) {
      let block = Array(stretches[start..<min(start + Self.blockCapacity, stretches.count)])
      fences.append(start == 0 ? 0 : block[0].start)
      blocks.append(block)
    }
  }

  /// In order. A block may be empty only if it is the only one.
  private var blocks: [[Stretch]] = []
  /// For each block a counter that all earlier blocks are below and the block itself is not; 0 for the first.
  private var fences: [UInt32] = []
  /// No element at or after this counter has been assigned.
  private var known: UInt32 = 0

  func leaf(of counter: UInt32) -> UInt32? { place(counter).map { blocks[$0.block][$0.stretch].leaf } }

  mutating func assign(_ start: UInt32, to end: UInt32, leaf: UInt32) {
    if start >= known {
      known = end
      if blocks.last?.last?.leaf != leaf { insert(Stretch(start: start, leaf: leaf)) }
      return
    }
    if let before = place(start), blocks[before.block][before.stretch].leaf == leaf,
      self.start(behind: before).map({ $0 >= end }) ?? true
    {
      known = max(known, end)
      return
    }
    // The part after `end` of the stretch that is split keeps its leaf.
    var rest: Stretch?
    if end < known, let last = place(end), blocks[last.block][last.stretch].start != end {
      rest = Stretch(start: end, leaf: blocks[last.block][last.stretch].leaf)
    }
    remove(from: start, to: end)
    if self.leaf(of: start) != leaf { insert(Stretch(start: start, leaf: leaf)) }
    if let rest, rest.leaf != leaf { insert(rest) }
    known = max(known, end)
  }

  /// All stretches.
  /// - Complexity: O(n)
  var all: [Stretch] { Array(blocks.joined()) }

  // MARK: Places

  /// The last stretch that begins at or before `counter`.
  private func place(_ counter: UInt32) -> Place? {
    if let last = blocks.last, let stretch = last.last, stretch.start <= counter {
      return Place(block: blocks.count - 1, stretch: last.count - 1)
    }
    guard !blocks.isEmpty else { return nil }
    let block = block(of: counter), behind = counter == .max ? blocks[block].count : lowerBound(counter + 1, in: block)
    if behind > 0 { return Place(block: block, stretch: behind - 1) }
    return block == 0 ? nil : Place(block: block - 1, stretch: blocks[block - 1].count - 1)
  }

  private func start(behind place: Place) -> UInt32? {
    if place.stretch + 1 < blocks[place.block].count { return blocks[place.block][place.stretch + 1].start }
    return place.block + 1 < blocks.count ? blocks[place.block + 1].first?.start : nil
  }

  /// The block for a stretch with this start.
  private func block(of start: UInt32) -> Int {
    var low = 0, high = fences.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if fences[middle] <= start { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// How many stretches of a block begin before `start`.
  private func lowerBound(_ start: UInt32, in block: Int) -> Int {
    blocks[block].withUnsafeBufferPointer { stretches in
      var low = 0, high = stretches.count
      while low < high {
        let middle = (low + high) / 2
        if stretches[middle].start < start { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }

  // MARK: Changing

  private mutating func insert(_ stretch: Stretch) {
    if blocks.isEmpty { (blocks, fences) = ([[]], [0]) }
    let block = block(of: stretch.start), place = lowerBound(stretch.start, in: block)
    let count = blocks[block].count
    guard count == Self.blockCapacity else {
      blocks[block].insert(stretch, at: place)
      return
    }
    // Typing at the end fills blocks.
    let keep = place == count ? count : count / 2
    var next = Array(blocks[block][keep...])
    blocks[block].removeLast(count - keep)
    if place < keep || (place == keep && keep < count) {
      blocks[block].insert(stretch, at: place)
    } else {
      next.insert(stretch, at: place - keep)
    }
    blocks.insert(next, at: block + 1)
    fences.insert(next.first?.start ?? stretch.start, at: block + 1)
  }

  /// Removes the stretches that begin in a range of counters.
  private mutating func remove(from start: UInt32, to end: UInt32) {
    var block = block(of: start), isFirst = true
    while block < blocks.count, isFirst || fences[block] < end {
      isFirst = false
      let lower = lowerBound(start, in: block), upper = lowerBound(end, in: block)
      if lower < upper { blocks[block].removeSubrange(lower..<upper) }
      if block > 0, blocks[block].isEmpty {
        blocks.remove(at: block)
        fences.remove(at: block)
      } else {
        block += 1
      }
    }
  }
}
