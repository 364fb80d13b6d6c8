import JSONRPC

/// A place in a buffer as LSP's requests name it: `textDocument` and `position`.
struct DocumentPosition {
  let uri: String
  let position: Position

  init(_ params: Parameters) throws(ResponseError) {
    uri = try params.documentURI()
    position = try Position(params.object("position"))
  }
}

extension Parameters {
  /// The `uri` of `textDocument`.
  func documentURI() throws(ResponseError) -> String { try object("textDocument").string("uri") }
}
