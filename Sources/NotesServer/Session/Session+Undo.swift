import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/undo` and `notes/redo`. Carried out at once, before the editor's next message is read: they must not undo what is
/// typed after them. While a note is being opened they wait for it, and for its stored undo history.
extension Session {
  private static let mostUndoSteps = 1_000_000

  func undo(_ id: RequestId, _ params: Parameters, _ direction: UndoGroups.Direction) {
    let uri = try? params.string("uri")
    if let uri, case .opening(let opening)? = buffers[uri] {
      return undo(id, params, direction, whenOpen: opening, uri)
    }
    var loading: Task<Void, Never>?
    if let uri, case .attached(let attachment)? = buffers[uri] { loading = attachment.undoLoading }
    guard let loading else {
      connection.reply(to: id, Result { () throws(ResponseError) in try undo(params, direction) })
      return
    }
    Task { @AutomergeRepo in
      await loading.value
      connection.reply(to: id, Result { () throws(ResponseError) in try undo(params, direction) })
    }
  }

  /// In order with the editor's other messages, or with an error if the note cannot be opened.
  private func undo(
    _ id: RequestId, _ params: Parameters, _ direction: UndoGroups.Direction, whenOpen opening: Opening, _ uri: String
  ) {
    var isAnswered = false
    let answer = { @AutomergeRepo [weak self] in
      guard !isAnswered else { return }
      isAnswered = true
      self?.undo(id, params, direction)
    }
    var opening = opening
    opening.waiting.append { _ in answer() }
    buffers[uri] = .opening(opening)
    let task = openings[opening.number]
    Task { @AutomergeRepo in
      await task?.value
      answer()
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
