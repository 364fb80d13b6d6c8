import AutomergeRepo
import JSONRPC

/// `workspace/didChangeWatchedFiles`: the editor has noticed that other programs wrote files. Only their paths matter.
struct DidChangeWatchedFilesNotification: EditorNotification {
  static let method = "workspace/didChangeWatchedFiles"

  let uris: [String]

  init(_ params: Parameters) throws(ResponseError) {
    uris = try params.array("changes").map { change throws(ResponseError) in try change.string("uri") }
  }

  func handle(for editor: Editor) {
    for path in uris.flatMap(editor.service.notebook.folder.places) { editor.service.fileChanged(path) }
  }
}
