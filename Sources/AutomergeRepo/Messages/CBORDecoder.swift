import Foundation

/// Why bytes are not a CBOR value that we accept; positions count from the first byte.
public enum CBORError: Error, Hashable, Sendable {
  case truncated(at: Int)
  /// Bytes follow the value.
  case trailingBytes(at: Int)
  /// A reserved length, a chunk of the wrong kind, or a misplaced break.
  case malformed(at: Int)
  case invalidUTF8(at: Int)
  case tooDeep(at: Int)
  /// A text, array or map beyond the limits.
  case tooLarge(at: Int)
  /// More values in total than the limits allow.
  case tooMany(at: Int)
}

extension CBOR {
  /// A decoder's limits. Byte strings are limited by the bytes that are there.
  public struct Limits: Sendable {
    public var depth: Int
    public var mapEntries: Int
    public var arrayItems: Int
    public var textBytes: Int
    /// The most values in total, keys and parts of strings included. A value of one byte takes about sixty in memory,
    /// so this limit, not the length, bounds the cost of a message.
    public var values: Int
    /// Whether tags come out as `tagged`.
    public var keepsTags: Bool

    public init(
      depth: Int, mapEntries: Int, arrayItems: Int, textBytes: Int, values: Int, keepsTags: Bool = false
    ) {
      (self.depth, self.mapEntries) = (depth, mapEntries)
      (self.arrayItems, self.textBytes) = (arrayItems, textBytes)
      (self.values, self.keepsTags) = (values, keepsTags)
    }

    /// The same limits for a decoder that keeps tags.
    public var keepingTags: Limits {
      var limits = self
      limits.keepsTags = true
      return limits
    }

    /// For messages from peers. Source: PeerProtocol.md, "Links".
    public static let wire = Limits(depth: 16, mapEntries: 64, arrayItems: 4096, textBytes: 4096, values: 1 << 16)
    /// For records and files.
    public static let stored = Limits(
      depth: 16, mapEntries: 1 << 20, arrayItems: 1 << 20, textBytes: 1 << 26, values: 1 << 22)
  }

  /// Reads exactly one value. Memory stays within a small multiple of the bytes.
  public init(_ encoded: some Collection<UInt8>, limits: Limits = .wire) throws(CBORError) {
    var decoder = CBORDecoder(input: Array(encoded), limits: limits)
    self = try decoder.value(depth: 0)
    guard decoder.position == decoder.input.count else { throw .trailingBytes(at: decoder.position) }
  }
}

private struct CBORDecoder {
  let input: [UInt8]
  let limits: CBOR.Limits
  var position = 0
  private var valueCount = 0

  init(input: [UInt8], limits: CBOR.Limits) { (self.input, self.limits) = (input, limits) }

  /// The meaning of an item's first byte and the number that follows.
  struct Head {
    var major: UInt8
    var info: UInt8
    var argument: UInt64
    var at: Int
    /// A break outside of an indefinite length.
    var isBreak: Bool { major == 7 && info == 31 }
    var isIndefinite: Bool { info == 31 }
  }

  mutating func value(depth: Int) throws(CBORError) -> CBOR {
    let head = try head()
    guard !head.isBreak else { throw .malformed(at: head.at) }
    return try value(head, depth: depth)
  }

  private mutating func head() throws(CBORError) -> Head {
    let at = position
    valueCount += 1
    guard valueCount <= limits.values else { throw .tooMany(at: at) }
    let first = try byte()
    let (major, info) = (first >> 5, first & 31)
    switch info {
    case ..<24: return Head(major: major, info: info, argument: UInt64(info), at: at)
    case 24...27: return Head(major: major, info: info, argument: try big(byteCount: 1 << (info - 24)), at: at)
    case 31 where major != 0 && major != 1 && major != 6:
      return Head(major: major, info: info, argument: 0, at: at)
    default: throw .malformed(at: at)
    }
  }

  private mutating func value(_ head: Head, depth: Int) throws(CBORError) -> CBOR {
    guard depth < limits.depth else { throw .tooDeep(at: head.at) }
    switch head.major {
    case 0: return .unsigned(head.argument)
    case 1: return .negative(head.argument)
    case 2: return .bytes(Data(try string(head)))
    case 3: return .text(try text(head))
    case 4: return .array(try array(head, depth: depth))
    case 5: return .map(try map(head, depth: depth))
    case 6:
      let inner = try value(depth: depth + 1)
      return limits.keepsTags ? .tagged(head.argument, inner) : inner
    default: return try simple(head)
    }
  }

