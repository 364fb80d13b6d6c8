import Foundation
import TestSupport

@testable import Automerge

/// Edits a document at random: maps, lists, texts, counters, marks, blocks. Documents that read the same are edited the
/// same by the same random numbers.
struct RandomSession {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func edit(_ document: Document) throws {
    let objects = try Self.objects(of: document)
    let (object, type) = objects[number(0...objects.count - 1)]
    switch type {
    case .Map: try editMap(document, object)
    case .List: try editList(document, object)
    case .Text: try editText(document, object)
    }
  }

  /// All objects that the document shows, from the root on.
  private static func objects(of document: Document) throws -> [(ObjId, ObjType)] {
    var found: [(ObjId, ObjType)] = [(.ROOT, .Map)], next = 0
    while next < found.count {
      for value in try document.values(obj: found[next].0) {
        if case .Object(let id, let type) = value { found.append((id, type)) }
      }
      next += 1
    }
    return found
  }

  private mutating func scalar() -> ScalarValue {
    switch number(0...9) {
    case 0: .Null
    case 1: .Boolean(number(0...1) == 0)
    case 2: .Uint(UInt64(number(0...300)))
    case 3: .F64(Double(number(-3...3)) / 2)
    case 4: .Counter(Int64(number(-5...5)))
    case 5: .Timestamp(Date(timeIntervalSince1970: Double(number(0...5))))
    case 6: .Bytes(Data([UInt8(number(0...255))]))
    case 7: .String(String(number(0...9)))
    case 8: .String("e\u{301}\(number(0...99))")
    default: .Int(Int64(number(-3...3)))
    }
  }

  private mutating func type() -> ObjType { [.Map, .List, .Text][number(0...2)] }

  private mutating func editMap(_ document: Document, _ object: ObjId) throws {
    let key = ["a", "b", "é", "long key"][number(0...3)]
    switch number(0...9) {
    case 0...3: try document.put(obj: object, key: key, value: scalar())
    case 4...5: _ = try document.putObject(obj: object, key: key, ty: type())
    case 6: try document.delete(obj: object, key: key)
    case 7: try document.put(obj: object, key: key, value: .Counter(Int64(number(0...9))))
    default:
      guard case .Scalar(.Counter)? = try document.get(obj: object, key: key) else { return }
      try document.increment(obj: object, key: key, by: Int64(number(-5...5)))
    }
  }

  private mutating func editList(_ document: Document, _ object: ObjId) throws {
    let length = Int(document.length(obj: object)), index = UInt64(number(0...length))
    let isInside = Int(index) < length
    switch number(0...9) {
    case 0...1: try document.insert(obj: object, index: index, value: scalar())
    case 2: _ = try document.insertObject(obj: object, index: index, ty: type())
    case 3:
      let values = (0..<number(0...4)).map { _ in scalar() }
      try document.splice(obj: object, start: index, delete: Int64(number(0...2)), values: values)
    case 4...5 where isInside: try document.put(obj: object, index: index, value: scalar())
    case 6 where isInside: _ = try document.putObject(obj: object, index: index, ty: type())
    case 7 where isInside: try document.delete(obj: object, index: index)
    case 8...9 where isInside:
      guard case .Scalar(.Counter)? = try document.get(obj: object, index: index) else { return }
      try document.increment(obj: object, index: index, by: Int64(number(-5...5)))
    default: try document.insert(obj: object, index: index, value: .Counter(1))
    }
  }

  private mutating func editText(_ document: Document, _ object: ObjId) throws {
    let length = Int(document.length(obj: object)), start = number(0...length), end = number(start...length)
    switch number(0...11) {
    case 0...4:
      let words = ["a", "bc", "def ", "😀", "e\u{301}", "\n", "\u{FFFC}"]
      let text = (0..<number(0...3)).map { _ in words[number(0...words.count - 1)] }.joined()
      try document.spliceText(obj: object, start: UInt64(start), delete: Int64(min(3, end - start)), value: text)
    case 5...7:
      let expand = [ExpandMark.before, .after, .both, .none][number(0...3)], name = ["bold", "link"][number(0...1)]
      let value = number(0...2) == 0 ? ScalarValue.Null : .Int(Int64(number(0...2)))
      try document.mark(
        obj: object, start: UInt64(start), end: UInt64(end), expand: expand, name: name, value: value)
    case 8: _ = try document.insertObject(obj: object, index: UInt64(start), ty: .Map)
    case 9 where start < length: try document.put(obj: object, index: UInt64(start), value: scalar())
    case 10 where start < length: try document.delete(obj: object, index: UInt64(start))
    default:
      try document.updateText(obj: object, value: document.text(obj: object).replacing("b", with: "xy"))
    }
  }
}
