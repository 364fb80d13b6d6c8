import Automerge

/// How the text of a `didOpen` meets the document: what the person did since the base, and nothing else, is carried over.
struct OpeningMerge {
  let note: NoteDocument
  /// What the buffer's text grew out of, if that is known.
  let base: TextBase?
  let encoding: PositionEncoding
  let gate: OpenBuffer.Gate

  /// The buffer as the gate knows it, and what the document has to take in.
  func open(version: Int, text: [UInt8]) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    let source = DocumentText(note)
    let candidates = candidates(source)
    // Of the texts that the client may have had, the one it differs from least is the one it had.
    let nearest = candidates.min { left, right in
      distance(from: left, to: text, source) < distance(from: right, to: text, source)
    }
    guard let nearest else {
      return OpenBuffer.openKeepingBoth(version: version, encoding: encoding, gate: gate, text: text, source: source)
    }
    return OpenBuffer.open(
      version: version, encoding: encoding, gate: gate, text: text, base: nearest, source: source)
  }

  /// The ways from each text that the client may have had to the document's text now; none without a usable base.
  private func candidates(_ source: DocumentText) -> [TextDelta] {
    guard let base, note.document.unknown(base.heads).isEmpty,
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
    if old == text { return 0 }
    return TextDiff.delta(from: old, to: text).segments.reduce(1) { sum, segment in
      switch segment {
      case .retain: sum
      case .insert(let piece), .delete(let piece): sum + piece.count
      }
    }
  }
}
