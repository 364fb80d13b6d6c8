import AutomergeRepo
import JSONRPC

/// `exit`: stores everything, and ends the process.
struct ExitNotification: EditorMessage {
  static let method = "exit"

  init(_ params: Parameters) {}
}
