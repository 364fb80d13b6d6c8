/// Walks a document's objects and writes them as typed JSON.
struct DocumentDump {
  let core: DocumentCore
  /// How many objects contain the one that is written.
  private var depth = 0
  private let room: Room

  /// How much may still be written. The winner of a conflict is written twice, and so is each conflict inside it; and a
  /// piece of a text names all its marks.
  private final class Room {
    var left: Int
    init(_ left: Int) { self.left = left }
  }

  init(core: DocumentCore) {
    self.core = core
    room = Room(1 << 18 + 4 * core.log.opCount)
  }

  /// One level further in.
  private var inner: DocumentDump {
    var inner = self
    inner.depth += 1
    return inner
  }

  /// An object and everything that is visible in it, down to `Document.valueDepthLimit` levels, and while there is room.
  /// - Parameter texts: takes the visible texts by their paths.
  func object(_ id: OpId, path: String, texts: inout [(key: String, value: DumpedJSON)]) -> DumpedJSON {
    .object(members(id, path: path, texts: &texts))
  }

  private func members(
    _ id: OpId, path: String, texts: inout [(key: String, value: DumpedJSON)]
  ) -> [(key: String, value: DumpedJSON)] {
    let name = DumpedJSON.string(name(of: id))
    // Writing and freeing the JSON recurses, too.
    guard depth < Document.valueDepthLimit, room.left > 0 else { return [("t", .string("…")), ("id", name)] }
    switch core.store[id] {
    case .map(let map):
      var values: [(key: String, value: DumpedJSON)] = []
      for (key, slot) in map.sortedSlots {
        if let shown = value(slot, path: path + "/" + key.string, texts: &texts) { values.append((key.string, shown)) }
      }
      let type = core.store.type(of: id) == .makeTable ? "table" : "map"
      return [("t", .string(type)), ("id", name), ("v", .object(values))]
    case .sequence(let tree) where core.store.type(of: id) == .makeText:
      let text = String(decoding: tree.utf8(at: .now), as: UTF8.self)
      texts.append((path, .string(text)))
      return [
        ("t", .string("text")), ("id", name), ("v", .string(text)), ("length", .number(text.unicodeScalars.count)),
      ] + marks(of: tree)
    case .sequence(let tree):
      var values: [DumpedJSON] = []
      tree.forEachStretch(at: .now) { stretch in
        switch stretch {
        case .plain(let first, _, let range):
          for (place, scalar) in String(decoding: core.bytes.bytes[range], as: UTF8.self).unicodeScalars.enumerated() {
            values.append(
              .object([
                ("t", .string("str")), ("v", .string(String(scalar))),
                ("id", .string(self.name(of: first.advanced(by: place)))),
              ]))
          }
        case .irregular(let slot, _):
          if let shown = value(slot, path: path + "/\(values.count)", texts: &texts) { values.append(shown) }
        case .mark: break
        }
        return true
      }
      return [("t", .string("list")), ("id", name), ("v", .array(values))]
    case nil: return []
    }
  }

  private func name(of id: OpId) -> String {
    id.isZero ? "_root" : "\(id.counter)@\(core.actors[id.actor].hexadecimal)"
  }

  /// The value at a key or element, with all values of a conflict; nil if there is none.
  private func value(_ slot: Slot, path: String, texts: inout [(key: String, value: DumpedJSON)]) -> DumpedJSON? {
    let visible = slot.visible()
    guard let winner = visible.last else { return nil }
    room.left -= visible.count
    var members = members(winner, in: slot, path: path, texts: &texts)
    if visible.count > 1 {
      // Only the winning value has a path.
      var hidden: [(key: String, value: DumpedJSON)] = []
      members.append(
        ("conflicts", .array(visible.map { .object(self.members($0, in: slot, path: path, texts: &hidden)) })))
    }
    return .object(members)
  }

  private func members(
    _ op: StoredOp, in slot: Slot, path: String, texts: inout [(key: String, value: DumpedJSON)]
  ) -> [(key: String, value: DumpedJSON)] {
    if op.action.makesObject { return inner.members(op.id, path: path, texts: &texts) }
    return scalar(op.value, slot.scalar(of: op, core.actors)) + [("id", .string(name(of: op.id)))]
  }

