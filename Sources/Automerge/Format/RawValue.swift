import Foundation

/// A value as a value column has it: its type code and bytes, preserved exactly.
///
/// Callers see a `ScalarValue`; this is what is stored, so that every value, even one of an unknown type or a time that
/// `Date` cannot hold, is written back as it was read.
struct RawValue: Hashable, Sendable {
  let code: UInt8
  let bytes: [UInt8]

  /// Type codes. Source: automerge-format, section 2.4.
  enum Code {
    static let null: UInt8 = 0
    static let boolFalse: UInt8 = 1
    static let boolTrue: UInt8 = 2
    static let uint: UInt8 = 3
    static let int: UInt8 = 4
    static let float64: UInt8 = 5
    static let string: UInt8 = 6
    static let bytes: UInt8 = 7
    static let counter: UInt8 = 8
    static let timestamp: UInt8 = 9
  }

  static let null = RawValue(unchecked: Code.null, [])

  /// Checks that the bytes fit the code, so that `scalar` cannot fail. `at` is only for the error.
  init(code: UInt8, bytes: some Collection<UInt8>, at offset: Int = 0) throws(FormatError) {
    self.init(unchecked: code, Array(bytes))
    guard code < 16, isValid else { throw .badValue(typeCode: code, at: offset) }
  }

  private init(unchecked code: UInt8, _ bytes: [UInt8]) { (self.code, self.bytes) = (code, bytes) }

  /// The value's entry in the metadata column.
  var metadata: UInt64 { UInt64(bytes.count) << 4 | UInt64(code) }

  private var isValid: Bool {
    switch code {
    case Code.null, Code.boolFalse, Code.boolTrue: bytes.isEmpty
    case Code.uint: unsigned != nil
    case Code.int, Code.counter, Code.timestamp: signed != nil
    case Code.float64: bytes.count == 8
    case Code.string: String(validating: bytes, as: UTF8.self) != nil
    default: true
    }
  }

  /// The number of a `uint`.
  var unsigned: UInt64? {
    var reader = ByteReader(bytes)
    guard let value = try? reader.uleb(), reader.isAtEnd else { return nil }
    return value
  }

  /// The number of an `int`, `counter` or `timestamp`.
  var signed: Int64? {
    var reader = ByteReader(bytes)
    guard let value = try? reader.sleb(), reader.isAtEnd else { return nil }
    return value
  }
}

extension RawValue {
  init(_ value: ScalarValue) {
    var writer = ByteWriter()
    let code: UInt8
    switch value {
    case .Null: code = Code.null
    case .Boolean(let value): code = value ? Code.boolTrue : Code.boolFalse
    case .Uint(let value):
      code = Code.uint
      writer.uleb(value)
    case .Int(let value):
      code = Code.int
      writer.sleb(value)
    case .F64(let value):
      code = Code.float64
      withUnsafeBytes(of: value.bitPattern.littleEndian) { writer.raw($0) }
    case .String(let value):
      code = Code.string
      writer.raw(value.utf8)
    case .Bytes(let value):
      code = Code.bytes
      writer.raw(value)
    case .Counter(let value):
      code = Code.counter
      writer.sleb(value)
    case .Timestamp(let value):
      code = Code.timestamp
      writer.sleb(Self.milliseconds(of: value))
    case .Unknown(let typeCode, let data):
      precondition(value.isStorable, "the type code of an unknown value is 10 to 15")
      code = typeCode
      writer.raw(data)
    }
    self.init(unchecked: code, writer.bytes)
  }

  /// The value as callers see it. A timestamp that `Date` cannot hold exactly is rounded.
  var scalar: ScalarValue {
    switch code {
    case Code.null: .Null
    case Code.boolFalse: .Boolean(false)
    case Code.boolTrue: .Boolean(true)
    case Code.uint: .Uint(unsigned ?? 0)
    case Code.int: .Int(signed ?? 0)
    case Code.float64:
      .F64(Double(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }))
    case Code.string: .String(String(decoding: bytes, as: UTF8.self))
    case Code.bytes: .Bytes(Data(bytes))
    case Code.counter: .Counter(signed ?? 0)
    case Code.timestamp: .Timestamp(Date(timeIntervalSince1970: Double(signed ?? 0) / 1000))
    default: .Unknown(typeCode: code, data: Data(bytes))
    }
  }

  private static func milliseconds(of date: Date) -> Int64 {
    let value = (date.timeIntervalSince1970 * 1000).rounded()
    return Int64(exactly: value) ?? (value < 0 ? .min : .max)
  }
}

extension ScalarValue {
  /// Whether the format can hold the value: the type code of an unknown one has to be none of the known ones.
  var isStorable: Bool {
    guard case .Unknown(let typeCode, _) = self else { return true }
    return (10..<16).contains(typeCode)
  }
}
