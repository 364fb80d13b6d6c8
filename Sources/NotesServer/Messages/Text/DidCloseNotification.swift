import AutomergeRepo
import JSONRPC

/// `textDocument/didClose`: the editor no longer shows a file.
struct DidCloseNotification: EditorNotification {
  static let method = "textDocument/didClose"

  let uri: String

  init(_ params: Parameters) throws(ResponseError) { uri = try params.object("textDocument").string("uri") }

  func handle(for editor: Editor) { editor.buffers.close(uri) }
}
