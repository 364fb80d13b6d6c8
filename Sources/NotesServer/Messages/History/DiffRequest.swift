import Automerge
import AutomergeRepo
import JSONRPC

/// `notes/diff`: what has changed in a note between two states, in whole lines.
struct DiffRequest: EditorRequest {
  static let method = "notes/diff"

  let note: NoteReference
  /// Nil for the state that this person saw last.
  let from: Set<ChangeHash>?
  /// Nil for the present state.
  let to: Set<ChangeHash>?
  /// Whether lines for a screen are wanted, and the author of the hunks that have none, if only one person wrote.
  private let wantsLines: Bool
  private let author: String

  init(_ params: Parameters) throws(ResponseError) {
    note = try NoteReference(params)
    from = try params.headsIfPresent("from")
    to = try params.headsIfPresent("to")
    wantsLines = try params.boolIfPresent("lines") ?? false
    author = try params.stringIfPresent("author") ?? ""
  }

  /// What has changed since this person saw the note last.
  init(of key: NoteKey) {
    (note, from, to, wantsLines, author) = (.id(key.document, item: key.item), nil, nil, false, "")
  }

  func perform(for editor: Editor) async throws -> Result {
    let past = try await PastNote(note, editor)
    let document = past.document, now = document.heads()
    // States that another process saw, or that have not arrived yet, are unknown here.
    let seen = past.record.seen.flatMap { document.unknown($0).isEmpty ? $0 : nil } ?? now
    let from = try self.from.map { heads throws(NotesError) in try past.known(heads) } ?? seen
    let to = try self.to.map { heads throws(NotesError) in try past.known(heads) } ?? now
    let (old, new) = (try past.text(at: from), try past.text(at: to))
    var inserted = TextHunk.hunks(of: TextDiff.delta(from: old, to: new, placement: .beforeDeleted)).map(\.range)[...]
    var spans = Spans(past, to: to)
    var places = TextPlaces(of: new, in: editor.client.encoding)
    let hunks = try TextHunk.hunks(of: TextDiff.delta(from: old, to: new, finest: .lines, placement: .beforeDeleted))
      .flatMap { hunk in
        // Both lists ascend.
        inserted = inserted.drop { $0.upperBound <= hunk.range.lowerBound }
        let parts = inserted.prefix { $0.lowerBound < hunk.range.upperBound }.filter { $0.overlaps(hunk.range) }
        return try spans.split(hunk, parts).map { hunk, writer in
          let range = PositionRange(
            start: places.position(of: hunk.range.lowerBound), end: places.position(of: hunk.range.upperBound))
          let isVerified = writer.map { $0.changes.allSatisfy { past.vouching.covers($0, of: document) } } ?? true
          let author = writer.map { past.authors.name(of: $0.actor, isVerified: isVerified) }
          return Hunk(range: range, old: hunk.old, new: hunk.new, author: author, isVerified: isVerified)
        }
      }
    guard wantsLines else { return Result(hunks: hunks, lines: nil) }
    // Of several people, it is unknown who deleted what.
    let people = Set(document.authors(of: to, since: from).map { NoteAuthors.person(of: $0) })
    let other = people.count > 1 ? "" : author
    return Result(hunks: hunks, lines: hunks.flatMap { $0.lines(author: other) })
  }

  /// Who wrote the parts of a state's text.
  @AutomergeRepo
  private struct Spans {
    private let past: PastNote
    private let heads: Set<ChangeHash>
    private let isNow: Bool
    /// Those of a past state, once they are needed.
    private var all: [BlameSpan]?

    init(_ past: PastNote, to heads: Set<ChangeHash>) {
      (self.past, self.heads, isNow) = (past, heads, heads == past.document.heads())
    }

    typealias Writer = (actor: ActorId, changes: Set<ChangeHash>)

    /// A hunk in pieces of whole lines, so that each has one author.
    ///
    /// - Parameter parts: what was inserted in the hunk's range, ascending
    mutating func split(
      _ hunk: TextHunk, _ parts: [Range<Int>]
    ) throws -> [(hunk: TextHunk, writer: Writer?)] {
      var pieces: [(hunk: TextHunk, writer: Writer?)] = [], rest = parts[...]
      var start = hunk.range.lowerBound
      for line in hunk.new.split(separator: 0x0A, omittingEmptySubsequences: false) {
        let end = min(start + line.count + 1, hunk.range.upperBound)
        guard start < end else { break }
        rest = rest.drop { $0.upperBound <= start }
        let writer = try writer(of: rest.prefix { $0.lowerBound < end }.map { $0.clamped(to: start..<end) })
        let text = hunk.new[(start - hunk.range.lowerBound)..<(end - hunk.range.lowerBound)]
        if let last = pieces.last, Self.areOne(last.writer, writer) {
          pieces[pieces.count - 1].hunk.new += text
          pieces[pieces.count - 1].hunk.range = last.hunk.range.lowerBound..<end
          let changes = (last.writer?.changes ?? []).union(writer?.changes ?? [])
          pieces[pieces.count - 1].writer = (last.writer ?? writer).map { ($0.actor, changes) }
        } else {
          let old = pieces.isEmpty ? hunk.old : []
          pieces.append((TextHunk(range: start..<end, old: old, new: Array(text)), writer))
        }
        start = end
      }
      return pieces.isEmpty ? [(hunk, nil)] : pieces
    }

