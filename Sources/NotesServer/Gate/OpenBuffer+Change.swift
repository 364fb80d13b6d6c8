extension OpenBuffer {
  /// Applies a client's batch of changes.
  ///
  /// - Parameters:
  ///   - rev: the last edit that the client had applied when it made the changes; ignored for a plain client
  ///   - source: the document's text, before the splices
  /// - Complexity: O(s · log n + c · log (s · n)) for c changes in order and s segments of what the client lacks; a
  ///   full text costs a diff, and each change out of order costs a walk over the earlier ones
  mutating func didChange(
    version: Int, rev: Int?, changes: [ContentChange], source: some TextSource
  ) -> ChangeOutcome {
    let repair = changes.lastIndex(where: \.isWhole)
    if repair != nil, isOvertaken(version) { return .ignored }
    if repair == nil {
      if awaitsFullText { return .ignored }
      if let contradiction = contradiction(version: version, rev: rev) {
        return .resync(resync(contradiction).contradiction)
      }
    }
    if gate == .notes, let rev {
      // A full text is accepted with any rev: the client has applied the edits that it says it has.
      fold(through: rev)
      acknowledgedRev = min(max(0, rev), Self.greatestRev)
      lastSentRev = max(lastSentRev, acknowledgedRev)
    }

    let lacking = clientToDocument
    var batch = ChangeBatch(of: source, way: lacking.inverted, encoding: encoding)
    for entry in changes[(repair ?? 0)...] where !batch.take(entry) {
      guard case .replace(let range, _) = entry else { continue }
      return .resync(resync(.range(range)).contradiction)
    }
    batch.finishRun()

    if gate == .plain {
      self.version = version
      awaitsFullText = false
      let placement: TextDiff.Placement = batch.replacesLines ? .withinLines : .beforeDeleted
      return .splices(plainChange(batch.change, placement: placement, source: source).splices)
    }
    let (mine, theirs) = batch.change.transformed(over: lacking)
    unsentCause = commonCause(of: inFlight)
    inFlight = []
    unsent = theirs
    self.version = version
    awaitsFullText = false
    return .splices(mine.splices)
  }

  /// Whether a plain client's text of this version has arrived after a later one, which contained all of it.
  func isOvertaken(_ version: Int) -> Bool { gate == .plain && version < self.version }

  /// The client's text before it sent its full text, with `rev` as the last edit that it had applied.
  func textBefore(fullTextWith rev: Int?, source: some TextSource) -> [UInt8] {
    var buffer = self
    if gate == .notes, let rev { buffer.fold(through: rev) }
    return TextView(of: source, through: buffer.clientToDocument.inverted).allUTF8
  }

  /// The greatest integer that every JSON reader can hold.
  private static let greatestRev = 1 << 53

  /// The common cause of dropped edits and the unsent one; `remote` if their causes differ.
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
}
