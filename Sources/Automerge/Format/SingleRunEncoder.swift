import Cryptography

/// Writes the body of a change that is one run of typing or one run of deletions: nearly every change that people make.
///
/// The bytes are those of `ChangeEncoder`, but every column is written once, in order, from the properties of the run.
/// Unsafe memory. Its invariants: `reserve` has made room for everything that a body can hold before the first byte is
/// written, so the cursor never passes `capacity`; the body comes after `headByteCount` bytes kept free for the rest of
/// the chunk: magic, checksum, and the type and length, which are part of what is hashed.
struct SingleRunEncoder: ~Copyable {
  /// An operation's id as a change names it: 0 is the author, then the others that it names.
  struct Id: Equatable {
    var actor: Int
    var counter: UInt32
  }

  /// The part before the columns.
  struct Head {
    var seq: UInt64
    var startOp: UInt32
    var time: Int64
    var message: String?
  }

  /// The operations. Text is ASCII.
  enum Body {
    case text(UnsafeBufferPointer<UInt8>)
    case deletion(step: Int64)
  }

  private static let headByteCount = 24

  private var base: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private var cursor: ColumnCursor
  /// Where the type of the chunk is, once the change has its hash.
  private var typeOffset = Self.headByteCount
  /// Room for the list of columns: at most ten, each with one byte for its name and at most five for its length.
  private static let listByteCount = 64

  init() {
    capacity = 1024
    base = .allocate(capacity: capacity)
    cursor = ColumnCursor(base + Self.headByteCount)
  }

  deinit { base.deallocate() }

  /// Writes the part before the columns. `room` is how many bytes the dependencies, names and text need in all.
  mutating func begin(room: Int) {
    // The numbers of the head, the list of columns, and twice the numbers in the columns.
    let needed = Self.headByteCount + 512 + 2 * room
    if needed > capacity {
      base.deallocate()
      capacity = 2 * needed
      base = .allocate(capacity: capacity)
    }
    cursor = ColumnCursor(base + Self.headByteCount)
  }

  mutating func count(_ count: Int) { cursor.uleb(UInt64(count)) }

  mutating func hash(_ hash: ChangeHash) {
    hash.store(to: cursor.end)
    cursor.end += 32
  }

  mutating func actor(_ actor: ActorId) {
    count(actor.bytes.count)
    actor.bytes.withUnsafeBufferPointer { cursor.bytes($0) }
  }

  mutating func head(_ head: Head, actor: ActorId) {
    self.actor(actor)
    cursor.uleb(head.seq)
    cursor.uleb(UInt64(head.startOp))
    cursor.sleb(head.time)
    guard var message = head.message else {
      cursor.byte(0)
      return
    }
    message.withUTF8 {
      cursor.uleb(UInt64($0.count))
      cursor.bytes($0)
    }
  }

  /// Writes the columns of `count` operations from `id` on, in `object`, after or from `target` on (nil is the head).
  mutating func table(object: Id, target: Id?, id: UInt32, count: Int, _ body: Body) {
    let isText: Bool
    switch body {
    case .text: isText = true
    case .deletion: isText = false
    }
    let named = target ?? Id(actor: 0, counter: 0)
    var out = cursor
    // A column of only nulls is omitted.
    let hasKeyActor = target != nil || count > 1
    out.uleb(isText ? (hasKeyActor ? 9 : 8) : 10)
    // The list of columns comes first; the columns are moved up to it once its length is known.
    out.listEnd = out.end
    let start = out.end + Self.listByteCount
    (out.end, out.columnStart) = (start, start)
    out.same(UInt64(object.actor), count)
    out.close(0x01)
    out.same(UInt64(object.counter), count)
    out.close(0x02)
    if hasKeyActor {
      if isText, target == nil || named.actor != 0 {
        out.first(target == nil ? nil : UInt64(named.actor), thenZero: count - 1)
      } else {
        out.same(UInt64(named.actor), count)
      }
      out.close(0x11)
    }
    switch body {
    case .text: out.deltas(Int64(named.counter), Int64(id) - Int64(named.counter), count > 1 ? 1 : 0, 1, count - 2)
    case .deletion(let step): out.deltas(Int64(named.counter), step, count - 1, 0, 0)
    }
    out.close(0x13)
    if isText { out.byte(0) }
    out.uleb(UInt64(count))
    out.close(0x34)
    out.same(isText ? 1 : 3, count)
    out.close(0x42)
    out.same(isText ? UInt64(1 << 4 | Int(RawValue.Code.string)) : 0, count)
    out.close(0x56)
    if case .text(let text) = body {
      out.bytes(text)
      out.close(0x57)
      out.same(0, count)
      out.close(0x70)
    } else if case .deletion(let step) = body {
      out.same(1, count)
      out.close(0x70)
      out.same(UInt64(named.actor), count)
      out.close(0x71)
      out.deltas(Int64(named.counter), step, count - 1, 0, 0)
      out.close(0x73)
    }
    let byteCount = out.end - start
    out.listEnd.update(from: start, count: byteCount)
    cursor.end = out.listEnd + byteCount
  }

  /// The body, valid until the next one is begun.
  var body: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: base + Self.headByteCount, count: cursor.end - base - Self.headByteCount)
  }

  /// The hash of the change.
  mutating func changeHash() -> ChangeHash {
    var length = body.count, digits = 1
    while length >= 1 << (7 * digits) { digits += 1 }
    let start = Self.headByteCount - 1 - digits
    typeOffset = start
    base[start] = Chunk.Kind.change.rawValue
    for digit in 1...digits {
      base[start + digit] = UInt8(truncatingIfNeeded: length & 0x7f) | (digit < digits ? 0x80 : 0)
      length >>= 7
    }
    let hashed = UnsafeRawBufferPointer(start: base + start, count: cursor.end - base - start)
    return ChangeHash(digest: SHA256.hash(bufferPointer: hashed))
  }

  /// The chunk of the change whose hash was just computed.
  func chunk(named hash: ChangeHash) -> [UInt8] {
    let checksumOffset = typeOffset - 4, start = checksumOffset - Chunk.magic.count
    for (place, byte) in Chunk.magic.enumerated() { base[start + place] = byte }
    for place in 0..<4 { base[checksumOffset + place] = UInt8(truncatingIfNeeded: hash.word >> UInt64(56 - 8 * place)) }
    return Array(UnsafeBufferPointer(start: base + start, count: cursor.end - base - start))
  }
}
