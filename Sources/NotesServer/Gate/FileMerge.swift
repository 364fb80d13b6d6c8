/// A three-way merge of another program's changes to the working file into the document.
///
///     base, the file's old text ──way──► document
///       │                                  │ splices
///       ▼                                  ▼
///     file, its present text ───lacking──► merged
struct FileMerge: Hashable, Sendable {
  /// The splices to make in the document.
  let splices: [TextSplice]
  /// The delta from the file's text to the document's after that.
  let lacking: TextDelta
  /// The base that the file still contains, if it contains one.
  let base: TextBase?

  init(splices: [TextSplice], lacking: TextDelta, base: TextBase? = nil) {
    (self.splices, self.lacking, self.base) = (splices, lacking, base)
  }

  /// The size of the document's changes, in bytes of UTF-8.
  var changedBytes: Int { splices.reduce(0) { $0 + $1.deleteUTF8 + $1.insert.count } }

  /// Merges `file` into `document`. `way` is the delta from the base to the document.
  ///
  /// An edit that both sides made is made once, as in other three-way merges: an editor may have written words to the file
  /// before it reported them, and the document has them from the same editor.
  ///
  /// If the base's last line has no line feed, what another program appended comes after what was typed there
  /// meanwhile.
  init(base: [UInt8], way: TextDelta, document: [UInt8], file: [UInt8]) {
    guard let rest = way.restOfLine(behind: base),
      let end = TextDiff.delta(from: base, to: file, placement: .beforeDeleted).lineEnd(behind: base)
    else {
      self.init(base: base, way: way, document: document, file: file, looksForShared: true)
      return
    }
    let typed = TextDelta(
      utf8Offset: file.count - end.count, deleted: [], inserted: rest.filter { $0 != 0x0A })
    let merge = FileMerge(
      base: base + rest, way: way.keeping(rest.count), document: document, file: typed.applied(to: file),
      looksForShared: true)
    self.init(splices: merge.splices, lacking: typed.composed(with: merge.lacking))
  }

  private init(base: [UInt8], way: TextDelta, document: [UInt8], file: [UInt8], looksForShared: Bool) {
    // A finer comparison keeps letters that an old word and a new one share. If the other side deletes the old word,
    // the new one would lose them.
    let grain: TextTokens.Grain = way.isIdentity ? .scalars : .words
    let whole = TextDiff.delta(from: base, to: file, finest: grain)
    guard !whole.isIdentity, !way.isIdentity else {
      self.init(splices: whole.splices, lacking: way)
      return
    }
    let ours = LineHunk.hunks(from: base, to: document)
    let theirs = LineHunk.hunks(from: base, to: file)
    if looksForShared, let shared = SharedLines.added(to: base, by: ours, and: theirs) {
      let way = TextDiff.delta(from: shared, to: document, finest: .words)
      self.init(base: shared, way: way, document: document, file: file, looksForShared: false)
      return
    }
    var news = base[...]
    var result: [UInt8] = []
    var hasRepeats = false
    for hunk in theirs {
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
    let rest = hasRepeats ? TextDiff.delta(from: base, to: result, finest: grain) : whole
    let (carried, lacking) = rest.transformed(over: way)
    let merge = LineMerge(
      base: base, ours: document, theirs: hasRepeats ? result : file, ourHunks: ours,
      theirHunks: hasRepeats ? nil : theirs)
    if let merged = merge.whole(insteadOf: carried.applied(to: document), by: way, and: rest) {
      self.init(
        splices: TextDiff.delta(from: document, to: merged).splices,
        lacking: TextDiff.delta(from: file, to: merged))
      return
    }
    guard hasRepeats else {
      self.init(splices: carried.splices, lacking: lacking)
      return
    }
    // By way of the base, the file would lose its own new lines and get them again: if the person at a buffer with this text
    // deleted one of them, only the line that is lost anyway would be deleted.
    let merged = carried.applied(to: document)
    self.init(
      splices: carried.splices,
      lacking: TextDiff.delta(from: file, to: merged, finest: .words))
  }
}

extension TextDelta {
  /// The insertion at the end of `base`, whose last line has no line feed, up to and including the end of that line;
  /// nil if there is none.
  fileprivate func restOfLine(behind base: [UInt8]) -> [UInt8]? {
    insertion(behind: base).map { lines in Array(lines[...(lines.firstIndex(of: 0x0A) ?? lines.count - 1)]) }
  }

  /// The insertion at the end of `base`, whose last line has no line feed, if it begins by ending that line.
  fileprivate func lineEnd(behind base: [UInt8]) -> [UInt8]? {
    guard let lines = insertion(behind: base), lines.first == 0x0A else { return nil }
    return lines
  }

  /// This delta for an old text that already contains the first `count` bytes of the last insertion.
  fileprivate func keeping(_ count: Int) -> TextDelta {
    guard case .insert(let piece)? = segments.last else { return self }
    var builder = DeltaBuilder()
    for segment in segments.dropLast() { builder.append(segment) }
    builder.retain(count)
    builder.insert(TextPiece(Array(piece.bytes.dropFirst(count))))
    return builder.delta
  }

  /// The insertion at the end of `base`, if its last line has no line feed; nil if it has one, or there is no
  /// insertion.
  func insertion(behind base: [UInt8]) -> [UInt8]? {
    guard let last = base.last, last != 0x0A, case .insert(let piece)? = segments.last else { return nil }
    var length = 0
    for segment in segments {
      switch segment {
      case .retain(let count): length += count
      case .delete(let piece): length += piece.count
      case .insert: break
      }
    }
    guard length == base.count, segments.count < 2 || !segments[segments.count - 2].isDeletion else { return nil }
    return piece.bytes
  }
}

extension TextDelta.Segment {
  fileprivate var isDeletion: Bool { if case .delete = self { true } else { false } }
}

/// Whole lines of a base that others have replaced.
struct LineHunk {
  var base: Range<Int>
  var lines: [UInt8] = []

  /// Whether this change, made on one side, does everything that `other` does on the other side.
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
    for segment in TextDiff.delta(from: base, to: text, finest: .lines, placement: .beforeDeleted).segments {
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
