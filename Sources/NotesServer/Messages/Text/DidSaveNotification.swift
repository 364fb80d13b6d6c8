import AutomergeRepo
import JSONRPC

/// `textDocument/didSave`: the editor has written a note's working file.
struct DidSaveNotification: BufferNotification {
  static let method = "textDocument/didSave"

  let uri: String

  init(_ params: Parameters) throws(ResponseError) { uri = try params.object("textDocument").string("uri") }

  func handle(by binding: BufferBinding) { binding.didSave() }
}
