/// JSON that shows a document. Members keep their order of insertion, and keys that Swift considers equal (an accented
/// letter in two forms) stay distinct, as they are in a document.
public indirect enum DumpedJSON: Sendable {
  case null
  case bool(Bool)
  case number(Int)
  case string(String)
  case array([DumpedJSON])
  case object([(key: String, value: DumpedJSON)])

  /// The JSON text, in ASCII. With indentation, every member is on a line of its own.
  public func text(indented: Bool = false) -> String {
    var text: [UInt8] = []
    write(to: &text, indentation: indented ? 0 : nil)
    return String(decoding: text, as: UTF8.self)
  }

  private func write(to text: inout [UInt8], indentation: Int?) {
    switch self {
    case .null: text += "null".utf8
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .number(let value): text += "\(value)".utf8
    case .string(let value): Self.write(value, to: &text)
    case .array(let items):
      Self.write("[", items, "]", to: &text, indentation) { item, text, inner in
        item.write(to: &text, indentation: inner)
      }
    case .object(let members):
      Self.write("{", members, "}", to: &text, indentation) { member, text, inner in
        Self.write(member.key, to: &text)
        text += (inner == nil ? ":" : ": ").utf8
        member.value.write(to: &text, indentation: inner)
      }
    }
  }

  private static func write<Item>(
    _ open: String, _ items: [Item], _ close: String, to text: inout [UInt8], _ indentation: Int?,
    _ body: (Item, inout [UInt8], Int?) -> Void
  ) {
    func endLine(_ depth: Int) { text += ("\n" + String(repeating: " ", count: depth)).utf8 }
    text += open.utf8
    for (place, item) in items.enumerated() {
      if place > 0 { text += ",".utf8 }
      if let indentation { endLine(indentation + 1) }
      body(item, &text, indentation.map { $0 + 1 })
    }
    if let indentation, !items.isEmpty { endLine(indentation) }
    text += close.utf8
  }

  private static func write(_ string: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: "\""))
    for unit in string.utf16 {
      switch unit {
      case 0x22: text += "\\\"".utf8
      case 0x5c: text += "\\\\".utf8
      case 0x20..<0x7f: text.append(UInt8(unit))
      default:
        let digits = String(unit, radix: 16)
        text += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
      }
    }
    text.append(UInt8(ascii: "\""))
  }
}
