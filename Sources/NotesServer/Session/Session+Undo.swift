import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/undo` and `notes/redo`. They are answered at once, before the editor's next message is looked at: what is typed
/// after them must not be what they take back.
extension Session {
  func undo(_ params: Parameters, _ direction: UndoGroups.Direction) throws(ResponseError) -> JSONValue {
    let uri = try params.string("uri")
    _ = (try params.int("version"), try params.int("rev"))
    guard case .attached(let attachment)? = buffers[uri] else {
      throw NotesError(.notANote, "This file is no note, or is still being opened.").response
    }
    do {
      if try attachment.undo(direction) { return ["applied": true] }
    } catch {
      throw ResponseError(replyingTo: error)
    }
    let message = direction == .undo ? "Nothing of yours to undo." : "Nothing to redo."
    return ["applied": false, "message": .string(message)]
  }
}
