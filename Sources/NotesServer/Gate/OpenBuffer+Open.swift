extension OpenBuffer {
  /// Opens a buffer whose text is `text` where the document's text grew out of a known base.
  ///
  /// - Parameter base: what turned the base's text into the document's text. The difference from the base to `text` is what
  ///   the person did meanwhile, and is all that the splices do.
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
    return (buffer, splices)
  }

  /// True if the text is better explained as the document's, and something done to that, than as the base's: a client can
  /// have had more than the base records. Never if that would take something it lacks for deleted.
  private func hasWholeDocument(_ text: [UInt8], source: some TextSource) -> Bool {
    if unsent.isIdentity { return false }
    let document = source.allUTF8
    let base = unsent.inverted
    let fromDocument = TextDiff.delta(from: document, to: text)
    return !fromDocument.deletesSome(ofDeletedBy: base)
      && fromDocument.changedBytes < TextDiff.delta(from: base.applied(to: document), to: text).changedBytes
  }

  /// Opens a buffer whose text has no known base: the lines it has more go into the document, and nothing
  /// is deleted.
  ///
  /// - Parameter isEarlier: whether the text is one that the note has had, though it is unknown when
  static func openKeepingBoth(
    version: Int, encoding: PositionEncoding, gate: Gate = .notes, text: [UInt8], isEarlier: Bool = false,
    source: some TextSource
  ) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    let document = source.allUTF8
    let (added, lacking) = union(of: document, text, isEarlier: isEarlier)
    return (OpenBuffer(version: version, encoding: encoding, gate: gate, base: lacking), added.splices)
  }

  /// What the document lacks of the union of both, and what the text lacks of it. Compared by whole lines; if only a line
  /// feed is missing at the end of one, the last line is still the same. A document that has grown out of the text, and only has
  /// more before, between and behind its lines, lacks nothing.
  private static func union(
    of document: [UInt8], _ text: [UInt8], isEarlier: Bool
  ) -> (added: TextDelta, lacking: TextDelta) {
    if document == text { return (.identity, .identity) }
    if document.isEmpty || text.isEmpty { return TextDiff.delta(from: document, to: text).keepingBoth }
    if isEarlier {
      let more = TextDiff.delta(from: text, to: document)
      if more.keepsLines(of: text) { return (.identity, more) }
    }
    func ending(_ bytes: [UInt8]) -> TextDelta {
      TextDelta(utf8Offset: bytes.count, deleted: [], inserted: bytes.last == 0x0A ? [] : [0x0A])
    }
    let (documentEnd, textEnd) = (ending(document), ending(text))
    let both = TextDiff.delta(
      from: documentEnd.applied(to: document), to: textEnd.applied(to: text), finest: .lines
    ).keepingBoth
    return (documentEnd.composed(with: both.added), textEnd.composed(with: both.lacking))
  }
}
