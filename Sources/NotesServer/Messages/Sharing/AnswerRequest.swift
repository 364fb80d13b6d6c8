import AutomergeRepo
import JSONRPC

/// `notes/answer`: accepts or declines an invitation, or confirms the digits of this person's own one. Answered when
/// the text is here.
struct AnswerRequest: NetworkRequest {
  static let method = "notes/answer"

  let invitation: String
  let accepts: Bool
  /// Whether the peer may not invite again.
  let blocks: Bool

  init(_ params: Parameters) throws(ResponseError) {
    invitation = try params.string("invitation")
    blocks = try params.boolIfPresent("block") ?? false
    accepts = try params.bool("accept") && !blocks
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let id = try await service.receiving {
      try await service.sharing.answer(invitation, accepts: accepts, blocks: blocks)
    }
    guard let id else { return Result(place: nil) }
    return Result(place: try await NoteOpener(service: service).placeOfArrival(id))
  }

  struct Result: RequestResult {
    /// The note that this person was invited to; nil if there is nothing to open.
    let place: NotePlace?

    var json: JSONValue { place?.json ?? [:] }
  }
}
