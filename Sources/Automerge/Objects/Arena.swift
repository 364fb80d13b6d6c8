/// Growing storage of plain values that are referred to by index.
///
/// Unsafe memory. Its invariants: `count` elements from `base` on are initialised, `count <= capacity`, and an index
/// comes only from the owner's own links, which `TextTree.checkInvariants` verifies (and debug builds assert). Elements
/// move when the arena grows, so no pointer into it is kept across an append.
struct Arena<Element: BitwiseCopyable>: ~Copyable {
  private struct Header {
    var base: UnsafeMutablePointer<Element>
    var capacity: Int
    var count = 0
  }

  private let header: UnsafeMutablePointer<Header>

  init(capacity: Int = 4) {
    let capacity = max(capacity, 1)
    header = .allocate(capacity: 1)
    header.initialize(to: Header(base: .allocate(capacity: capacity), capacity: capacity))
  }

  init(copying other: borrowing Arena) {
    self.init(capacity: other.count)
    header.pointee.base.update(from: other.header.pointee.base, count: other.count)
    header.pointee.count = other.count
  }

  deinit {
    header.pointee.base.deallocate()
    header.deallocate()
  }

  var count: Int { header.pointee.count }

  subscript(index: Int) -> Element {
    @inline(__always) unsafeAddress {
      assert(index >= 0 && index < count, "arena index in range")
      return UnsafePointer(header.pointee.base + index)
    }
    @inline(__always) nonmutating unsafeMutableAddress {
      assert(index >= 0 && index < count, "arena index in range")
      return header.pointee.base + index
    }
  }

  /// The address of an element, valid until the next append.
  @inline(__always)
  func pointer(to index: Int) -> UnsafeMutablePointer<Element> {
    assert(index >= 0 && index < count, "arena index in range")
    return header.pointee.base + index
  }

  /// Adds `repeated` copies of `element` and returns the index of the first.
  @discardableResult
  @inline(__always)
  func append(_ element: Element, repeated: Int = 1) -> Int {
    let count = header.pointee.count
    if count + repeated > header.pointee.capacity { grow(to: count + repeated) }
    (header.pointee.base + count).initialize(repeating: element, count: repeated)
    header.pointee.count = count + repeated
    return count
  }

  /// Removes all elements, but keeps the memory.
  func removeAll() { header.pointee.count = 0 }

  /// The elements, valid until the next append.
  func withElements<Result, Failure: Error>(
    _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeBufferPointer(start: header.pointee.base, count: count))
  }

  /// Moves `length` elements from one index to another; the ranges may overlap.
  func move(from source: Int, to target: Int, count length: Int) {
    precondition(source >= 0 && target >= 0 && length >= 0 && source + length <= count && target + length <= count)
    let base = header.pointee.base
    (base + target).update(from: base + source, count: length)
  }

  private func grow(to needed: Int) {
    let larger = max(needed, header.pointee.capacity * 2)
    let moved = UnsafeMutablePointer<Element>.allocate(capacity: larger)
    moved.update(from: header.pointee.base, count: count)
    header.pointee.base.deallocate()
    header.pointee.base = moved
    header.pointee.capacity = larger
  }
}
