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
  private func nearest(to text: [UInt8], _ source: DocumentText) -> TextDelta? {
    var best: (way: TextDelta, distance: Int)?
    func consider(_ way: TextDelta) {
      guard best?.distance != 0 else { return }
      let distance = distance(from: way, to: text, source)
      if distance < best?.distance ?? .max { best = (way, distance) }
    }
    for way in candidates(source) { consider(way) }
    guard let found = best, found.distance > 0, bases.first?.actor != nil, source.measure.utf8 <= Self.largestSearched
    else {
      return best?.way
    }
    for way in recentStates() { consider(way) }
    return best?.way
  }

  /// Texts up to this size are compared with every recent state of the document.
  private static let largestSearched = 64 << 10
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

  /// The ways from each text that the client may have had to the document's text now; none without a usable base.
  private func candidates(_ source: DocumentText) -> [TextDelta] { bases.flatMap { candidates(of: $0, source) } }

  private func candidates(of base: TextBase, _ source: DocumentText) -> [TextDelta] {
    guard note.document.unknown(base.heads).isEmpty,
      let edits = try? note.document.textEdits(obj: note.content, since: base.heads)
    else { return [] }
    var way = TextDelta(edits)
    var ways = [way]
    for step in base.steps.reversed() where !step.isIdentity {
      way = step.composed(with: way)
      ways.append(way)
    }
    // A service that died after storing changes and before storing the base: the client has all that it wrote itself.
    if let actor = base.actor, let last = note.document.lastChange(by: actor), !base.heads.contains(last),
      let edits = try? note.document.textEdits(obj: note.content, since: base.heads.union([last]))
    {
      ways.append(TextDelta(edits))
    }
    // The oldest first: it is the one that the client surely had.
    return ways.reversed()
  }

  private func distance(from way: TextDelta, to text: [UInt8], _ source: DocumentText) -> Int {
    let old = TextView(of: source, through: way.inverted).allUTF8
    return old == text ? 0 : TextDiff.delta(from: old, to: text).changedBytes
  }
}