  private mutating func byte() throws(CBORError) -> UInt8 {
    guard position < input.count else { throw .truncated(at: position) }
    defer { position += 1 }
    return input[position]
  }

  private mutating func big(byteCount: Int) throws(CBORError) -> UInt64 {
    guard input.count - position >= byteCount else { throw .truncated(at: position) }
    defer { position += byteCount }
    return input[position..<position + byteCount].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func slice(_ head: Head) throws(CBORError) -> ArraySlice<UInt8> {
    guard head.argument <= UInt64(input.count - position) else { throw .truncated(at: input.count) }
    let end = position + Int(head.argument)
    defer { position = end }
    return input[position..<end]
  }

  private mutating func string(_ head: Head) throws(CBORError) -> ArraySlice<UInt8> {
    guard head.isIndefinite else { return try slice(head) }
    var whole: [UInt8] = []
    while true {
      let part = try self.head()
      if part.isBreak { return whole[...] }
      guard part.major == head.major, !part.isIndefinite else { throw .malformed(at: part.at) }
      whole += try slice(part)
    }
  }

  private mutating func text(_ head: Head) throws(CBORError) -> String {
    let bytes = try string(head)
    guard bytes.count <= limits.textBytes else { throw .tooLarge(at: head.at) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8(at: head.at) }
    return text
  }

  /// The announced number of items, each of which takes at least `itemBytes`; nil if the length is indefinite.
  private func count(_ head: Head, limit: Int, itemBytes: Int) throws(CBORError) -> Int? {
    if head.isIndefinite { return nil }
    guard head.argument <= UInt64(limit) else { throw .tooLarge(at: head.at) }
    guard head.argument <= UInt64((input.count - position) / itemBytes) else { throw .truncated(at: input.count) }
    return Int(head.argument)
  }

  private mutating func array(_ head: Head, depth: Int) throws(CBORError) -> [CBOR] {
    var items: [CBOR] = []
    if let count = try count(head, limit: limits.arrayItems, itemBytes: 1) {
      items.reserveCapacity(count)
      for _ in 0..<count { items.append(try value(depth: depth + 1)) }
      return items
    }
    while true {
      let next = try self.head()
      if next.isBreak { return items }
      guard items.count < limits.arrayItems else { throw .tooLarge(at: head.at) }
      items.append(try value(next, depth: depth + 1))
    }
  }

  private mutating func map(_ head: Head, depth: Int) throws(CBORError) -> [CBOR.Entry] {
    var entries: [CBOR.Entry] = []
    if let count = try count(head, limit: limits.mapEntries, itemBytes: 2) {
      entries.reserveCapacity(count)
      for _ in 0..<count {
        let key = try value(depth: depth + 1)
        entries.append(CBOR.Entry(key, try value(depth: depth + 1)))
      }
      return entries
    }
    while true {
      let next = try self.head()
      if next.isBreak { return entries }
      guard entries.count < limits.mapEntries else { throw .tooLarge(at: head.at) }
      let key = try value(next, depth: depth + 1)
      entries.append(CBOR.Entry(key, try value(depth: depth + 1)))
    }
  }

  private func simple(_ head: Head) throws(CBORError) -> CBOR {
    switch (head.info, head.argument) {
    case (20, _): return .bool(false)
    case (21, _): return .bool(true)
    case (22, _): return .null
    case (23, _): return .undefined
    case (..<20, let value): return .simple(UInt8(value))
    case (24, let value) where value >= 32: return .simple(UInt8(truncatingIfNeeded: value))
    case (25, let bits): return .float(half(UInt16(truncatingIfNeeded: bits)))
    case (26, let bits): return .float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
    case (27, let bits): return .float(Double(bitPattern: bits))
    default: throw .malformed(at: head.at)
    }
  }

  private func half(_ bits: UInt16) -> Double {
    let fraction = Double(bits & 0x3ff)
    let exponent = Int(bits >> 10 & 0x1f)
    let magnitude =
      switch exponent {
      case 0: Double(sign: .plus, exponent: -24, significand: fraction)
      case 31: fraction == 0 ? Double.infinity : Double.nan
      default: Double(sign: .plus, exponent: exponent - 25, significand: fraction + 1024)
      }
    return bits & 0x8000 == 0 ? magnitude : -magnitude
  }
}
