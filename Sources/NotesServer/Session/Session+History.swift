import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The requests about the past, and the one that restores it.
extension Editor {
  private static let defaultHistoryLimit = 100
  private static let mostHistoryRows = 10_000
  /// Neighbouring stretches that one author wrote within this time, in seconds, count as one.
  private static let blamePause: TimeInterval = 120

  // MARK: Looking back

  func history(_ params: Parameters) async throws -> JSONValue {
    let (_, note, vouching) = try await pastNote(params)
    let limit = min(try params.nonNegativeIntIfPresent("limit") ?? Self.defaultHistoryLimit, Self.mostHistoryRows)
    let before = params.has("before") ? try heads(params, "before", in: note.document) : nil
    let authors = authors(of: note)
    var bursts = try note.document.bursts(obj: note.content)[...]
    if let before {
      guard let place = bursts.firstIndex(where: { $0.heads == before }) else {
        throw params.invalid("before", "is no state that notes/history has named")
      }
      bursts = bursts[..<place]
    }
    return ["changes": .array(bursts.suffix(limit).reversed().map { row($0, authors, vouching) })]
  }

  private func row(_ burst: Burst, _ authors: NoteAuthors, _ vouching: ChangeVouching) -> JSONValue {
    let excerpt = burst.excerpt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let summary =
      burst.message ?? (excerpt.isEmpty ? "\(burst.deleted) characters deleted" : excerpt)
    return .object(present: [
      "heads": json(burst.heads), "time": .int(Int64(burst.end.milliseconds)),
      "author": .string(authors.name(of: burst.actor, isVerified: vouching.covers(burst.actor, burst.numbers))),
      "inserted": JSONValue(burst.inserted), "deleted": JSONValue(burst.deleted),
      "message": burst.message.map(JSONValue.string),
      "summary": .string(summary),
    ])
  }

  func textAt(_ params: Parameters) async throws -> JSONValue {
    let (_, note, _) = try await pastNote(params)
    let heads = try heads(params, "heads", in: note.document)
    return ["text": .string(try note.document.textAt(obj: note.content, heads: heads))]
  }

  func diff(_ params: Parameters) async throws -> JSONValue {
    let (record, note, vouching) = try await pastNote(params)
    let document = note.document, now = document.heads()
    let from: Set<ChangeHash>
    if params.has("from") {
      from = try heads(params, "from", in: document)
    } else {
      // What another process saw, or has not arrived yet, is unknown here.
      from = record.seen.flatMap { document.unknown($0).isEmpty ? $0 : nil } ?? now
    }
    let to = params.has("to") ? try heads(params, "to", in: document) : now
    let (old, new) = (
      Array(try document.textAt(obj: note.content, heads: from).utf8),
      Array(try document.textAt(obj: note.content, heads: to).utf8)
    )
    let hunks = TextHunk.hunks(of: TextDiff.delta(from: old, to: new, finest: .lines))
    let writers = to == now ? try document.blame(obj: note.content) : []
    let inserted = TextHunk.hunks(of: TextDiff.delta(from: old, to: new)).map(\.range)
    let authors = authors(of: note)
    var places = TextPlaces(of: new, in: client.encoding)
    return [
      "hunks": .array(
        hunks.map { hunk in
          .object(present: [
            "range": PositionRange(
              start: places.position(of: hunk.range.lowerBound), end: places.position(of: hunk.range.upperBound)
            ).json,
            "oldText": .string(String(decoding: hunk.old, as: UTF8.self)),
            "newText": .string(String(decoding: hunk.new, as: UTF8.self)),
            "author": writer(of: inserted.filter { $0.overlaps(hunk.range) }, writers).map { actor, changes in
              let isVerified = changes.allSatisfy { vouching.covers($0, of: document) }
              return .string(authors.name(of: actor, isVerified: isVerified))
            },
          ])
        })
    ]
  }

  /// The author of most of some parts, and the changes that wrote it; nil if the parts are empty.
  private func writer(of parts: [Range<Int>], _ spans: [BlameSpan]) -> (actor: ActorId, changes: Set<ChangeHash>)? {
    var lengths: [ActorId: Int] = [:], changes: [ActorId: Set<ChangeHash>] = [:]
    for span in spans {
      for part in parts {
        let length = min(part.upperBound, Int(span.end)) - max(part.lowerBound, Int(span.start))
        guard length > 0 else { continue }
        lengths[span.actor, default: 0] += length
        changes[span.actor, default: []].insert(span.change)
      }
    }
    let most = lengths.max { ($0.value, $1.key) < ($1.value, $0.key) }
    return most.map { ($0.key, changes[$0.key] ?? []) }
  }

