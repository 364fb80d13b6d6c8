import AutomergeRepo
import JSONRPC

/// `window/workDoneProgress/create`: asks a plain client whether it shows progress under this token.
struct CreateProgressRequest: ServerRequest {
  static let method = "window/workDoneProgress/create"

  let token: String

  var params: JSONValue { ["token": .string(token)] }

  /// Whether the client has accepted.
  func answer(_ result: JSONValue?) -> Bool { result != nil }
}

/// `$/progress`: the state of a piece of work.
struct ProgressNotification: ServerNotification {
  static let method = "$/progress"

  enum State: Hashable {
    case begin(WorkProgress.Work)
    case report(WorkProgress.Work)
    case end
  }

  let token: String
  let state: State

  var params: JSONValue { ["token": .string(token), "value": value] }

  /// A report repeats unchanged members, because Neovim 0.7 would forget them.
  private var value: JSONValue {
    switch state {
    case .begin(let work):
      .object(present: [
        "kind": "begin", "title": .string(work.title), "cancellable": false,
        "message": work.message.map { .string($0) },
        "percentage": work.percent.map { JSONValue($0) },
      ])
    case .report(let work):
      .object(present: [
        "kind": "report", "cancellable": false, "message": work.message.map { .string($0) },
        "percentage": work.percent.map { JSONValue($0) },
      ])
    case .end: ["kind": "end"]
    }
  }
}
