import Crypto

/// Writes the body of a change that is one run of typing or one run of deletions: nearly every change that people make.
///
/// The bytes are those of `ChangeEncoder`, but every column is written once, in order, from what is known of the run.
/// Unsafe memory. Its invariants: `reserve` has made room for everything that a body can hold before the first byte is
/// written, so `end` never passes `capacity`; the body stands behind `headByteCount` bytes kept free for the chunk's
/// type and length, which are part of what is hashed.
struct SingleRunEncoder: ~Copyable {
  /// An operation's id as a change names it: 0 is the author, then the others that it names.
  struct Id: Equatable {
    var actor: Int
    var counter: UInt32
  }

  /// What stands before the columns.
  struct Head {
    var seq: UInt64
    var startOp: UInt32
    var time: Int64
    var message: String?
  }

  /// What stands in the columns. Text is ASCII.
  enum Body {
    case text(UnsafeBufferPointer<UInt8>)
    case deletion(step: Int64)
  }

  static let headByteCount = 12

  var base: UnsafeMutablePointer<UInt8>
  var capacity: Int
  var end = headByteCount
  /// Where the list of columns goes on, and where the column that is being written begins.
  var listEnd = 0
  var columnStart = 0
  /// Room for the list of columns: at most ten, each with one byte for which and at most five for how long.
  private static let listByteCount = 64

  init() {
    capacity = 1024
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  /// Writes the part before the columns; `room` is how many bytes dependencies, names and text need in all.
  mutating func begin(room: Int) {
    // Numbers of the head, the list of columns, and twice the columns' own numbers.
    let needed = Self.headByteCount + 512 + 2 * room
    if needed > capacity {
      base.deallocate()
      capacity = 2 * needed
      base = .allocate(capacity: capacity)
    }
    end = Self.headByteCount
  }

  mutating func count(_ count: Int) { uleb(UInt64(count)) }

  mutating func hash(_ hash: ChangeHash) {
    hash.store(to: base + end)
    end += 32
  }

  mutating func actor(_ actor: ActorId) {
    count(actor.bytes.count)
    actor.bytes.withUnsafeBufferPointer { bytes($0) }
  }

  mutating func head(_ head: Head, actor: ActorId) {
    self.actor(actor)
    uleb(head.seq)
    uleb(UInt64(head.startOp))
    sleb(head.time)
    var message = head.message ?? ""
    message.withUTF8 {
      uleb(UInt64($0.count))
      bytes($0)
    }
  }

  /// Writes the columns of `count` operations from `id` on, in `object`, behind or from `target` on (nil is the head).
  mutating func table(object: Id, target: Id?, id: UInt32, count: Int, _ body: Body) {
    let isText: Bool
    switch body {
    case .text: isText = true
    case .deletion: isText = false
    }
    let named = target ?? Id(actor: 0, counter: 0)
    uleb(isText ? 9 : 10)
    // The list of columns comes first; the columns are moved up to it when it is known how long it is.
    listEnd = end
    let start = end + Self.listByteCount
    end = start
    columnStart = start
    same(UInt64(object.actor), count)
    close(0x01)
    same(UInt64(object.counter), count)
    close(0x02)
    if isText, target == nil || named.actor != 0 {
      first(target == nil ? nil : UInt64(named.actor), thenZero: count - 1)
    } else {
      same(UInt64(named.actor), count)
    }
    close(0x11)
    switch body {
    case .text: deltas(Int64(named.counter), Int64(id) - Int64(named.counter), count > 1 ? 1 : 0, 1, count - 2)
    case .deletion(let step): deltas(Int64(named.counter), step, count - 1, 0, 0)
    }
    close(0x13)
    if isText { byte(0) }
    self.count(count)
    close(0x34)
    same(isText ? 1 : 3, count)
    close(0x42)
    same(isText ? UInt64(1 << 4 | Int(RawValue.Code.string)) : 0, count)
    close(0x56)
    if case .text(let text) = body {
      bytes(text)
      close(0x57)
      same(0, count)
      close(0x70)
    } else if case .deletion(let step) = body {
      same(1, count)
      close(0x70)
      same(UInt64(named.actor), count)
      close(0x71)
      deltas(Int64(named.counter), step, count - 1, 0, 0)
      close(0x73)
    }
    let byteCount = end - start
    (base + listEnd).update(from: base + start, count: byteCount)
    end = listEnd + byteCount
  }

  /// The body, until the next one is begun.
  var body: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: base + Self.headByteCount, count: end - Self.headByteCount)
  }

  /// The name of the change.
  mutating func changeHash() -> ChangeHash {
    var length = end - Self.headByteCount, digits = 1
    while length >= 1 << (7 * digits) { digits += 1 }
    let start = Self.headByteCount - 1 - digits
    base[start] = Chunk.Kind.change.rawValue
    for digit in 1...digits {
      base[start + digit] = UInt8(truncatingIfNeeded: length & 0x7f) | (digit < digits ? 0x80 : 0)
      length >>= 7
    }
    var sha = SHA256()
    sha.update(bufferPointer: UnsafeRawBufferPointer(start: base + start, count: end - start))
    return ChangeHash(digest: sha.finalize())
  }
}
