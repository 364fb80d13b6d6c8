import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/history`: who wrote in a note and when, newest first.
struct HistoryRequest: EditorRequest {
  static let method = "notes/history"

  private static let defaultLimit = 100
  private static let maximumRows = 10_000

  let note: NoteReference
  /// The heads of a row; the rows before it are wanted.
  let before: Set<ChangeHash>?
  let limit: Int
  private let params: Parameters

  init(_ params: Parameters) throws(ResponseError) {
    self.params = params
    note = try NoteReference(params)
    limit = min(try params.nonNegativeIntIfPresent("limit") ?? Self.defaultLimit, Self.maximumRows)
    before = try params.headsIfPresent("before")
  }

  func perform(for editor: Editor) async throws -> Result {
    let past = try await PastNote(note, editor)
    let before = try before.map { heads throws(NotesError) in try past.known(heads) }
    var bursts = try past.document.bursts(obj: past.note.content)[...]
    if let before {
      guard let place = bursts.firstIndex(where: { $0.heads == before }) else {
        throw params.invalid("before", "is no state that notes/history has named")
      }
      bursts = bursts[..<place]
    }
    return Result(rows: bursts.suffix(limit).reversed().map { Row($0, past) })
  }

  /// What one author wrote without a pause.
  struct Row {
    let burst: Burst
    let author: String

    @AutomergeRepo
    init(_ burst: Burst, _ past: PastNote) {
      self.burst = burst
      let isVerified = past.vouching.covers(burst.actor, burst.numbers)
      author = past.authors.name(of: burst.actor, isVerified: isVerified)
    }

    private var summary: String {
      let excerpt = burst.excerpt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return burst.message ?? (excerpt.isEmpty ? "\(burst.deleted) characters deleted" : excerpt)
    }

    var json: JSONValue {
      .object(present: [
        "heads": JSONValue(burst.heads.map(\.description).sorted()), "time": JSONValue(burst.end.milliseconds),
        "author": .string(author), "inserted": JSONValue(burst.inserted), "deleted": JSONValue(burst.deleted),
        "message": burst.message.map(JSONValue.string), "summary": .string(summary),
      ])
    }
  }

  struct Result: RequestResult {
    let rows: [Row]

    var json: JSONValue { ["changes": .array(rows.map(\.json))] }
  }
}
