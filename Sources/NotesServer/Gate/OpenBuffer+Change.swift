extension OpenBuffer {
  /// Takes in a client's batch of changes.
  ///
  /// - Parameters:
  ///   - rev: the last edit that the client had applied when it made them; ignored for a plain client
  ///   - source: the document's text, before the splices
  /// - Complexity: O(c · s · log n), c changes, s the segments of what the client lacks; a full text costs a diff
  mutating func didChange(
    version: Int, rev: Int?, changes: [ContentChange], source: some TextSource
  ) -> ChangeOutcome {
    let repair = changes.lastIndex { if case .fullText = $0 { true } else { false } }
    if repair == nil {
      if awaitsFullText { return .ignored }
      if let contradiction = contradiction(version: version, rev: rev) {
        return .resync(resync(contradiction).contradiction)
      }
    }
    if gate == .notes, let rev {
      // A full text is taken whatever it names: what the client says it has applied, it has.
      fold(through: rev)
      acknowledgedRev = min(max(0, rev), Self.greatestRev)
      lastSentRev = max(lastSentRev, acknowledgedRev)
    }

    let lacking = clientToDocument
    var change = TextDelta.identity
    var documentToClient = lacking.inverted
    for entry in changes[(repair ?? 0)...] {
      let text = TextView(of: source, through: documentToClient)
      let step: TextDelta
      switch entry {
      case .fullText(let new): step = TextDiff.delta(from: text.allUTF8, to: new)
      case .replace(let range, let new):
        let start = text.utf8Offset(of: range.start, in: encoding)
        let end = text.utf8Offset(of: range.end, in: encoding)
        guard start <= end else { return .resync(resync(.range(range)).contradiction) }
        step = TextDelta(utf8Offset: start, deleted: text.utf8(start..<end), inserted: new).refined
      }
      change = change.composed(with: step)
      documentToClient = documentToClient.composed(with: step)
    }

    let (mine, theirs) = change.transformed(over: lacking)
    unsentCause = commonCause(of: inFlight)
    inFlight = []
    unsent = theirs
    self.version = version
    awaitsFullText = false
    return .splices(mine.splices)
  }

  /// The greatest integer that every JSON reader can hold.
  private static let greatestRev = 1 << 53

  /// What dropped edits and the unsent one have as their cause; `remote` if they differ.
  private func commonCause(of dropped: [InFlight]) -> EditCause {
    let causes = Set(dropped.map(\.cause) + (unsent.isIdentity ? [] : [unsentCause]))
    return causes.count == 1 ? causes.first ?? .remote : .remote
  }

  private func contradiction(version: Int, rev: Int?) -> Contradiction? {
    switch gate {
    case .plain: return version > self.version ? nil : .version(version, expected: self.version &+ 1)
    case .notes:
      guard version == self.version &+ 1 else { return .version(version, expected: self.version &+ 1) }
      guard let rev, isApplicable(rev) else { return .rev(rev, lastSent: lastSentRev) }
      return nil
    }
  }

  // MARK: - Opening

  /// Opens a buffer whose text is `text` where the document's text grew out of a known base.
  ///
  /// - Parameter base: what turned the base's text into the document's text. The difference from the base to `text` is what
  ///   the person did meanwhile, and is all that the splices do.
  static func open(
    version: Int, encoding: PositionEncoding, gate: Gate = .notes, text: [UInt8], base: TextDelta,
    source: some TextSource
  ) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    var buffer = OpenBuffer(version: version, encoding: encoding, gate: gate, base: base)
    let outcome = buffer.didChange(version: version, rev: 0, changes: [.fullText(text)], source: source)
    guard case .splices(let splices) = outcome else { return (buffer, []) }
    return (buffer, splices)
  }

  /// Opens a buffer whose text has no known base: what it has more goes into the document, and nothing is deleted.
  static func openKeepingBoth(
    version: Int, encoding: PositionEncoding, gate: Gate = .notes, text: [UInt8], source: some TextSource
  ) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    let (added, lacking) = TextDiff.delta(from: source.allUTF8, to: text).keepingBoth
    return (OpenBuffer(version: version, encoding: encoding, gate: gate, base: lacking), added.splices)
  }
}

extension TextDelta {
  /// This delta with every replaced part narrowed to what differs. The same text comes out.
  var refined: TextDelta {
    var builder = Builder()
    var (inserts, deletes): ([TextPiece], [TextPiece]) = ([], [])
    func flush() {
      if inserts.isEmpty || deletes.isEmpty {
        for piece in inserts { builder.insert(piece) }
        for piece in deletes { builder.delete(piece) }
      } else {
        let (old, new) = (deletes.flatMap(\.bytes), inserts.flatMap(\.bytes))
        builder.append(TextDiff.delta(from: old, to: new), spanning: old.count)
      }
      (inserts, deletes) = ([], [])
    }
    for segment in segments {
      switch segment {
      case .retain(let count):
        flush()
        builder.retain(count)
      case .insert(let piece): inserts.append(piece)
      case .delete(let piece): deletes.append(piece)
      }
    }
    flush()
    return builder.delta
  }

  /// For a delta between two texts of which neither is newer: what the old text lacks, without deleting, and what
  /// then leads from the new text to that union.
  var keepingBoth: (added: TextDelta, lacking: TextDelta) {
    var (added, lacking) = (Builder(), Builder())
    for segment in segments {
      switch segment {
      case .retain(let count):
        added.retain(count)
        lacking.retain(count)
      case .insert(let piece):
        added.insert(piece)
        lacking.retain(piece.count)
      case .delete(let piece):
        added.retain(piece.count)
        lacking.insert(piece)
      }
    }
    return (added.delta, lacking.delta)
  }
}

extension TextDelta.Builder {
  /// Appends a delta of a part that is `count` bytes long before it.
  mutating func append(_ delta: TextDelta, spanning count: Int) {
    var consumed = 0
    for segment in delta.segments {
      append(segment)
      switch segment {
      case .retain(let count): consumed += count
      case .insert: break
      case .delete(let piece): consumed += piece.count
      }
    }
    retain(count - consumed)
  }
}
