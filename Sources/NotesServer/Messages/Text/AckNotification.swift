import AutomergeRepo
import JSONRPC

/// `notes/ack`: the client has applied our edits up to `rev`. It may ask for the carets again if the service sent them
/// before it knew of the client's last change.
struct AckNotification: BufferNotification {
  static let method = "notes/ack"

  let uri: String
  let version: Int
  let rev: Int
  let wantsCarets: Bool

  init(_ params: Parameters) throws(ResponseError) {
    version = try params.int("version")
    rev = try params.int("rev")
    wantsCarets = try params.boolIfPresent("carets") ?? false
    uri = try params.string("uri")
  }

  func handle(by binding: BufferBinding) { binding.ack(version: version, rev: rev, wantsCarets: wantsCarets) }
}
