import AutomergeRepo
import JSONRPC

/// `notes/event`: another person's action, or an event of a note. Other processes of this person pass on the same
/// parameters.
struct EventNotification: ServerNotification {
  static let method = "notes/event"

  let params: JSONValue
}

/// `notes/statusChanged`: what `notes/status` would answer now.
struct StatusChangedNotification: ServerNotification {
  static let method = "notes/statusChanged"

  let uri: String
  /// The JSON of a `NoteStatus`.
  let status: JSONValue

  var params: JSONValue {
    guard case .object(var members) = status else { return status }
    members["uri"] = .string(uri)
    return .object(members)
  }
}

/// `window/showMessage`: a line for the person.
struct ShowMessageNotification: ServerNotification {
  static let method = "window/showMessage"

  /// LSP's `MessageType`.
  enum Kind: Int { case error = 1, warning, info }

  let kind: Kind
  let message: String

  var params: JSONValue { ["type": JSONValue(kind.rawValue), "message": .string(message)] }
}

/// `window/showDocument`: has the client show a file.
struct ShowDocumentRequest: ServerRequest {
  static let method = "window/showDocument"

  let uri: String

  var params: JSONValue { ["uri": .string(uri), "takeFocus": true] }

  /// Whether the client says that it shows the file.
  func answer(_ result: JSONValue?) -> Bool { result?["success"]?.boolValue ?? false }
}

/// `workspace/inlayHint/refresh`: other people's carets have moved.
struct RefreshHintsRequest: ServerRequest {
  static let method = "workspace/inlayHint/refresh"

  var params: JSONValue { .null }

  func answer(_ result: JSONValue?) {}
}

/// `window/showMessageRequest`: a question to the person, whose answers are buttons.
struct ShowMessageRequest: ServerRequest {
  static let method = "window/showMessageRequest"

  let message: String
  let actions: [String]

  var params: JSONValue {
    [
      "type": JSONValue(ShowMessageNotification.Kind.info.rawValue), "message": .string(message),
      "actions": .array(actions.map { ["title": .string($0)] }),
    ]
  }

  enum Answer: Hashable {
    /// The button that the person chose.
    case chosen(String)
    case none
    /// The client cannot ask: Helix 25.01 does not know the request.
    case notAsked
  }

  func answer(_ result: JSONValue?) -> Answer {
    guard let result else { return .notAsked }
    guard let title = result["title"]?.stringValue, actions.contains(title) else { return .none }
    return .chosen(title)
  }
}