    /// Whether two lines may have been written by one person. A line that is only cut off from another one has no author.
    private static func areOne(_ one: Writer?, _ other: Writer?) -> Bool {
      guard let one, let other else { return true }
      return NoteAuthors.person(of: one.actor) == NoteAuthors.person(of: other.actor)
    }

    /// The author of most of the text in some parts, and the changes that wrote it; nil if the parts are empty.
    mutating func writer(of parts: [Range<Int>]) throws -> Writer? {
      var lengths: [ActorId: Int] = [:], changes: [ActorId: Set<ChangeHash>] = [:]
      for part in parts {
        let part = UInt64(part.lowerBound)..<UInt64(part.upperBound)
        for span in try spans(in: part) {
          let bytes = (span.start..<span.end).clamped(to: part)
          lengths[span.actor, default: 0] += bytes.count
          changes[span.actor, default: []].insert(span.change)
        }
      }
      let most = lengths.max { ($0.value, $1.key) < ($1.value, $0.key) }
      return most.map { ($0.key, changes[$0.key] ?? []) }
    }

    /// - Complexity: O(log n + k) for k of n spans; for a past state, the first time that of all of them
    private mutating func spans(in part: Range<UInt64>) throws -> ArraySlice<BlameSpan> {
      if isNow { return try past.document.blame(obj: past.note.content, in: part)[...] }
      let all = try all ?? past.document.blameAt(obj: past.note.content, heads: heads)
      self.all = all
      var low = 0, high = all.count
      while low < high {
        let middle = (low + high) / 2
        if all[middle].end <= part.lowerBound { low = middle + 1 } else { high = middle }
      }
      return all[low...].prefix { $0.start < part.upperBound }
    }
  }

  struct Hunk {
    /// In the newer text.
    let range: PositionRange
    let old: [UInt8]
    let new: [UInt8]
    /// The author of most of the new text.
    let author: String?
    /// Whether the author's signatures of it are here.
    let isVerified: Bool

    /// As in a unified diff, with the author behind the line's number.
    func lines(author other: String) -> [String] {
      let author = OneLine.shown(author ?? other)
      return ["@@ line \(range.start.line + 1) @@" + (author.isEmpty ? "" : " " + author)]
        + Self.marked("-", old) + Self.marked("+", new)
    }

    private static func marked(_ mark: String, _ text: [UInt8]) -> [String] {
      guard !text.isEmpty else { return [] }
      let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
      return lines.dropLast(text.last == 0x0A ? 1 : 0).map { mark + String(decoding: $0, as: UTF8.self) }
    }

    var json: JSONValue {
      .object(present: [
        "range": range.json, "oldText": .string(String(decoding: old, as: UTF8.self)),
        "newText": .string(String(decoding: new, as: UTF8.self)), "author": author.map(JSONValue.string),
      ])
    }
  }

  struct Result: RequestResult {
    let hunks: [Hunk]
    let lines: [String]?

    var json: JSONValue {
      if let lines { return ["lines": JSONValue(lines)] }
      return ["hunks": .array(hunks.map(\.json))]
    }
  }
}

/// Converts ascending offsets in a text to positions.
private struct TextPlaces {
  private let text: [UInt8]
  private let encoding: PositionEncoding
  private var offset = 0
  private var measure = TextMeasure.zero
  private var lineStart = TextMeasure.zero

  init(of text: [UInt8], in encoding: PositionEncoding) { (self.text, self.encoding) = (text, encoding) }

  mutating func position(of target: Int) -> Position {
    while offset < min(target, text.count) {
      let end = text[offset..<min(target, text.count)].firstIndex(of: 0x0A).map { $0 + 1 } ?? min(target, text.count)
      measure = measure + TextMeasure(of: text[offset..<end])
      if text[end - 1] == 0x0A { lineStart = measure }
      offset = end
    }
    return Position(line: measure.newlines, character: measure[encoding.unit] - lineStart[encoding.unit])
  }
}
