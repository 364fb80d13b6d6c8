import AutomergeRepo
import JSONRPC

/// `notes/undo`: undoes this person's last typing in a note.
struct UndoRequest: BufferRequest {
  static let method = "notes/undo"

  let parameters: UndoParameters
  var uri: String { parameters.uri }

  init(_ params: Parameters) throws(ResponseError) { parameters = try UndoParameters(params) }

  func perform(on binding: BufferBinding) throws -> UndoResult {
    let count = try binding.undo.go(.undo, parameters.extent)
    return UndoResult(count: count, message: "Nothing of yours to undo.")
  }
}

/// `notes/redo`: redoes what was undone.
struct RedoRequest: BufferRequest {
  static let method = "notes/redo"

  let parameters: UndoParameters
  var uri: String { parameters.uri }

  init(_ params: Parameters) throws(ResponseError) { parameters = try UndoParameters(params) }

  func perform(on binding: BufferBinding) throws -> UndoResult {
    let count = try binding.undo.go(.redo, parameters.extent)
    return UndoResult(count: count, message: "Nothing to redo.")
  }
}

struct UndoParameters {
  private static let maximumSteps = 1_000_000
  private static let maximumSeconds = 1 << 40

  let uri: String
  let extent: UndoHistory.Extent

  init(_ params: Parameters) throws(ResponseError) {
    uri = try params.string("uri")
    _ = (try params.int("version"), try params.int("rev"))
    let steps = max(0, min(Self.maximumSteps, try params.intIfPresent("count") ?? 1))
    let seconds = try params.intIfPresent("seconds").map { max(0, min(Self.maximumSeconds, $0)) }
    extent = seconds.map { .time($0 * 1000) } ?? .steps(steps)
  }
}

struct UndoResult: RequestResult {
  /// How many steps were undone, or redone.
  let count: Int
  /// What to tell the person if there were none.
  let message: String

  var json: JSONValue {
    count > 0
      ? ["applied": true, "count": JSONValue(count)] : ["applied": false, "count": 0, "message": .string(message)]
  }
}
