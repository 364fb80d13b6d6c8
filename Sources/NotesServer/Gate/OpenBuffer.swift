import Automerge

/// The version gate: one client's buffer of one document, and the edits between the two.
///
///     the client certainly has C ──F1──F2──…──unsent──► D, the document's text
///                                  in flight
///
/// Neither text is kept: D is read through `TextSource`, and C is D seen backwards through the deltas. A change of the
/// client refers to C after those edits that the client says it has applied; the gate carries it over the rest by the
/// elements it names, as a CRDT would. The client has then certainly dropped all other edits in flight, and the gate
/// sends them again, rebased.
///
/// The owner calls in this order: `documentChanged` for whatever changed D that this client does not have (other people's
/// edits, undo), `didChange` for a client's batch, whose splices it then makes in D without reporting them back here; and
/// after either `pendingEdit`, whose message it sends.
struct OpenBuffer: Sendable {
  /// How the client takes edits.
  enum Gate: Hashable, Sendable {
    /// By `notes/edit`. The client says with each change which edits it has applied.
    case notes
    /// By `workspace/applyEdit`, if the client wants them; see `nextOffer`. What it lacks waits in `clientToDocument`.
    case plain
  }

  /// An edit that was sent for the current version.
  struct InFlight: Hashable, Sendable {
    /// Less than `rev` if this entry combines several edits.
    var firstRev: Int
    var rev: Int
    var delta: TextDelta
    var cause: EditCause
  }

  let encoding: PositionEncoding
  let gate: Gate
  /// The version in `didOpen`.
  let openedVersion: Int
  /// The version of the client's last `didChange`, or of its `didOpen`.
  var version: Int
  /// The last edit that was sent; 0 before the first.
  var lastSentRev = 0
  /// The last edit that the client is known to have applied.
  var acknowledgedRev = 0
  /// True from a resync until the client's full text arrives.
  var awaitsFullText = false

  var inFlight: [InFlight] = []
  var unsent: TextDelta
  var unsentCause = EditCause.remote
  /// For a plain client: the state of the edit in flight.
  var offer = Offer.idle

  /// A buffer whose client has the document's text, or the text from which `base` leads to the document's.
  init(version: Int, encoding: PositionEncoding, gate: Gate = .notes, base: TextDelta = .identity) {
    (openedVersion, self.version, self.encoding, self.gate, unsent) = (version, version, encoding, gate, base)
  }

  /// The rev that the client has once everything in flight has reached it. Edits that were dropped do not count.
  var expectedRev: Int { inFlight.last?.rev ?? acknowledgedRev }

  /// The delta from the text that the client certainly has to the document's text.
  var clientToDocument: TextDelta {
    inFlight.reduce(into: TextDelta.identity) { $0 = $0.composed(with: $1.delta) }.composed(with: unsent)
  }

  // MARK: - The document changed

  /// Takes in edits of the document that this client did not make, each in the text after the earlier ones.
  mutating func documentChanged(_ edits: some Sequence<TextEdit>, cause: EditCause = .remote) {
    documentChanged(by: TextDelta(edits), cause: cause)
  }

  /// Takes in a change of the document's text that this client did not make, as one delta.
  mutating func documentChanged(by delta: TextDelta, cause: EditCause = .remote) {
    guard !delta.isIdentity else { return }
    unsentCause = unsent.isIdentity || unsentCause == cause ? cause : .remote
    unsent = unsent.composed(with: delta)
  }

  /// The most entries that are kept separate for a client that never acknowledges.
  static let maximumInFlight = 256

  /// Replaced parts of an edit are reduced to the difference up to this size. A document's own edits are small already;
  /// comparing large parts again at each key typed meanwhile would delay every client.
  static let maximumRefinedBytes = 16 << 10

  /// The next edit to send, which is then in flight; nil if the client lacks nothing.
  ///
  /// - Parameter source: the document's present text
  /// - Complexity: O(s · log n), s the segments of what is unsent
  mutating func pendingEdit(source: some TextSource) -> BufferEdit? {
    guard gate == .notes, !awaitsFullText, !unsent.isIdentity else { return nil }
    let edits = replacements(of: unsent.refined(atMost: Self.maximumRefinedBytes), source: source)
    let delta = unsent
    unsent = .identity
    guard !edits.isEmpty else {
      // The same bytes, though other elements: there is nothing to send, but the client's elements are the new ones
      // from here on.
      if let last = inFlight.indices.last { inFlight[last].delta = inFlight[last].delta.composed(with: delta) }
      return nil
    }
    lastSentRev += 1
    inFlight.append(InFlight(firstRev: lastSentRev, rev: lastSentRev, delta: delta, cause: unsentCause))
    if inFlight.count > Self.maximumInFlight { mergeOldest() }
    return BufferEdit(
      version: version, rev: lastSentRev, edits: edits, bytes: source.measure.utf8, cause: unsentCause)
  }

  /// Combines the older half into one entry. If the client has applied only a part of it, which is very unlikely after
  /// so many more, the service requests its full text.
  private mutating func mergeOldest() {
    let half = inFlight[..<(inFlight.count / 2)]
    guard let first = half.first, let last = half.last else { return }
    let delta = half.reduce(into: TextDelta.identity) { $0 = $0.composed(with: $1.delta) }
    inFlight.replaceSubrange(
      ..<half.endIndex, with: [InFlight(firstRev: first.firstRev, rev: last.rev, delta: delta, cause: .remote)])
  }

  // MARK: - The client acknowledges

  /// Takes in a `notes/ack`, or the version and rev of any other message of the client.
  ///
  /// - Returns: true if they name the client's text as the gate knows it now, so that the message's positions can be
  ///   used; false if the message is out of date or the full text is awaited
  @discardableResult
  mutating func acknowledge(version: Int, rev: Int) throws(ContradictionError) -> Bool {
    guard !awaitsFullText, gate == .notes else { return gate == .plain && !awaitsFullText && version == self.version }
    guard version <= self.version else { throw resync(.version(version, expected: self.version)) }
    guard version == self.version else { return false }
    if inFlight.contains(where: { $0.firstRev <= rev && rev < $0.rev }) { return false }
    guard isApplicable(rev) else { throw resync(.rev(rev, lastSent: lastSentRev)) }
    fold(through: rev)
    return true
  }

  /// Whether `rev` can be the last edit that the client has applied.
  func isApplicable(_ rev: Int) -> Bool { rev == acknowledgedRev || inFlight.contains { $0.rev == rev } }

  /// Counts edits up to `rev` as applied.
  mutating func fold(through rev: Int) {
    inFlight.removeAll { $0.rev <= rev }
    acknowledgedRev = max(acknowledgedRev, rev)
  }

  mutating func resync(_ contradiction: Contradiction) -> ContradictionError {
    awaitsFullText = true
    return ContradictionError(contradiction: contradiction)
  }
}

/// Thrown if a message contradicts what the gate knows. The gate then awaits the full text.
struct ContradictionError: Error, Hashable {
  var contradiction: Contradiction
}