  func blame(_ params: Parameters) async throws -> JSONValue {
    let range = try params.positionRange("range")
    let (record, note, vouching) = try await pastNote(params)
    let source = DocumentText(note)
    let attached = buffers.attachment(at: record.key)
    let part = attached?.documentRange(of: range) ?? source.utf8Range(of: range, in: client.encoding)
    let authors = authors(of: note), colors = colors(in: record.id)
    var spans: [(start: Int, end: Int, actor: ActorId, isVerified: Bool, time: Date)] = []
    for span in try note.document.blame(obj: note.content) {
      let (start, end) = (max(part.lowerBound, Int(span.start)), min(part.upperBound, Int(span.end)))
      guard start < end else { continue }
      let isVerified = vouching.covers(span.change, of: note.document)
      if let last = spans.last, last.actor == span.actor, last.isVerified == isVerified, last.end == start,
        abs(last.time.timeIntervalSince(span.timestamp)) <= Self.blamePause
      {
        spans[spans.count - 1].end = end
        spans[spans.count - 1].time = max(last.time, span.timestamp)
      } else {
        spans.append((start, end, span.actor, isVerified, span.timestamp))
      }
    }
    func position(_ offset: Int) -> Position {
      attached?.clientPosition(ofDocument: offset) ?? source.position(utf8Offset: offset, in: client.encoding)
    }
    return [
      "spans": .array(
        spans.map { span in
          let name = authors.name(of: span.actor, isVerified: true)
          return [
            "range": PositionRange(start: position(span.start), end: position(span.end)).json,
            "author": .string(authors.name(of: span.actor, isVerified: span.isVerified)),
            "time": .int(Int64(span.time.milliseconds)),
            "color": JSONValue(colors[name] ?? Palette.color(of: NoteAuthors.person(of: span.actor))),
          ]
        })
    ]
  }

  private func authors(of note: NoteDocument) -> NoteAuthors {
    NoteAuthors(of: note, own: (service.identity.person, service.identity.name)) { [sharing = service.sharing] in
      sharing.metName(ofAuthor: $0)
    }
  }

  private func colors(in id: DocumentId) -> [String: Int] {
    Dictionary(service.company.people(in: id).map { ($0.name, $0.mark.color) }) { first, _ in first }
  }

  // MARK: Restoring

  func restore(_ params: Parameters) async throws -> JSONValue {
    let (record, note, _) = try await pastNote(params)
    try service.checkMayWrite(record.id)
    let heads = try heads(params, "heads", in: note.document)
    let source = DocumentText(note), attached = buffers.attachment(at: record.key)
    let old = Array(try note.document.textAt(obj: note.content, heads: heads).utf8)
    var delta = TextDiff.delta(from: source.allUTF8, to: old)
    if let range = try params.positionRangeIfPresent("range") {
      delta = delta.limited(
        to: attached?.documentRange(of: range) ?? source.utf8Range(of: range, in: client.encoding))
    }
    if let attached {
      try attached.restore(delta.splices)
    } else {
      let handle = try await find(record.id)
      try handle.change { document in
        for splice in delta.splices {
          try document.spliceText(
            obj: note.content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
        }
      }
      service.notebook.update(record.key) { $0.modified = service.clock.date }
      service.caretaker.examineAll(of: record.id)
      try await service.caretaker.synchronize(handle)
    }
    return [:]
  }

  // MARK: Parts

  /// A note, and which of its changes are vouched for.
  private func pastNote(_ params: Parameters) async throws -> (NoteRecord, NoteDocument, ChangeVouching) {
    guard let record = try target(params) else { throw NotesError(.notANote, "This is not a note.") }
    let handle = try await find(record.id)
    guard let note = NoteDocument(handle.document, item: record.item) else {
      throw NotesError(.notANote, "The document \(record.id) holds no text.")
    }
    return (record, note, handle.vouching())
  }

  private func json(_ heads: Set<ChangeHash>) -> JSONValue { JSONValue(heads.map(\.description).sorted()) }

  /// Heads in hexadecimal, all known here.
  private func heads(_ params: Parameters, _ field: String, in document: Document) throws -> Set<ChangeHash> {
    guard let texts = try params.stringsIfPresent(field) else { throw params.invalid(field, "is missing") }
    var heads: Set<ChangeHash> = []
    for text in texts {
      guard let hash = ChangeHash(hexadecimal: text) else { throw params.invalid(field, "must be hashes of changes") }
      heads.insert(hash)
    }
    guard document.unknown(heads).isEmpty else {
      throw NotesError(.notFound, "This state of the note is not known here.")
    }
    return heads
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

extension TextSource {
  /// A part as UTF-8 offsets; empty if it ends before it starts.
  func utf8Range(of range: PositionRange, in encoding: PositionEncoding) -> Range<Int> {
    let start = utf8Offset(of: range.start, in: encoding)
    return start..<max(start, utf8Offset(of: range.end, in: encoding))
  }
}

extension ChangeHash {
  /// 64 hexadecimal digits, as `description` has them.
  fileprivate init?(hexadecimal text: String) {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    self.init(bytes: stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) })
  }
}
