import AutomergeRepo
import JSONRPC

/// A message that we send to the editor: its method, and its parameters as values.
@AutomergeRepo
protocol ServerMessage {
  static var method: String { get }
  var params: JSONValue { get }
}

@AutomergeRepo
protocol ServerNotification: ServerMessage {
  /// The parameters as JSON text.
  var encoded: [UInt8] { get }
}

extension ServerNotification {
  var encoded: [UInt8] { params.encoded() }
}

/// A request of ours; the client's answer may be missing or wrong.
@AutomergeRepo
protocol ServerRequest: ServerMessage {
  associatedtype Answer

  func answer(_ result: JSONValue?) -> Answer
}

extension EditorProtocol {
  /// What we send to editors.
  static let outgoing: [any ServerMessage.Type] = [
    EditNotification.self,
    CheckNotification.self,
    ResyncNotification.self,
    FileKnownNotification.self,
    CursorsNotification.self,
    StatusChangedNotification.self,
    EventNotification.self,
    ShowMessageNotification.self,
    ShowMessageRequest.self,
    ApplyEditRequest.self,
    ShowDocumentRequest.self,
    RefreshHintsRequest.self,
    CreateProgressRequest.self,
    ProgressNotification.self,
  ]
}
