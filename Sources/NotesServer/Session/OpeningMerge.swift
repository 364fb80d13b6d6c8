import Automerge

/// How the text of a `didOpen` meets the document: what the person did since the base, and nothing else, is carried over.
struct OpeningMerge {
  let note: NoteDocument
  /// What the buffer's text grew out of, if that is known; several if it is one of them.
  let bases: [TextBase]
  let encoding: PositionEncoding
  let gate: OpenBuffer.Gate

  /// The buffer as the gate knows it, and what the document has to take in.
  func open(version: Int, text: [UInt8]) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    let source = DocumentText(note)
    guard let nearest = nearest(to: text, source) else {
      return OpenBuffer.openKeepingBoth(version: version, encoding: encoding, gate: gate, text: text, source: source)
    }
    return OpenBuffer.open(
      version: version, encoding: encoding, gate: gate, text: text, base: nearest, source: source)
  }

  /// Of the texts that the client may have had, the one it differs from least is the one it had.
  ///
  /// What the client lacks of that text counts as deleted. So a text that the client surely had at least goes before all
  /// others; one that it may have had counts only if the client lacks nothing of it. At worst, words stand twice.
  private func nearest(to text: [UInt8], _ source: DocumentText) -> TextDelta? {
    var best: (way: TextDelta, distance: Int)?
    func consider(_ candidate: Candidate) {
      guard best?.distance != 0 else { return }
      let old = TextView(of: source, through: candidate.way.inverted).allUTF8
      let delta = old == text ? .identity : TextDiff.delta(from: old, to: text)
      guard candidate.isSure || delta.deletedBytes == 0 else { return }
      let distance = delta.changedBytes
      if distance < best?.distance ?? .max { best = (candidate.way, distance) }
    }
    for candidate in bases.flatMap({ candidates(of: $0) }) { consider(candidate) }
    guard let found = best, found.distance > 0, bases.first?.actor != nil, source.measure.utf8 <= Self.largestSearched
    else {
      return best?.way
    }
    for way in recentStates() { consider(Candidate(way: way, isSure: false)) }
    return best?.way
  }

  /// A text that the client may have had, as the way from it to the document's.
  private struct Candidate {
    let way: TextDelta
    /// Whether the client had all of it, and perhaps more.
    let isSure: Bool
  }

  /// Texts up to this size are compared with every recent state of the document.
  private static let largestSearched = 256 << 10
  private static let mostRecentStates = 64

  /// The ways from the document's last states to its present one: a client whose service died may have any of them.
  private func recentStates() -> [TextDelta] {
    guard var heads = bases.first?.heads else { return [] }
    var ways = [TextDelta.identity]
    for hash in note.document.getHistory().suffix(Self.mostRecentStates) {
      heads.insert(hash)
      guard let edits = try? note.document.textEdits(obj: note.content, since: heads) else { continue }
      ways.append(TextDelta(edits))
    }
    return ways
  }

  /// The texts that the client may have had by a base; none if that cannot be used.
  private func candidates(of base: TextBase) -> [Candidate] {
    guard note.document.unknown(base.heads).isEmpty,
      let edits = try? note.document.textEdits(obj: note.content, since: base.heads)
    else { return [] }
    // What was on its way to the client then may have reached it, in order.
    var way = TextDelta(edits), ways = [way]
    for step in base.steps.reversed() where !step.isIdentity {
      way = step.composed(with: way)
      ways.append(way)
    }
    ways.reverse()
    var found = ways.enumerated().map { Candidate(way: $0.element, isSure: $0.offset == 0) }
    // A service that died after storing changes and before storing the base: the client has all that it wrote itself.
    guard let actor = base.actor,
      let others = try? note.document.textEdits(obj: note.content, since: base.heads, andAllBy: actor)
    else { return found }
    let toNow = TextDelta(others), own = TextDelta(edits).composed(with: toNow.inverted)
    guard !own.isIdentity else { return found }
    let lacking = base.steps.reduce(into: TextDelta.identity) { $0 = $0.composed(with: $1) }
    let (_, back) = own.transformed(over: lacking.inverted)
    found.append(Candidate(way: back.inverted.composed(with: toNow), isSure: true))
    if !lacking.isIdentity { found.append(Candidate(way: toNow, isSure: false)) }
    return found
  }
}
