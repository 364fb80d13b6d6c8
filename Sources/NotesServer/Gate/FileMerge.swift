/// A three-way merge: what another program did to the working file goes into the document.
///
///     base, what the file held ──way──► document
///       │                                  │ splices
///       ▼                                  ▼
///     file, what it holds now ──lacking──► merged
struct FileMerge: Hashable, Sendable {
  /// What the document has to take in.
  let splices: [TextSplice]
  /// What then leads from the file's text to the document's.
  let lacking: TextDelta
  /// The base that the file still holds, if it holds one.
  let base: TextBase?

  init(splices: [TextSplice], lacking: TextDelta, base: TextBase? = nil) {
    (self.splices, self.lacking, self.base) = (splices, lacking, base)
  }

  /// Merges `file` into `document`, where `way` leads from the base to the document.
  ///
  /// What both sides did in the same way is done once, as in other three-way merges: the file may hold words that an editor
  /// wrote there before anybody said so, and that the document has from the same editor.
  init(base: [UInt8], way: TextDelta, document: [UInt8], file: [UInt8]) {
    let whole = TextDiff.delta(from: base, to: file)
    guard !whole.isIdentity, !way.isIdentity else {
      self.init(splices: whole.splices, lacking: way)
      return
    }
    let ours = LineHunk.hunks(from: base, to: document)
    var news = base[...]
    var result: [UInt8] = []
    var hasRepeats = false
    for hunk in LineHunk.hunks(from: base, to: file) {
      result += base[news.startIndex..<hunk.base.lowerBound]
      news = base[hunk.base.upperBound...]
      if ours.contains(where: { $0.repeats(hunk) }) {
        result += base[hunk.base]
        hasRepeats = true
      } else {
        result += hunk.lines
      }
    }
    result += news
    let theirs = hasRepeats ? TextDiff.delta(from: base, to: result) : whole
    let (carried, rest) = theirs.transformed(over: way)
    self.init(
      splices: carried.splices,
      lacking: hasRepeats ? whole.inverted.composed(with: theirs).composed(with: rest) : rest)
  }
}

/// Whole lines of a base that others took the place of.
private struct LineHunk {
  var base: Range<Int>
  var lines: [UInt8] = []

  /// Whether this change, made on the one side, does all that `other` does on the other side.
  func repeats(_ other: LineHunk) -> Bool {
    guard base.lowerBound <= other.base.lowerBound, other.base.upperBound <= base.upperBound else { return false }
    if other.lines.isEmpty { return !other.base.isEmpty }
    guard other.lines.count <= lines.count else { return false }
    var start = 0
    while start + other.lines.count <= lines.count {
      if lines[start...].starts(with: other.lines) { return true }
      guard let newline = lines[start...].firstIndex(of: 0x0A) else { return false }
      start = newline + 1
    }
    return false
  }

  static func hunks(from base: [UInt8], to text: [UInt8]) -> [LineHunk] {
    var hunks: [LineHunk] = []
    var offset = 0
    var isOpen = false
    for segment in TextDiff.delta(from: base, to: text, finest: .lines).segments {
      if case .retain(let count) = segment {
        offset += count
        isOpen = false
        continue
      }
      if !isOpen { hunks.append(LineHunk(base: offset..<offset)) }
      isOpen = true
      switch segment {
      case .retain: break
      case .insert(let piece): hunks[hunks.count - 1].lines += piece.bytes
      case .delete(let piece):
        offset += piece.count
        hunks[hunks.count - 1].base = hunks[hunks.count - 1].base.lowerBound..<offset
      }
    }
    return hunks
  }
}
