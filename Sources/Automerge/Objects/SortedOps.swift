/// Has the id of an operation.
protocol HasOpId {
  var opId: OpId { get }
}

extension OpId: HasOpId {
  var opId: OpId { self }
}

extension StoredOp: HasOpId {
  var opId: OpId { id }
}

/// Operations ascending by id, whose order is that of their counters and then of their actors.
///
/// Many are in blocks, so that one which comes late moves few others. A few bytes of a peer can claim ten thousands of
/// operations at one key, each between two that are there.
struct SortedOps<Element: HasOpId> {
  private enum Storage {
    case short([Element])
    /// Blocks of at least one each.
    case long([[Element]])
  }

  private var storage: Storage

  private static var maximumBlockCount: Int { 512 }

  /// Takes operations that ascend.
  init(_ elements: [Element] = []) {
    guard elements.count > Self.maximumBlockCount else {
      storage = .short(elements)
      return
    }
    storage = .long(
      stride(from: 0, to: elements.count, by: Self.maximumBlockCount).map {
        Array(elements[$0..<Swift.min($0 + Self.maximumBlockCount, elements.count)])
      })
  }

  // MARK: Reading

  /// - Complexity: O(1) for a few, O(n) for many.
  var elements: [Element] {
    switch storage {
    case .short(let block): block
    case .long(let blocks): Array(blocks.joined())
    }
  }

  var isEmpty: Bool {
    if case .short(let block) = storage { return block.isEmpty }
    return false
  }

  /// - Complexity: O(n) in the blocks.
  var count: Int {
    switch storage {
    case .short(let block): block.count
    case .long(let blocks): blocks.reduce(0) { $0 + $1.count }
    }
  }

  var first: Element? {
    switch storage {
    case .short(let block): block.first
    case .long(let blocks): blocks[0].first
    }
  }

  var last: Element? {
    switch storage {
    case .short(let block): block.last
    case .long(let blocks): blocks[blocks.count - 1].last
    }
  }

  /// - Complexity: O(log n), and O(n) in those with the same counter, because the order of actors is not known here
  subscript(id: OpId) -> Element? {
    switch storage {
    case .short(let block): return block.element(id)
    case .long(let blocks):
      var block = blocks.partitionPoint { $0[$0.count - 1].opId.counter < id.counter }
      while block < blocks.count, blocks[block][0].opId.counter <= id.counter {
        if let found = blocks[block].element(id) { return found }
        block += 1
      }
      return nil
    }
  }

  /// - Complexity: O(log n)
  subscript(id: OpId, actors: ActorTable) -> Element? {
    switch storage {
    case .short(let block): return block.index(of: id, actors).map { block[$0] }
    case .long(let blocks): return Self.place(of: id, in: blocks, actors).map { blocks[$0.block][$0.index] }
    }
  }

  private static func place(of id: OpId, in blocks: [[Element]], _ actors: ActorTable) -> (block: Int, index: Int)? {
    let block = blocks.partitionPoint { actors.precedes($0[$0.count - 1].opId, id) }
    guard block < blocks.count, let index = blocks[block].index(of: id, actors) else { return nil }
    return (block, index)
  }

  // MARK: Changing

  /// - Complexity: O(log n), and moving half a block
  mutating func insert(_ element: Element, _ actors: ActorTable) {
    let id = element.opId
    switch storage {
    case .short(var block):
      // So that the block has one owner, and is changed in place.
      storage = .short([])
      block.insert(element, at: block.place(for: id, actors))
      storage = block.count > Self.maximumBlockCount ? .long(Self.halves(of: block)) : .short(block)
    case .long(var blocks):
      storage = .short([])
      let place = blocks.partitionPoint { actors.precedes($0[$0.count - 1].opId, id) }
      if place == blocks.count {
        Self.append(element, to: &blocks)
      } else {
        blocks[place].insert(element, at: blocks[place].place(for: id, actors))
        if blocks[place].count > Self.maximumBlockCount {
          blocks.replaceSubrange(place...place, with: Self.halves(of: blocks[place]))
        }
      }
      storage = .long(blocks)
    }
  }

