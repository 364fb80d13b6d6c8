import AutomergeRepo
import JSONRPC

/// `notes/ack`: the client has applied our edits up to `rev`.
struct AckNotification: BufferNotification {
  static let method = "notes/ack"

  let uri: String
  let version: Int
  let rev: Int

  init(_ params: Parameters) throws(ResponseError) {
    version = try params.int("version")
    rev = try params.int("rev")
    uri = try params.string("uri")
  }

  func handle(by binding: BufferBinding) { binding.ack(version: version, rev: rev) }
}
