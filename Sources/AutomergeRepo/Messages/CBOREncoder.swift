import Foundation

extension CBOR {
  /// The value's bytes.
  public func encoded() -> [UInt8] {
    var output: [UInt8] = []
    encode(into: &output)
    return output
  }

  /// Appends the value's bytes.
  public func encode(into output: inout [UInt8]) {
    switch self {
    case .unsigned(let value):
      CBOR.head(0, value, into: &output)
    case .negative(let value):
      CBOR.head(1, value, into: &output)
    case .bytes(let data):
      CBOR.head(2, UInt64(data.count), into: &output)
      output.append(contentsOf: data)
    case .text(let text):
      CBOR.head(3, UInt64(text.utf8.count), into: &output)
      output.append(contentsOf: text.utf8)
    case .array(let items):
      CBOR.head(4, UInt64(items.count), into: &output)
      for item in items { item.encode(into: &output) }
    case .map(let entries):
      CBOR.head(5, UInt64(entries.count), into: &output)
      for entry in entries {
        entry.key.encode(into: &output)
        entry.value.encode(into: &output)
      }
    case .bool(let value):
      output.append(value ? 0xf5 : 0xf4)
    case .null:
      output.append(0xf6)
    case .undefined:
      output.append(0xf7)
    case .float(let value):
      CBOR.encode(value, into: &output)
    case .simple(let value):
      // The simple values 24 to 31 have no encoding, so no decoder produces them.
      if value < 24 { output.append(0xe0 | value) } else { output.append(contentsOf: [0xf8, max(value, 32)]) }
    case .tagged(let tag, let value):
      CBOR.head(6, tag, into: &output)
      value.encode(into: &output)
    }
  }

  static func head(_ major: UInt8, _ value: UInt64, into output: inout [UInt8]) {
    let major = major << 5
    switch value {
    case ..<24: output.append(major | UInt8(value))
    case ...0xff: output.append(contentsOf: [major | 24, UInt8(value)])
    case ...0xffff: append(major | 25, value, byteCount: 2, into: &output)
    case ...0xffff_ffff: append(major | 26, value, byteCount: 4, into: &output)
    default: append(major | 27, value, byteCount: 8, into: &output)
    }
  }

  private static func append(_ first: UInt8, _ value: UInt64, byteCount: Int, into output: inout [UInt8]) {
    output.append(first)
    for shift in stride(from: (byteCount - 1) * 8, through: 0, by: -8) {
      output.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }

  /// Writes the value in four bytes if they hold it exactly, else in eight. Half precision is read but never written.
  private static func encode(_ value: Double, into output: inout [UInt8]) {
    let single = Float(value)
    if Double(single) == value {
      append(0xfa, UInt64(single.bitPattern), byteCount: 4, into: &output)
    } else if value.isNaN {
      append(0xfa, UInt64(Float.nan.bitPattern), byteCount: 4, into: &output)
    } else {
      append(0xfb, value.bitPattern, byteCount: 8, into: &output)
    }
  }
}
