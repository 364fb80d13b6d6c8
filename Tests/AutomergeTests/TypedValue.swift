import Foundation
import TestSupport

@testable import Automerge

extension Document {
  /// All values with their ids and conflicts, as the vectors write them.
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
      if isText {
        members["length"] = .number(Double(TextMeasure(of: text).scalars))
        members.merge(typedMarks(tree, at: clock)) { left, _ in left }
      }
    case nil: break
    }
    return .object(members)
  }

  /// The marks, and the text in stretches of equal marks with the blocks between; nothing if there are neither.
  private func typedMarks(_ tree: TextTree, at clock: Clock) -> [String: JSON] {
    let marks: [JSON] = MarkReader(tree, at: clock, .scalars).all().map { mark in
      .object([
        "start": .number(Double(mark.start)), "end": .number(Double(mark.end)), "name": .string(mark.name),
        "value": .object(mark.value.vector),
      ])
    }
    var spans: [JSON] = [], text = "", textMarks: [MapKey: RawValue] = [:]
    var active = MarksInForce(at: clock, actors: actors), hasBlock = false
    func endText() {
      guard !text.isEmpty else { return }
      var span: [String: JSON] = ["text": .string(text)]
      if !textMarks.isEmpty {
        let pairs = textMarks.map { ($0.key.string, JSON.object($0.value.scalar.vector)) }
        span["marks"] = .object(Dictionary(uniqueKeysWithValues: pairs))
      }
      spans.append(.object(span))
      text = ""
    }
    func add(_ piece: String) {
      if active.values != textMarks { endText() }
      textMarks = active.values
      text += piece
    }
    tree.forEachStretch(at: clock) { stretch in
      switch stretch {
      case .plain(_, _, let range): add(String(decoding: bytes.bytes[range], as: UTF8.self))
      case .irregular(_, let winner) where winner.action == .makeMap:
        endText()
        hasBlock = true
        spans.append(.object(["block": typedObject(winner.id, at: clock).withoutIds]))
      case .irregular(_, let winner): add(String(decoding: winner.textUTF8, as: UTF8.self))
      case .mark(let op): active.pass(op)
      }
      return true
    }
    endText()
    var members: [String: JSON] = [:]
    if !marks.isEmpty { members["marks"] = .array(marks) }
    if !marks.isEmpty || hasBlock { members["spans"] = .array(spans) }
    return members
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
    return slot.scalar(of: op, at: clock, actors).vector.merging(["id": .string(objId(op.id).vectorName)]) { left, _ in
      left
    }
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
  /// A vector's value without the second spelling of floating-point numbers.
  var withBitsOnly: JSON {
    mapObjects { members in
      if members["t"] == .string("f64") { members["v"] = nil }
    }
  }

  var withoutIds: JSON {
    mapObjects { members in (members["id"], members["conflicts"], members["length"]) = (nil, nil, nil) }
  }

  private func mapObjects(_ change: (inout [String: JSON]) -> Void) -> JSON {
    switch self {
    case .array(let items): return .array(items.map { $0.mapObjects(change) })
    case .object(var members):
      change(&members)
      return .object(members.mapValues { $0.mapObjects(change) })
    case .null, .bool, .number, .string: return self
    }
  }
}

extension TextTree {
  /// The stories of all elements in document order, deleted ones and marks included.
  func forEachSlot(_ body: (Slot) -> Void) {
    forEachRun { run in
      if run.isIrregular {
        body(slots[Int(run.text)].slot)
      } else {
        for element in 0..<Int(run.count) { body(slot(of: run, element)) }
      }
    }
  }
}