  /// Adds one that comes after all others.
  mutating func append(_ element: Element) {
    switch storage {
    case .short(var block):
      storage = .short([])
      block.append(element)
      storage = block.count > Self.maximumBlockCount ? .long([block]) : .short(block)
    case .long(var blocks):
      storage = .short([])
      Self.append(element, to: &blocks)
      storage = .long(blocks)
    }
  }

  private static func append(_ element: Element, to blocks: inout [[Element]]) {
    if blocks[blocks.count - 1].count < maximumBlockCount {
      blocks[blocks.count - 1].append(element)
    } else {
      blocks.append([element])
    }
  }

  private static func halves(of block: [Element]) -> [[Element]] {
    let middle = block.count / 2
    return [Array(block[..<middle]), Array(block[middle...])]
  }

  mutating func removeLast() {
    switch storage {
    case .short(var block):
      storage = .short([])
      block.removeLast()
      storage = .short(block)
    case .long(var blocks):
      storage = .short([])
      blocks[blocks.count - 1].removeLast()
      if blocks[blocks.count - 1].isEmpty { blocks.removeLast() }
      storage = blocks.isEmpty ? .short([]) : .long(blocks)
    }
  }

  /// Removes one of a few; does nothing if it is not there, or if there are many.
  mutating func removeOfFew(_ id: OpId, _ actors: ActorTable) {
    guard case .short(var block) = storage, let index = block.index(of: id, actors) else { return }
    storage = .short([])
    block.remove(at: index)
    storage = .short(block)
  }

  /// Changes one in place, keeping its id; nil if it is not there.
  mutating func update<Result>(_ id: OpId, _ actors: ActorTable, _ body: (inout Element) -> Result) -> Result? {
    switch storage {
    case .short(var block):
      guard let index = block.index(of: id, actors) else { return nil }
      storage = .short([])
      defer { storage = .short(block) }
      return body(&block[index])
    case .long(var blocks):
      guard let place = Self.place(of: id, in: blocks, actors) else { return nil }
      storage = .short([])
      defer { storage = .long(blocks) }
      return body(&blocks[place.block][place.index])
    }
  }
}

extension SortedOps: Sequence {
  struct Iterator: IteratorProtocol {
    fileprivate var block: [Element]
    fileprivate var later: ArraySlice<[Element]> = []
    private var index = 0

    fileprivate init(_ block: [Element], _ later: ArraySlice<[Element]> = []) {
      (self.block, self.later) = (block, later)
    }

    mutating func next() -> Element? {
      if index == block.count {
        guard let next = later.popFirst() else { return nil }
        (block, index) = (next, 0)
      }
      defer { index += 1 }
      return block[index]
    }
  }

  func makeIterator() -> Iterator {
    switch storage {
    case .short(let block): Iterator(block)
    case .long(let blocks): Iterator(blocks[0], blocks.dropFirst())
    }
  }
}

extension SortedOps: Equatable where Element: Equatable {
  static func == (left: Self, right: Self) -> Bool { left.elements == right.elements }
}

extension SortedOps: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension Array {
  /// The index of the first element for which `isBefore` is false; those for which it is true come first.
  @inline(__always)
  fileprivate func partitionPoint(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Array where Element: HasOpId {
  /// - Complexity: O(log n), and O(n) in those with the same counter
  @inline(__always)
  fileprivate func element(_ id: OpId) -> Element? {
    if let last, last.opId == id { return last }
    var place = partitionPoint { $0.opId.counter < id.counter }
    while place < count, self[place].opId.counter == id.counter {
      if self[place].opId == id { return self[place] }
      place += 1
    }
    return nil
  }

  /// - Complexity: O(log n)
  @inline(__always)
  fileprivate func index(of id: OpId, _ actors: ActorTable) -> Int? {
    if let last, last.opId == id { return count - 1 }
    let place = partitionPoint { actors.precedes($0.opId, id) }
    return place < count && self[place].opId == id ? place : nil
  }

  /// Where an id belongs.
  /// - Complexity: O(log n)
  @inline(__always)
  fileprivate func place(for id: OpId, _ actors: ActorTable) -> Int {
    guard let last, !actors.precedes(last.opId, id) else { return count }
    return partitionPoint { actors.precedes($0.opId, id) }
  }
}
