import AutomergeRepo
import JSONRPC

/// `notes/point`: shows the other people in the note a part of its text.
struct PointRequest: BufferRequest {
  static let method = "notes/point"

  let uri: String
  let version: Int
  let rev: Int
  let range: PositionRange
  let text: String

  init(_ params: Parameters) throws(ResponseError) {
    version = try params.int("version")
    rev = try params.int("rev")
    range = try params.positionRange("range")
    text = try params.stringIfPresent("text") ?? ""
    uri = try params.string("uri")
  }

  func perform(on binding: BufferBinding) throws -> Result {
    try binding.point(version: version, rev: rev, range: range, text: text)
    let own = binding.service.repo.peerId
    let others = binding.service.presenceTracker.people(in: binding.id).filter { PeerId($0.peer).owner != own }
    return Result(names: others.map(\.name))
  }

  /// The people who are shown the part.
  struct Result: RequestResult {
    let names: [String]

    private var message: String {
      names.isEmpty
        ? "No one else is in this note" : "Pointed here for \(names.map(OneLine.shown).joined(separator: ", "))"
    }

    var json: JSONValue {
      ["people": JSONValue(names), "message": .string(message)]
    }
  }
}
