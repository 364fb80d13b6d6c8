/// A stretch of UTF-8 split into lines, words or scalars, each with a number; equal ones have equal numbers.
struct TextTokens {
  /// Where each token starts; one more for the end of the last.
  private(set) var starts: [Int] = []
  private(set) var numbers: [Int32] = []

  /// The kinds of tokens.
  enum Grain { case lines, words, scalars }

  var count: Int { numbers.count }

  /// The bytes of tokens `range`.
  func bytes(_ range: Range<Int>) -> Range<Int> { starts[range.lowerBound]..<starts[range.upperBound] }

  /// Splits both stretches and numbers their tokens together. `distinct` is one more than the greatest number.
  static func cut(
    _ old: [UInt8], _ oldRange: Range<Int>, _ new: [UInt8], _ newRange: Range<Int>, by grain: Grain
  ) -> (old: TextTokens, new: TextTokens, distinct: Int) {
    old.withUnsafeBufferPointer { old in
      new.withUnsafeBufferPointer { new in
        var table = TokenTable(
          expected: grain == .lines ? (oldRange.count + newRange.count) / 16 : oldRange.count + newRange.count)
        let first = TextTokens(old, oldRange, by: grain, &table)
        let second = TextTokens(new, newRange, by: grain, &table)
        return (first, second, table.count)
      }
    }
  }

  private init(
    _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, by grain: Grain, _ table: inout TokenTable
  ) {
    var start = range.lowerBound
    while start < range.upperBound {
      let end = Self.end(of: grain, from: start, in: text, upTo: range.upperBound)
      starts.append(start)
      numbers.append(table.number(of: UnsafeBufferPointer(rebasing: text[start..<end])))
      start = end
    }
    starts.append(range.upperBound)
  }

  private static func end(
    of grain: Grain, from start: Int, in text: UnsafeBufferPointer<UInt8>, upTo limit: Int
  ) -> Int {
    var index = start + 1
    switch grain {
    case .lines:
      if text[start] == 0x0A { return index }
      while index < limit {
        index += 1
        if text[index - 1] == 0x0A { break }
      }
    case .words:
      let kind = WordKind(text[start])
      guard kind != .mark else { return index }
      while index < limit, WordKind(text[index]) == kind { index += 1 }
    case .scalars:
      while index < limit, text[index].continuesScalar { index += 1 }
    }
    return index
  }
}

/// The kind of a byte for recognising words. Every scalar beyond ASCII counts as a letter.
enum WordKind: Hashable {
  case letter, space, mark

  init(_ byte: UInt8) {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x80...: self = .letter
    case 0x20, 0x09: self = .space
    default: self = .mark
    }
  }
}

/// Gives equal stretches of bytes equal numbers, from 0. The bytes must outlive it.
private struct TokenTable {
  private var slots: [Int32]
  private var known: [(hash: UInt64, bytes: UnsafeBufferPointer<UInt8>)] = []

  init(expected: Int) {
    var size = 64
    while size < expected, size < 1 << 16 { size *= 2 }
    slots = [Int32](repeating: -1, count: size)
  }

  var count: Int { known.count }

  mutating func number(of bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
    if known.count * 2 >= slots.count { grow() }
    let hash = Self.hash(bytes)
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] >= 0 {
      let candidate = known[Int(slots[slot])]
      if candidate.hash == hash, candidate.bytes.elementsEqual(bytes) { return slots[slot] }
      slot = (slot + 1) & (slots.count - 1)
    }
    let number = Int32(known.count)
    slots[slot] = number
    known.append((hash, bytes))
    return number
  }

  private mutating func grow() {
    slots = [Int32](repeating: -1, count: slots.count * 2)
    for (number, entry) in known.enumerated() {
      var slot = Int(truncatingIfNeeded: entry.hash) & (slots.count - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(number)
    }
  }

  /// Differs between processes, so that an attacker cannot make a text whose tokens all fall into one slot.
  private static let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  /// Eight bytes at a time, each combined by a full multiplication.
  private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let raw = UnsafeRawBufferPointer(bytes)
    var hash = seed ^ UInt64(truncatingIfNeeded: raw.count)
    var offset = 0
    while offset + 8 <= raw.count {
      hash = folded(hash ^ raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    var rest: UInt64 = 0
    while offset < raw.count {
      rest = rest << 8 | UInt64(raw[offset])
      offset += 1
    }
    return folded(hash ^ rest)
  }

  private static func folded(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}
