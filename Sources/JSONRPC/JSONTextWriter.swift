/// Writes a JSON text piece by piece, for texts such as a list of ten thousand objects, which would take long to build
/// as a value.
///
/// The caller follows JSON's grammar: members in objects, elements in arrays. The writer inserts commas.
public struct JSONTextWriter {
  /// The JSON written so far, compact and in UTF-8.
  public private(set) var bytes: [UInt8] = []

  public init() {}

  /// A writer with room for that many bytes.
  public init(reserving byteCount: Int) { bytes.reserveCapacity(byteCount) }

  public mutating func object(_ members: (inout JSONTextWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "{"))
    try members(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  public mutating func array(_ elements: (inout JSONTextWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "["))
    try elements(&self)
    bytes.append(UInt8(ascii: "]"))
  }

  /// The key of the member whose value is written next.
  public mutating func key(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
  }

  public mutating func string(_ value: String) {
    separate()
    bytes.append(quoted: value)
  }

  /// Writes a value that is already JSON text.
  public mutating func value(_ encoded: [UInt8]) {
    separate()
    bytes.append(contentsOf: encoded)
  }

  public mutating func integer(_ value: Int) {
    separate()
    bytes.append(decimal: Int64(value))
  }

  public mutating func bool(_ value: Bool) {
    separate()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Writes a member with a string; nothing if the string is nil.
  public mutating func member(_ name: StaticString, _ value: String?) {
    guard let value else { return }
    key(name)
    string(value)
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
  }

  /// Call before each key, value and opening bracket: inserts the comma after a previous one.
  private mutating func separate() {
    switch bytes.last {
    case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): break
    default: bytes.append(UInt8(ascii: ","))
    }
  }
}
