import AutomergeRepo
import JSONRPC

/// `shutdown`: stores everything.
struct ShutdownRequest: EditorMessage {
  static let method = "shutdown"

  init(_ params: Parameters) {}
}
