@testable import Automerge

/// Reading documents in expectations: paths in the form of `AnyCodingKey.parsePath`.
extension Document {
  /// What stands at a path; nil if nothing does.
  func at(_ path: String) throws -> Value? {
    let steps = try AnyCodingKey.parsePath(path)
    guard let last = steps.last else { return .Object(.ROOT, .Map) }
    var object = ObjId.ROOT
    for step in steps.dropLast() {
      guard case .Object(let next, _)? = try found(step, of: object) else { return nil }
      object = next
    }
    return try found(last, of: object)
  }

  private func found(_ step: AnyCodingKey, of object: ObjId) throws -> Value? {
    if let index = step.intValue { return try get(obj: object, index: UInt64(index)) }
    return try get(obj: object, key: step.stringValue)
  }

  /// The text at a path; nil if there is none.
  func text(at path: String) throws -> String? {
    guard case .Object(let object, .Text)? = try at(path) else { return nil }
    return try text(obj: object)
  }

  /// How many operations this makes.
  func operations(_ body: () throws -> Void) rethrows -> Int {
    let before = operationCount
    try body()
    return operationCount - before
  }

  private var operationCount: Int {
    withCore { core in
      core.commitPending()
      return Int(core.graph.maxOp)
    }
  }
}
