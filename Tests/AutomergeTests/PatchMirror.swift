import Foundation
import TestSupport

@testable import Automerge

/// The content of a document as plain values, with everything that patches tell and nothing else.
indirect enum ContentTree: Equatable, Sendable {
  struct Cell: Equatable, Sendable {
    var value: ContentTree
    var marks: [String: ScalarValue]
  }

  case scalar(ScalarValue)
  case map([String: ContentTree])
  case list([ContentTree])
  case text([Cell])
}

/// A copy of a document's content that only patches change. Texts count in Unicode scalars.
struct PatchMirror {
  private struct Cell {
    var value: Value
    var marks: [String: ScalarValue] = [:]
  }

  private enum Content {
    case map([String: Value])
    case list([Value])
    case text([Cell])
  }

  private var objects: [ObjId: Content] = [.ROOT: .map([:])]

  /// What is shown from the root on.
  func tree() throws -> ContentTree { try tree(.ROOT) }

  private func tree(_ object: ObjId) throws -> ContentTree {
    switch try require(objects[object]) {
    case .map(let values): .map(try values.mapValues(tree))
    case .list(let values): .list(try values.map(tree))
    case .text(let cells): .text(try cells.map { ContentTree.Cell(value: try tree($0.value), marks: $0.marks) })
    }
  }

  private func tree(_ value: Value) throws -> ContentTree {
    switch value {
    case .Scalar(let scalar): .scalar(scalar)
    case .Object(let object, _): try tree(object)
    }
  }

  /// Throws if a patch does not fit what is there, or its path leads to another object.
  mutating func apply(_ patches: [Patch]) throws {
    for patch in patches { try apply(patch.action) }
    for patch in patches {
      guard try object(at: patch.path) == patch.action.object else { throw Missing() }
    }
  }

  private func object(at path: [PathElement]) throws -> ObjId {
    var at = ObjId.ROOT
    for element in path {
      guard element.obj == at, case .Object(let next, _) = try value(at, element.prop) else { throw Missing() }
      at = next
    }
    return at
  }

  private func value(_ object: ObjId, _ prop: Prop) throws -> Value {
    switch (try require(objects[object]), prop) {
    case (.map(let values), .Key(let key)): return try require(values[key])
    case (.list(let values), .Index(let index)) where index < UInt64(values.count): return values[Int(index)]
    case (.text(let cells), .Index(let index)) where index < UInt64(cells.count): return cells[Int(index)].value
    case (.map, .Index), (.list, _), (.text, _): throw Missing()
    }
  }

  private mutating func set(_ object: ObjId, _ prop: Prop, _ value: Value) throws {
    switch (try require(objects[object]), prop) {
    case (.map(var values), .Key(let key)):
      values[key] = value
      objects[object] = .map(values)
    case (.list(var values), .Index(let index)) where index < UInt64(values.count):
      values[Int(index)] = value
      objects[object] = .list(values)
    case (.text(var cells), .Index(let index)) where index < UInt64(cells.count):
      cells[Int(index)].value = value
      objects[object] = .text(cells)
    case (.map, .Index), (.list, _), (.text, _): throw Missing()
    }
  }

  private mutating func make(_ value: Value) {
    guard case .Object(let object, let type) = value else { return }
    objects[object] =
      switch type {
      case .Map: .map([:])
      case .List: .list([])
      case .Text: .text([])
      }
  }

  private mutating func apply(_ action: PatchAction) throws {
    switch action {
    case .Put(let object, let prop, let value):
      try set(object, prop, value)
      make(value)
    case .Insert(let object, let index, let values):
      switch try require(objects[object]) {
      case .list(var own) where index <= UInt64(own.count):
        own.insert(contentsOf: values, at: Int(index))
        objects[object] = .list(own)
      case .text(var own) where index <= UInt64(own.count):
        own.insert(contentsOf: values.map { Cell(value: $0) }, at: Int(index))
        objects[object] = .text(own)
      case .map, .list, .text: throw Missing()
      }
      for value in values { make(value) }
    case .SpliceText(let object, let index, let value, let marks):
      guard case .text(var cells) = objects[object], index <= UInt64(cells.count) else { throw Missing() }
      let marks = try marks.mapValues { try scalar($0) }
      let new = value.unicodeScalars.map { Cell(value: .Scalar(.String(String($0))), marks: marks) }
      cells.insert(contentsOf: new, at: Int(index))
      objects[object] = .text(cells)
    case .Increment(let object, let prop, let amount):
      guard case .Counter(let count) = try scalar(value(object, prop)) else { throw Missing() }
      try set(object, prop, .Scalar(.Counter(count &+ amount)))
    case .DeleteMap(let object, let key):
      guard case .map(var values) = objects[object], values.removeValue(forKey: key) != nil else { throw Missing() }
      objects[object] = .map(values)
    case .DeleteSeq(let deletion): try delete(deletion)
    case .Marks(let object, let marks):
      guard case .text(var cells) = objects[object] else { throw Missing() }
      for mark in marks {
        guard mark.start < mark.end, mark.end <= UInt64(cells.count) else { throw Missing() }
        for index in Int(mark.start)..<Int(mark.end) {
          cells[index].marks[mark.name] = mark.value == .Null ? nil : mark.value
        }
      }
      objects[object] = .text(cells)
    case .Conflict(let object, let prop): _ = try value(object, prop)
    }
  }

  private mutating func delete(_ deletion: DeleteSeq) throws {
    let range = Int(deletion.index)..<Int(deletion.index + deletion.length)
    switch try require(objects[deletion.obj]) {
    case .list(var values) where range.upperBound <= values.count:
      values.removeSubrange(range)
      objects[deletion.obj] = .list(values)
    case .text(var cells) where range.upperBound <= cells.count:
      cells.removeSubrange(range)
      objects[deletion.obj] = .text(cells)
    case .map, .list, .text: throw Missing()
    }
  }

  private func scalar(_ value: Value) throws -> ScalarValue {
    guard case .Scalar(let scalar) = value else { throw Missing() }
    return scalar
  }
}

extension PatchAction {
  var object: ObjId {
    switch self {
    case .Put(let object, _, _), .Insert(let object, _, _), .SpliceText(let object, _, _, _),
      .Increment(let object, _, _), .DeleteMap(let object, _), .Marks(let object, _), .Conflict(let object, _):
      object
    case .DeleteSeq(let deletion): deletion.obj
    }
  }
}

extension Document {
  /// The content as its reading functions give it.
  func contentTree(_ object: ObjId = .ROOT) throws -> ContentTree {
    func tree(_ value: Value) throws -> ContentTree {
      switch value {
      case .Scalar(let scalar): .scalar(scalar)
      case .Object(let object, _): try contentTree(object)
      }
    }
    switch objectType(obj: object) {
    case .Map:
      var values: [String: ContentTree] = [:]
      for (key, value) in try mapEntries(obj: object) { values[key] = try tree(value) }
      return .map(values)
    case .List: return .list(try values(obj: object).map(tree))
    case .Text:
      let values = try values(obj: object)
      var cells = try values.map { ContentTree.Cell(value: try tree($0), marks: [:]) }
      for mark in try marks(obj: object) {
        for index in Int(mark.start)..<Int(mark.end) {
          if case .Scalar(.String) = values[index] { cells[index].marks[mark.name] = mark.value }
        }
      }
      return .text(cells)
    }
  }
}
