import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/undo` and `notes/redo`. They are answered at once, before the editor's next message is looked at: what is typed
/// after them must not be what they take back. Only right after opening they wait for what was done before.
extension Session {
  private static let mostUndoSteps = 1_000_000

  func undo(_ id: RequestId, _ params: Parameters, _ direction: UndoGroups.Direction) {
    var loading: Task<Void, Never>?
    if let uri = try? params.string("uri"), case .attached(let attachment)? = buffers[uri] {
      loading = attachment.undoLoading
    }
    guard let loading else {
      connection.reply(to: id, Result { () throws(ResponseError) in try undo(params, direction) })
      return
    }
    Task { @AutomergeRepo in
      await loading.value
      connection.reply(to: id, Result { () throws(ResponseError) in try undo(params, direction) })
    }
  }

  private func undo(_ params: Parameters, _ direction: UndoGroups.Direction) throws(ResponseError) -> JSONValue {
    let uri = try params.string("uri")
    _ = (try params.int("version"), try params.int("rev"))
    let steps = max(0, min(Self.mostUndoSteps, try params.intIfPresent("count") ?? 1))
    let seconds = try params.intIfPresent("seconds").map { max(0, min(1 << 40, $0)) }
    guard case .attached(let attachment)? = buffers[uri] else {
      throw NotesError(.notANote, "Not a note, or still opening").response
    }
    do {
      let count = try attachment.undo(direction, seconds.map { .time($0 * 1000) } ?? .steps(steps))
      if count > 0 { return ["applied": true, "count": JSONValue(count)] }
    } catch {
      throw ResponseError(replyingTo: error)
    }
    let message = direction == .undo ? "Nothing of yours to undo." : "Nothing to redo."
    return ["applied": false, "count": 0, "message": .string(message)]
  }
}