  /// - Parameter shown: the value as callers see it; a counter includes its increments
  private func scalar(_ raw: RawValue, _ shown: ScalarValue) -> [(key: String, value: DumpedJSON)] {
    func typed(_ type: String, _ value: DumpedJSON) -> [(key: String, value: DumpedJSON)] {
      [("t", .string(type)), ("v", value)]
    }
    switch shown {
    case .Null: return [("t", .string("null"))]
    case .Boolean(let value): return typed("bool", .bool(value))
    case .Int(let value): return typed("int", .string("\(value)"))
    case .Uint(let value): return typed("uint", .string("\(value)"))
    case .Counter(let value): return typed("counter", .string("\(value)"))
    case .Timestamp: return typed("timestamp", .string("\(raw.signed ?? 0)"))
    case .F64(let value):
      let digits = String(value.bitPattern, radix: 16)
      let bits = String(repeating: "0", count: 16 - digits.count) + digits
      return typed("f64", .string(Self.decimal(value))) + [("bits", .string(bits))]
    case .String(let value): return typed("str", .string(value))
    case .Bytes: return typed("bytes", .string(hexadecimal(raw.bytes)))
    case .Unknown(let code, _):
      return typed("unknown", .string(hexadecimal(raw.bytes))) + [("code", .number(Int(code)))]
    }
  }

  /// The shortest decimal number that reads as this one. Exponents are used from 1e16 on and below 1e-4.
  static func decimal(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-inf" : "inf" }
    // Digits and exponent of the shortest form, in whichever form Swift writes it.
    let parts = "\(number.magnitude)".split(separator: "e")
    let written = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    var exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) + written[0].count - 1
    var digits = Array((written[0] + (written.count > 1 ? written[1] : "")).utf8)
    while digits.count > 1, digits.last == UInt8(ascii: "0") { digits.removeLast() }
    while digits.count > 1, digits.first == UInt8(ascii: "0") {
      digits.removeFirst()
      exponent -= 1
    }
    func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    let sign = number.sign == .minus ? "-" : ""
    if number == 0 { return sign + "0.0" }
    if exponent >= 16 || exponent < -4 {
      return sign + text(digits.prefix(1)) + (digits.count > 1 ? "." + text(digits.dropFirst()) : "") + "e\(exponent)"
    }
    if exponent < 0 { return sign + "0." + String(repeating: "0", count: -exponent - 1) + text(digits) }
    let whole = text(digits.prefix(exponent + 1)) + String(repeating: "0", count: max(0, exponent + 1 - digits.count))
    return sign + whole + "." + (digits.count > exponent + 1 ? text(digits.dropFirst(exponent + 1)) : "0")
  }
}

// MARK: Marks

extension DocumentDump {
  /// The marks, and the text in stretches of equal marks with the blocks between them; empty if there are neither.
  private func marks(of tree: TextTree) -> [(key: String, value: DumpedJSON)] {
    let marks: [DumpedJSON] = MarkReader(tree, at: .now, .scalars).all().map { mark in
      .object([
        ("start", .number(Int(mark.start))), ("end", .number(Int(mark.end))), ("name", .string(mark.name)),
        ("value", .object(scalar(RawValue(mark.value), mark.value))),
      ])
    }
    guard let pieces = PieceReader.pieces(of: tree, at: .now, marksAtMost: max(0, room.left)) else {
      return [("marks", .array(marks)), ("spans", .string("…"))]
    }
    var hasBlock = false
    let spans = pieces.map { piece -> DumpedJSON in
      switch piece {
      case .block(let id):
        hasBlock = true
        return .object([("block", block(id))])
      case .text(let utf8, let marks):
        room.left -= marks.count
        let sorted = marks.sorted { $0.key < $1.key }
        let named = DumpedJSON.object(sorted.map { ($0.key.string, .object(scalar($0.value, $0.value.scalar))) })
        return .object(
          (marks.isEmpty ? [] : [("marks", named)]) + [("text", .string(String(decoding: utf8, as: UTF8.self)))])
      }
    }
    guard !marks.isEmpty || hasBlock else { return [] }
    return (marks.isEmpty ? [] : [("marks", .array(marks))]) + [("spans", .array(spans))]
  }

  /// An object inside a text: its values without ids.
  private func block(_ id: OpId) -> DumpedJSON {
    func stripped(_ json: DumpedJSON) -> DumpedJSON {
      switch json {
      case .array(let items): return .array(items.map(stripped))
      case .object(let members):
        // Strips only the members that this format adds to an object, not those of a map in the document.
        return .object(
          members.filter { !["id", "conflicts", "length"].contains($0.key) }.map { key, value in
            guard key == "v", case .object(let values) = value else { return (key, stripped(value)) }
            return (key, .object(values.map { ($0.key, stripped($0.value)) }))
          })
      case .null, .bool, .number, .string: return json
      }
    }
    var texts: [(key: String, value: DumpedJSON)] = []
    return stripped(inner.object(id, path: "", texts: &texts))
  }
}
