import Foundation
import TestSupport

@testable import Automerge

/// Edits a document at random: everything that a map, list or text can hold or have done to it.
struct RandomEditor {
  private static let names = ["bold", "link", "é"]
  private static let pieces = ["a", "hello ", "é", "😀", "\n", "xyz", "世界"]

  /// One edit of one object that is in view.
  static func edit(_ document: Document, using random: inout SeededGenerator) throws {
    let objects = try objects(of: document)
    guard let (object, type) = objects.randomElement(using: &random) else { return }
    switch type {
    case .Map: try editMap(document, object, isDeep: objects.count > 12, &random)
    case .List: try editList(document, object, isDeep: objects.count > 12, &random)
    case .Text: try editText(document, object, &random)
    }
  }

  private static func objects(of document: Document) throws -> [(ObjId, ObjType)] {
    var found: [(ObjId, ObjType)] = [(.ROOT, .Map)], next = 0
    while next < found.count {
      for value in try document.values(obj: found[next].0) {
        if case .Object(let object, let type) = value { found.append((object, type)) }
      }
      next += 1
    }
    return found
  }

  private static func scalar(_ random: inout SeededGenerator) -> ScalarValue {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .Int(Int64.random(in: -9...9, using: &random))
    case 1: .Counter(Int64.random(in: -9...9, using: &random))
    case 2: .Boolean(Bool.random(using: &random))
    case 3: .String("k")
    case 4: .String("longer")
    default: .Null
    }
  }

  private static func type(_ random: inout SeededGenerator) -> ObjType {
    [.Map, .List, .Text, .Text][Int.random(in: 0..<4, using: &random)]
  }

  private static func editMap(
    _ document: Document, _ object: ObjId, isDeep: Bool, _ random: inout SeededGenerator
  ) throws {
    let key = ["a", "b", "c", "d"][Int.random(in: 0..<4, using: &random)]
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: try document.put(obj: object, key: key, value: scalar(&random))
    case 2 where !isDeep: _ = try document.putObject(obj: object, key: key, ty: type(&random))
    case 3: try document.delete(obj: object, key: key)
    default:
      if case .Scalar(.Counter) = try document.get(obj: object, key: key) {
        try document.increment(obj: object, key: key, by: Int64.random(in: -3...3, using: &random))
      }
    }
  }

  private static func editList(
    _ document: Document, _ object: ObjId, isDeep: Bool, _ random: inout SeededGenerator
  ) throws {
    let length = document.length(obj: object), index = UInt64.random(in: 0...length, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      let values = [scalar(&random), scalar(&random)]
      let count = length - index
      try document.splice(
        obj: object, start: index, delete: Int64(UInt64.random(in: 0...min(2, count), using: &random)), values: values)
    case 2 where !isDeep: _ = try document.insertObject(obj: object, index: index, ty: type(&random))
    case 3 where index < length && !isDeep: _ = try document.putObject(obj: object, index: index, ty: type(&random))
    case 4 where index < length: try document.delete(obj: object, index: index)
    case 5 where index < length: try document.put(obj: object, index: index, value: scalar(&random))
    case 6 where index < length:
      if case .Scalar(.Counter) = try document.get(obj: object, index: index) {
        try document.increment(obj: object, index: index, by: Int64.random(in: -3...3, using: &random))
      }
    default: try document.insert(obj: object, index: index, value: scalar(&random))
    }
  }

  private static func editText(_ document: Document, _ object: ObjId, _ random: inout SeededGenerator) throws {
    let length = document.length(obj: object), start = UInt64.random(in: 0...length, using: &random)
    let count = UInt64.random(in: 0...min(5, length - start), using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0 where count > 0:
      let value: ScalarValue = [.Boolean(true), .Int(1), .Null][Int.random(in: 0..<3, using: &random)]
      let expand: ExpandMark = [.before, .after, .both, .none][Int.random(in: 0..<4, using: &random)]
      try document.mark(
        obj: object, start: start, end: start + count, expand: expand,
        name: names[Int.random(in: 0..<3, using: &random)], value: value)
    case 1 where length < 20: _ = try document.insertObject(obj: object, index: start, ty: .Map)
    case 2, 3: try document.spliceText(obj: object, start: start, delete: Int64(count))
    case 4 where start < length: try document.put(obj: object, index: start, value: .String("q"))
    default:
      let piece = pieces[Int.random(in: 0..<pieces.count, using: &random)]
      try document.spliceText(obj: object, start: start, delete: Int64(count), value: piece)
    }
  }
}
