/// Growing storage of plain values that hands out numbers instead of references.
///
/// The one place in `Objects` with unsafe memory. Its invariants: `count` elements from `base` on are initialised,
/// `count <= capacity`, and an index comes only from the owner's own links, which `TextTree.checkInvariants` verifies.
/// Elements move when the slab grows, so no pointer into it is kept across an append.
struct Slab<Element: BitwiseCopyable>: ~Copyable {
  private var base: UnsafeMutablePointer<Element>
  private var capacity: Int
  private(set) var count = 0

  init(capacity: Int = 4) {
    self.capacity = max(capacity, 1)
    base = .allocate(capacity: self.capacity)
  }

  init(copying other: borrowing Slab) {
    self.init(capacity: other.count)
    base.update(from: other.base, count: other.count)
    count = other.count
  }

  deinit { base.deallocate() }

  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress {
      assert(index >= 0 && index < count, "slab index in range")
      return UnsafePointer(base + index)
    }
    @inline(__always) unsafeMutableAddress {
      assert(index >= 0 && index < count, "slab index in range")
      return base + index
    }
  }

  /// Adds `repeated` copies of `element` and returns the index of the first.
  @discardableResult
  mutating func append(_ element: Element, repeated: Int = 1) -> Int {
    if count + repeated > capacity { grow(to: count + repeated) }
    (base + count).initialize(repeating: element, count: repeated)
    count += repeated
    return count - repeated
  }

  /// Moves `length` elements from one index to another; the places may overlap.
  mutating func move(from source: Int, to target: Int, count length: Int) {
    precondition(source >= 0 && target >= 0 && length >= 0 && source + length <= count && target + length <= count)
    (base + target).update(from: base + source, count: length)
  }

  private mutating func grow(to needed: Int) {
    let larger = max(needed, capacity * 2)
    let moved = UnsafeMutablePointer<Element>.allocate(capacity: larger)
    moved.update(from: base, count: count)
    base.deallocate()
    (base, capacity) = (moved, larger)
  }
}
