import Automerge

/// Edits for plain clients, sent by `workspace/applyEdit`, one at a time. The answers are not trusted.
///
///     idle ──offer──► offered ──didChange that shows it──► idle
///                        │ └──refused──► idle, but nothing is offered before the next didChange
///                        └──said to be applied──► claimed ──any didChange──► idle
///
/// The offered edit is `inFlight`, the rest `unsent`; the client certainly has neither. A client may claim to have
/// applied an edit that it skipped, or may apply the edit to a text that has changed since. So only its next change
/// counts: either it contains the edit, and the rest of it is the person's, or all of it is the person's, and the edit
/// is offered again.
extension OpenBuffer {
  enum Offer: Hashable, Sendable {
    case idle
    case offered
    /// The client says that it has applied the edit.
    case claimed
    /// The client has refused the last edit.
    case refused
  }

  /// The next edit to offer; nil if there is none, one is on its way, or the client's text is not known.
  ///
  /// - Parameter source: the document's present text
  mutating func nextOffer(source: some TextSource) -> BufferEdit? {
    guard gate == .plain, !awaitsFullText, offer == .idle, !unsent.isIdentity else { return nil }
    let edits = replacements(of: unsent.refined(atMost: Self.maximumRefinedBytes), source: source)
    guard !edits.isEmpty else { return nil }
    lastSentRev += 1
    inFlight = [InFlight(firstRev: lastSentRev, rev: lastSentRev, delta: unsent, cause: unsentCause)]
    unsent = .identity
    offer = .offered
    return BufferEdit(
      version: version, rev: lastSentRev, edits: edits, bytes: source.measure.utf8, cause: unsentCause)
  }

  /// Call when the client has answered the offer of `edit`. The answer may come after the change that showed the edit, when
  /// the next one is on its way; it says nothing about that one.
  mutating func offerAnswered(_ edit: BufferEdit, isApplied: Bool) {
    guard offer == .offered, inFlight.first?.rev == edit.rev else { return }
    if isApplied { return offer = .claimed }
    // The client may have changed its text before it heard of the edit; then the next one can be made for that text.
    revertOffer(edit.version == version ? .refused : .idle)
  }

  private mutating func revertOffer(_ next: Offer) {
    unsent = inFlight.reduce(into: TextDelta.identity) { $0 = $0.composed(with: $1.delta) }.composed(with: unsent)
    inFlight = []
    offer = next
  }

  /// Takes in a plain client's change of its text. Returns the resulting change of the document.
  ///
  /// - Parameter placement: as for the difference that the change is, or contains
  mutating func plainChange(
    _ change: TextDelta, placement: TextDiff.Placement, source: some TextSource
  ) -> TextDelta {
    guard let offered = inFlight.first?.delta else {
      let (mine, theirs) = change.transformed(over: unsent)
      unsent = theirs
      offer = .idle
      return mine
    }
    let before = TextView(of: source, through: clientToDocument.inverted).allUTF8
    if let rest = change.rest(after: offered, of: before, placement: placement) {
      let (mine, theirs) = rest.transformed(over: unsent)
      (inFlight, unsent, offer) = ([], theirs, .idle)
      return mine
    }
    let (carried, offeredLater) = change.transformed(over: offered)
    let (mine, unsentLater) = carried.transformed(over: unsent)
    inFlight[0].delta = offeredLater
    unsent = unsentLater
    if offer == .claimed { revertOffer(.idle) }
    return mine
  }
}

extension TextDelta {
  /// What this change of `text` does besides making `other`; nil if it does not make `other`.
  fileprivate func rest(after other: TextDelta, of text: [UInt8], placement: TextDiff.Placement) -> TextDelta? {
    let (changed, otherwise) = (applied(to: text), other.applied(to: text))
    if changed == otherwise { return .identity }
    let rest = TextDiff.delta(from: otherwise, to: changed, placement: .beforeDeleted)
    let placed = placement == .beforeDeleted ? rest : TextDiff.delta(from: otherwise, to: changed, placement: placement)
    // A client that ignores versions may have put it somewhere else; then that is where it belongs now.
    if refined.insertedIfNothingElse == other.insertedIfNothingElse, other.insertedIfNothingElse != nil {
      return placed
    }
    guard !rest.deletesSome(ofDeletedBy: other.inverted), rest.changedBytes < refined.changedBytes else { return nil }
    return placed
  }

  /// Everything that it inserts, in order; nil if it deletes something.
  private var insertedIfNothingElse: [UInt8]? {
    var inserted: [UInt8] = []
    for segment in segments {
      switch segment {
      case .retain: break
      case .insert(let piece): inserted += piece.bytes
      case .delete: return nil
      }
    }
    return inserted
  }
}
