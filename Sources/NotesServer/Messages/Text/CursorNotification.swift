import AutomergeRepo
import JSONRPC

/// `notes/cursor`: the present places of this person's carets and selections.
struct CursorNotification: BufferNotification {
  static let method = "notes/cursor"

  let uri: String
  let version: Int
  let rev: Int
  /// The caret is at the end of each.
  let ranges: [PositionRange]

  init(_ params: Parameters) throws(ResponseError) {
    version = try params.int("version")
    rev = try params.int("rev")
    ranges = try params.array("ranges").map { range throws(ResponseError) in try PositionRange(range) }
    uri = try params.string("uri")
  }

  func handle(by binding: BufferBinding) { binding.cursor(version: version, rev: rev, ranges: ranges) }
}
