import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/history`: who wrote in a note and when, newest first; with a `width`, as lines for a screen.
struct HistoryRequest: EditorRequest {
  static let method = "notes/history"

  private static let defaultLimit = 100
  private static let maximumRows = 10_000
  /// The longest part of a change's message that is shown; a peer may have written it.
  private static let maximumMessageScalars = 200

  let note: NoteReference
  /// The heads of a row, to get the rows before it.
  let before: Set<ChangeHash>?
  let limit: Int
  /// The width of the screen, if lines are wanted.
  let width: Int?
  private let params: Parameters

  init(_ params: Parameters) throws(ResponseError) {
    self.params = params
    width = try params.widthIfPresent()
    note = try NoteReference(params)
    limit = min(try params.nonNegativeIntIfPresent("limit") ?? Self.defaultLimit, Self.maximumRows)
    before = try params.headsIfPresent("before")
  }

  func perform(for editor: Editor) async throws -> Result {
    let past = try await PastNote(note, editor)
    let before = try before.map { heads throws(NotesError) in try past.known(heads) }
    let (document, text) = (past.document, past.note.content)
    guard let shown = try document.bursts(obj: text, before: before, limit: limit) else {
      throw params.invalid("before", "is not a state that notes/history returned")
    }
    let rows = shown.reversed().map { Row($0, past) }
    guard let width else { return Result(rows: rows, screen: nil) }
    let screen = HistoryScreen(time: ScreenTime(now: editor.service.clock.date))
    return Result(rows: [], screen: ScreenAnswer(screen.table(of: rows, width: width)))
  }

  /// What one author wrote without a pause.
  struct Row {
    let burst: Burst
    let author: String
    /// The text as one line of limited length.
    let message: String?

    @AutomergeRepo
    init(_ burst: Burst, _ past: PastNote) {
      self.burst = burst
      let isVerified = past.vouching.covers(burst.actor, burst.numbers)
      author = past.authors.name(of: burst.actor, isVerified: isVerified)
      message = burst.message.map {
        OneLine.shown(String(String.UnicodeScalarView($0.unicodeScalars.prefix(maximumMessageScalars))))
      }
    }

    private var summary: String {
      let excerpt = burst.excerpt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      return message ?? (excerpt.isEmpty ? "\(burst.deleted) characters deleted" : excerpt)
    }

    var json: JSONValue {
      .object(present: [
        "heads": JSONValue(burst.heads.map(\.description).sorted()),
        "from": JSONValue(burst.before.map(\.description).sorted()), "time": JSONValue(burst.end.milliseconds),
        "author": .string(author), "inserted": JSONValue(burst.inserted), "deleted": JSONValue(burst.deleted),
        "message": message.map(JSONValue.string), "summary": .string(summary),
      ])
    }
  }

  struct Result: RequestResult {
    let rows: [Row]
    let screen: ScreenAnswer?

    var json: JSONValue { get throws { try screen?.json ?? ["changes": .array(rows.map(\.json))] } }
  }
}
