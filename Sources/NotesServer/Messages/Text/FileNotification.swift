import AutomergeRepo
import JSONRPC

/// `notes/file`: the editor is about to overwrite a file that another program wrote, and sends what it found there.
struct FileNotification: BufferNotification {
  static let method = "notes/file"

  let uri: String
  let text: [UInt8]

  init(_ params: Parameters) throws(ResponseError) {
    text = Array(try params.string("text").utf8)
    uri = try params.string("uri")
  }

  func handle(by binding: BufferBinding) { binding.file.found(text) }
}
