/// The UTF-8 text of a document's operations: one buffer that only grows. Runs of the tree and of the log point into
/// it.
///
/// Every actor writes into a lane of its own, so that each writer's text stays contiguous while several people type.
final class TextBytes {
  private(set) var bytes: [UInt8] = []
  private var lanes: [Lane] = []

  /// Room reserved for one actor; `next` to `end` is free.
  private struct Lane {
    var next = 0
    var end = 0
    var size = 8
  }

  private static let maximumLane = 512

  init() {}

  init(copying other: TextBytes) {
    (bytes, lanes) = (other.bytes, other.lanes)
  }

  /// The most text that a document can hold: offsets have 32 bits.
  static let limit = Int(Int32.max)

  func hasRoom(for count: Int) -> Bool { count <= Self.limit - bytes.count - Self.maximumLane }

  /// Stores `text` and returns its offset. The caller has checked `hasRoom`.
  func append(_ text: some Collection<UInt8>, actor: UInt32) -> Int {
    // Taken out while they change: see decision 25.
    var (bytes, lanes): ([UInt8], [Lane]) = ([], [])
    swap(&bytes, &self.bytes)
    swap(&lanes, &self.lanes)
    defer {
      swap(&bytes, &self.bytes)
      swap(&lanes, &self.lanes)
    }
    let lane = Int(actor), count = text.count
    if lane >= lanes.count { lanes.append(contentsOf: repeatElement(Lane(), count: lane + 1 - lanes.count)) }
    if lanes[lane].end == bytes.count {
      // The last lane needs no limit, since it grows with the buffer.
      let start = lanes[lane].next
      if start < bytes.count { bytes.removeLast(bytes.count - start) }
      bytes.append(contentsOf: text)
      lanes[lane].next = bytes.count
      lanes[lane].end = bytes.count
      return start
    }
    if lanes[lane].end - lanes[lane].next < count {
      let start = bytes.count
      lanes[lane].size = min(lanes[lane].size * 2, Self.maximumLane)
      let room = max(count, lanes[lane].size)
      bytes.append(contentsOf: text)
      bytes.append(contentsOf: repeatElement(0, count: room - count))
      lanes[lane].next = start + count
      lanes[lane].end = start + room
      return start
    }
    let start = lanes[lane].next
    bytes.replaceSubrange(start..<start + count, with: text)
    lanes[lane].next += count
    return start
  }

  /// The measure of a range of whole scalars.
  func measure(_ range: Range<Int>) -> TextMeasure {
    bytes.withUnsafeBufferPointer { TextMeasure(of: UnsafeBufferPointer(rebasing: $0[range])) }
  }

  /// The offset after the `number`th line feed from `offset` on, counted from 1, which must exist.
  /// - Complexity: O(n) in the bytes passed, eight at a time.
  func offset(behindNewline number: Int, from offset: Int) -> Int {
    bytes.withUnsafeBytes { memory in
      var at = offset, left = number
      while at + 8 <= memory.count {
        var feeds = ByteCounts.lineFeeds(in: memory.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian)
        let count = feeds.nonzeroBitCount
        if count >= left {
          for _ in 1..<left { feeds &= feeds &- 1 }
          return at + feeds.trailingZeroBitCount / 8 + 1
        }
        left -= count
        at += 8
      }
      while true {
        at += 1
        if memory[at - 1] == 0x0A {
          left -= 1
          if left == 0 { return at }
        }
      }
    }
  }

  /// The offset `scalars` scalars after `offset`.
  func advance(_ offset: Int, scalars: Int) -> Int {
    var at = offset, left = scalars
    while left > 0 {
      at += UTF8Scalar.byteCount(lead: bytes[at])
      left -= 1
    }
    return at
  }
}

/// Counts in all eight bytes of a word at once.
private struct ByteCounts {
  static let ones: UInt64 = 0x0101_0101_0101_0101
  /// More would overflow a byte.
  static let limit = 255
  private var counts: UInt64 = 0

  /// Sets one bit for each byte of the word that is a line feed.
  @inline(__always)
  static func lineFeeds(in word: UInt64) -> UInt64 {
    let difference = word ^ (ones &* 0x0A), low = ones &* 0x7F
    return ~((difference & low) &+ low | difference) >> 7 & ones
  }

  /// Adds one for every byte whose lowest bit is set. No other bit may be set.
  mutating func add(_ flags: UInt64) { counts &+= flags }

  var total: Int {
    let pairs = (counts & 0x00FF_00FF_00FF_00FF) &+ (counts >> 8 & 0x00FF_00FF_00FF_00FF)
    return Int((pairs &* 0x0001_0001_0001_0001) >> 48)
  }
}

extension TextMeasure {
  /// Measures valid UTF-8.
  init(of text: UnsafeBufferPointer<UInt8>) {
    if text.count == 1 {
      self.init(utf8: 1, scalars: 1, utf16: 1, newlines: text[0] == 0x0A ? 1 : 0)
      return
    }
    let memory = UnsafeRawBufferPointer(text)
    var inner = 0, wide = 0, newlines = 0, start = 0
    while start + 8 <= text.count {
      var inners = ByteCounts(), wides = ByteCounts(), feeds = ByteCounts()
      for _ in 0..<min((text.count - start) / 8, ByteCounts.limit) {
        let word = memory.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        inners.add(word >> 7 & ~word >> 6 & ByteCounts.ones)
        wides.add(word >> 7 & word >> 6 & word >> 5 & word >> 4 & ByteCounts.ones)
        feeds.add(ByteCounts.lineFeeds(in: word))
        start += 8
      }
      inner += inners.total
      wide += wides.total
      newlines += feeds.total
    }
    for byte in text[start...] {
      inner += byte & 0xC0 == 0x80 ? 1 : 0
      wide += byte >= 0xF0 ? 1 : 0
      newlines += byte == 0x0A ? 1 : 0
    }
    let scalars = text.count - inner
    self.init(utf8: text.count, scalars: scalars, utf16: scalars + wide, newlines: newlines)
  }

  init(of text: [UInt8]) {
    self = text.withUnsafeBufferPointer { TextMeasure(of: $0) }
  }
}
