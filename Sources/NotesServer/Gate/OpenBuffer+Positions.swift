import Automerge

extension OpenBuffer {
  /// The document's offset of a place in the client's text: directly after the element before it.
  ///
  /// The client's text is that of the last version and rev that it named; pass those of the message to `acknowledge`
  /// first.
  /// - Complexity: O(s · log n), s the segments of what the client lacks
  func documentOffset(ofClient position: Position, source: some TextSource) -> Int {
    let lacking = clientToDocument
    let text = TextView(of: source, through: lacking.inverted)
    return lacking.map(text.utf8Offset(of: position, in: encoding))
  }

  /// The position of a place of the document in the text that the client has once everything that was sent has arrived.
  /// Text that the client then lacks has no width. Belongs to `version` and `lastSentRev`.
  func clientPosition(ofDocument utf8Offset: Int, source: some TextSource) -> Position {
    let back = lackingInClientText.inverted
    if back.isIdentity { return source.position(utf8Offset: utf8Offset, in: encoding) }
    return TextView(of: source, through: back).position(utf8Offset: back.map(utf8Offset), in: encoding)
  }

  /// The length of the client's text at `version` and `lastSentRev`, in UTF-8 bytes, for `notes/check`.
  func clientByteCount(source: some TextSource) -> Int { source.measure.utf8 - lackingInClientText.growth }

  /// The client's text at `version` and `lastSentRev`.
  /// - Complexity: O(n)
  func clientText(source: some TextSource) -> [UInt8] { clientView(of: source).allUTF8 }

  /// The same text, without building it.
  func clientView<Source: TextSource>(of source: Source) -> TextView<Source> {
    TextView(of: source, through: lackingInClientText.inverted)
  }

  /// What a client lacks that has received everything that was sent. A plain client has an edit only when it has shown
  /// it.
  private var lackingInClientText: TextDelta { gate == .plain ? clientToDocument : unsent }

  /// The replacements for a delta that leads to the document's text, in the text before it.
  func replacements(of delta: TextDelta, source: some TextSource) -> [BufferEdit.Replacement] {
    var result: [BufferEdit.Replacement] = []
    var place = PositionWalker(unit: encoding.unit)
    var open: BufferEdit.Replacement?
    var offset = 0
    for segment in delta.segments {
      switch segment {
      case .retain(let count):
        if let replacement = open { result.append(replacement) }
        open = nil
        place.pass(source, from: source.measure(utf8Offset: offset), to: source.measure(utf8Offset: offset + count))
        offset += count
      case .insert(let piece):
        open = open ?? .init(range: PositionRange(start: place.position, end: place.position), newText: [])
        open?.newText += piece.bytes
        offset += piece.count
      case .delete(let piece):
        open = open ?? .init(range: PositionRange(start: place.position, end: place.position), newText: [])
        place.pass(piece)
        open?.range.end = place.position
      }
    }
    if let replacement = open { result.append(replacement) }
    return result
  }
}

/// Counts lines and columns along stretches of text.
private struct PositionWalker {
  let unit: TextUnit
  private(set) var position = Position(line: 0, character: 0)

  init(unit: TextUnit) { self.unit = unit }

  mutating func pass(_ piece: TextPiece) {
    position.line += piece.measure.newlines
    if let newline = piece.bytes.lastIndex(of: 0x0A) {
      position.character = TextMeasure(of: piece.bytes[(newline + 1)...])[unit]
    } else {
      position.character += piece.measure[unit]
    }
  }

  mutating func pass(_ source: some TextSource, from start: TextMeasure, to end: TextMeasure) {
    position.line += end.newlines - start.newlines
    if end.newlines > start.newlines, let lineStart = source.measure(line: end.newlines) {
      position.character = end[unit] - lineStart[unit]
    } else {
      position.character += end[unit] - start[unit]
    }
  }
}
