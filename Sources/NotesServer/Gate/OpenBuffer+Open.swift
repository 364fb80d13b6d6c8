extension OpenBuffer {
  /// Opens a buffer with this text, when the document's text grew out of a known base.
  ///
  /// - Parameter base: the delta from the base's text to the document's. The splices make exactly the difference from
  ///   the base's text to `text`, which is what the person did meanwhile.
  static func open(
    version: Int, encoding: PositionEncoding, gate: Gate = .notes, text: [UInt8], base: TextDelta,
    source: some TextSource
  ) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    let buffer = OpenBuffer(version: version, encoding: encoding, gate: gate, base: base)
    let hasAll = buffer.hasWholeDocument(text, source: source)
    return open(
      version: version, encoding: encoding, gate: gate, text: text, exactly: hasAll ? .identity : base, source: source)
  }

  /// The same for a base that is certain: nothing is guessed.
  static func open(
    version: Int, encoding: PositionEncoding, gate: Gate = .notes, text: [UInt8], exactly base: TextDelta,
    source: some TextSource
  ) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    var buffer = OpenBuffer(version: version, encoding: encoding, gate: gate, base: base)
    let outcome = buffer.didChange(version: version, rev: 0, changes: [.fullText(text)], source: source)
    guard case .splices(let splices) = outcome else { return (buffer, []) }
    guard !base.isIdentity else { return (buffer, splices) }
    let document = source.allUTF8
    let old = base.inverted.applied(to: document)
    let merge = LineMerge(base: old, ours: document, theirs: text)
    guard
      let merged = merge.whole(
        insteadOf: buffer.clientToDocument.applied(to: text), by: base,
        and: TextDiff.delta(from: old, to: text))
    else {
      return (buffer, splices)
    }
    func way(from old: [UInt8]) -> TextDelta { TextDiff.delta(from: old, to: merged) }
    return (
      OpenBuffer(version: version, encoding: encoding, gate: gate, base: way(from: text)), way(from: document).splices
    )
  }

  /// Whether the text resembles the document's more than the base's: a client can have had more than the base records.
  /// False if that would treat something that the client lacks as deleted.
  private func hasWholeDocument(_ text: [UInt8], source: some TextSource) -> Bool {
    if unsent.isIdentity { return false }
    let document = source.allUTF8
    let base = unsent.inverted
    let fromDocument = TextDiff.delta(from: document, to: text, placement: .beforeDeleted)
    return !fromDocument.deletesSome(ofDeletedBy: base)
      && fromDocument.changedBytes
        < TextDiff.delta(from: base.applied(to: document), to: text, placement: .beforeDeleted).changedBytes
  }

  /// Opens a buffer whose text has no known base: adds its additional lines to the document, and deletes nothing.
  ///
  /// - Parameter isEarlier: whether the note has had this text at some unknown time
  static func openKeepingBoth(
    version: Int, encoding: PositionEncoding, gate: Gate = .notes, text: [UInt8], isEarlier: Bool = false,
    source: some TextSource
  ) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    let document = source.allUTF8
    let (added, lacking) = union(of: document, text, isEarlier: isEarlier)
    return (OpenBuffer(version: version, encoding: encoding, gate: gate, base: lacking), added.splices)
  }

  /// What the document lacks of the union of both, and what the text lacks of it. Compares whole lines; a last line is
  /// the same with or without a line feed. A document that has grown out of the text, and only has more before, between
  /// and after its lines, lacks nothing.
  private static func union(
    of document: [UInt8], _ text: [UInt8], isEarlier: Bool
  ) -> (added: TextDelta, lacking: TextDelta) {
    if document == text { return (.identity, .identity) }
    if document.isEmpty || text.isEmpty {
      return TextDiff.delta(from: document, to: text, placement: .beforeDeleted).keepingBoth
    }
    if isEarlier {
      let more = TextDiff.delta(from: text, to: document, placement: .beforeDeleted)
      if more.keepsLines(of: text) { return (.identity, more) }
    }
    func ending(_ bytes: [UInt8]) -> TextDelta {
      TextDelta(utf8Offset: bytes.count, deleted: [], inserted: bytes.last == 0x0A ? [] : [0x0A])
    }
    let (documentEnd, textEnd) = (ending(document), ending(text))
    let both = TextDiff.delta(
      from: documentEnd.applied(to: document), to: textEnd.applied(to: text), finest: .lines, placement: .beforeDeleted
    ).keepingBoth
    return (documentEnd.composed(with: both.added), textEnd.composed(with: both.lacking))
  }
}
