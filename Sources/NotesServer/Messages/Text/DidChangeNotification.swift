import AutomergeRepo
import JSONRPC

/// `textDocument/didChange`: the editor's text has changed.
struct DidChangeNotification: EditorNotification {
  static let method = "textDocument/didChange"

  let uri: String
  let version: Int
  /// The last edit of ours that the client had applied before.
  let rev: Int?
  let changes: [ContentChange]

  init(_ params: Parameters) throws(ResponseError) {
    let document = try params.object("textDocument")
    uri = try document.string("uri")
    version = try document.int("version")
    rev = try params.objectIfPresent("notes")?.intIfPresent("rev")
    changes = try params.array("contentChanges").map { change throws(ResponseError) in try ContentChange(change) }
  }

  func handle(for editor: Editor) {
    let changes = editor.client.speaksNotes ? changes : changes.map(\.withLineEndsUnified)
    editor.buffers.change(uri, version: version, rev: rev, changes)
  }
}

extension ContentChange {
  fileprivate init(_ change: Parameters) throws(ResponseError) {
    let text = Array(try change.string("text").utf8)
    self = change.has("range") ? .replace(try change.positionRange("range"), text) : .fullText(text)
  }

  /// Plain clients show a file's own line ends; plugins have converted them.
  fileprivate var withLineEndsUnified: ContentChange {
    switch self {
    case .replace(let range, let text): .replace(range, LineEnds.unified(text))
    case .fullText(let text): .fullText(LineEnds.unified(text))
    case .difference: self
    }
  }
}
