import Foundation
import TestSupport

@testable import Automerge

extension Document {
  /// All values with their ids and conflicts, as the vectors write them, but for marks and spans.
  func typedValue(at clock: Clock = .now) -> JSON {
    withCore { $0.typedObject(.zero, at: clock) }
  }
}

extension DocumentCore {
  fileprivate func typedObject(_ id: OpId, at clock: Clock) -> JSON {
    var members: [String: JSON] = ["id": .string(objId(id).vectorName)]
    switch store[id] {
    case .map(let map):
      var values: [String: JSON] = [:]
      for (key, slot) in map.slots { values[key.string] = typedValue(slot, at: clock) }
      members["t"] = .string(store.type(of: id) == .makeTable ? "table" : "map")
      members["v"] = .object(values)
    case .sequence(let tree):
      var values: [JSON] = [], text: [UInt8] = []
      tree.forEachSlot { slot in
        guard let winner = slot.winner(at: clock), let value = typedValue(slot, at: clock) else { return }
        values.append(value)
        text += winner.textUTF8
      }
      let isText = store.type(of: id) == .makeText
      members["t"] = .string(isText ? "text" : "list")
      members["v"] = isText ? .string(String(decoding: text, as: UTF8.self)) : .array(values)
      if isText { members["length"] = .number(Double(TextMeasure(of: text).scalars)) }
    case nil: break
    }
    return .object(members)
  }

  private func typedValue(_ slot: Slot, at clock: Clock) -> JSON? {
    let visible = slot.visible(at: clock)
    guard let winner = visible.last else { return nil }
    var value = typedValue(winner, in: slot, at: clock)
    if visible.count > 1 { value["conflicts"] = .array(visible.map { .object(typedValue($0, in: slot, at: clock)) }) }
    return .object(value)
  }

  private func typedValue(_ op: StoredOp, in slot: Slot, at clock: Clock) -> [String: JSON] {
    if op.action.makesObject { return typedObject(op.id, at: clock).members }
    return slot.scalar(of: op, at: clock).vector.merging(["id": .string(objId(op.id).vectorName)]) { left, _ in left }
  }
}

extension ScalarValue {
  /// In the vectors' typed JSON; a floating-point number by its bits only.
  var vector: [String: JSON] {
    func typed(_ type: String, _ value: JSON) -> [String: JSON] { ["t": .string(type), "v": value] }
    switch self {
    case .Null: return ["t": .string("null")]
    case .Boolean(let value): return typed("bool", .bool(value))
    case .Int(let value): return typed("int", .string("\(value)"))
    case .Uint(let value): return typed("uint", .string("\(value)"))
    case .Counter(let value): return typed("counter", .string("\(value)"))
    case .Timestamp: return typed("timestamp", .string("\(RawValue(self).signed ?? 0)"))
    case .F64(let value):
      let digits = Swift.String(value.bitPattern, radix: 16)
      return ["t": .string("f64"), "bits": .string(Swift.String(repeating: "0", count: 16 - digits.count) + digits)]
    case .String(let value): return typed("str", .string(value))
    case .Bytes(let data): return typed("bytes", .string(Hex.text(Array(data))))
    case .Unknown(let code, let data):
      return typed("unknown", .string(Hex.text(Array(data)))).merging(["code": .number(Double(code))]) { left, _ in left
      }
    }
  }
}

extension JSON {
  /// A vector's value without what `typedValue` leaves out.
  var withoutMarks: JSON {
    switch self {
    case .array(let items): return .array(items.map(\.withoutMarks))
    case .object(var members):
      if members["t"] == .string("text") { (members["marks"], members["spans"]) = (nil, nil) }
      if members["t"] == .string("f64") { members["v"] = nil }
      return .object(members.mapValues(\.withoutMarks))
    case .null, .bool, .number, .string: return self
    }
  }
}
