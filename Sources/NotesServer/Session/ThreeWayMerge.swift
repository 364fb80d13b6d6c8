import Automerge

/// Merges the text of a `didOpen` with the document: carries over what the person did since the base, and nothing else.
struct ThreeWayMerge: Sendable {
  let note: NoteDocument
  /// The texts that the buffer's text may have grown out of, if known; it grew out of one of them.
  let bases: [TextBase]
  /// Whether the text certainly grew out of the only base.
  let isExact: Bool
  let encoding: PositionEncoding
  let gate: OpenBuffer.Gate
  /// Further candidates: one counts only if the buffer's text lacks nothing of it.
  let possibleBases: [TextBase]
  /// What clients say that they have written to the file.
  let writtenTexts: [TextBase]
  /// Whether to bring what was typed into an item's old text to its new text in any case, when others moved the item meanwhile:
  /// the processes that have the item open do.
  let isFollowed: Bool
  /// Whether the text may lack words that its person did not delete, since it is older than what others wrote.
  let isDoubtful: Bool
  /// Whether the text is the working file's: words in it that the document has at the same place are not new, because a
  /// killed process may have merged them.
  let isFile: Bool
  /// The document's heads at the start, because it must not change during the comparison.
  private let heads: Set<ChangeHash>
  private let source: PlainText

  /// - Parameter read: the document's text, if it was read already.
  /// - Complexity: O(n) in the document's text
  init(
    note: NoteDocument, bases: [TextBase], isExact: Bool = false, encoding: PositionEncoding, gate: OpenBuffer.Gate,
    possibleBases: [TextBase] = [], writtenTexts: [TextBase] = [], isFollowed: Bool = false, isDoubtful: Bool = false,
    isFile: Bool = false,
    read: ReadText? = nil
  ) {
    (self.note, self.isExact, self.encoding, self.gate) = (note, isExact, encoding, gate)
    (self.possibleBases, self.isFollowed, self.isDoubtful) = (possibleBases, isFollowed, isDoubtful)
    self.writtenTexts = writtenTexts
    self.isFile = isFile
    heads = read?.heads ?? note.document.heads()
    source = PlainText(read?.text ?? DocumentText(note).allUTF8)
    let isLarge = source.measure.utf8 > Self.maximumSearchedBytes
    self.bases = isLarge ? Array(bases.prefix(Self.maximumBasesOfLargeText)) : bases
  }

  /// The document's text as it was at some heads. The document may have changed since; then no base counts.
  struct ReadText: Sendable {
    let text: [UInt8]
    let heads: Set<ChangeHash>
  }

  /// Returns the buffer for the gate, and the splices to make in the document.
  func open(version: Int, text: [UInt8]) -> (buffer: OpenBuffer, splices: [TextSplice]) {
    if isExact, let way = bases.first.flatMap(wayFromSteps) {
      return OpenBuffer.open(
        version: version, encoding: encoding, gate: gate, text: text, exactly: besidesShared(text, way), source: source)
    }
    guard let nearest = nearest(to: text) else {
      return OpenBuffer.openKeepingBoth(
        version: version, encoding: encoding, gate: gate, text: text, isEarlier: !bases.isEmpty, source: source)
    }
    if isFile || isDoubtful, nearest.distance > 0, !nearest.way.isIdentity, text.count <= Self.maximumSearchedBytes {
      let merge = FileMerge(base: old(nearest.way), way: nearest.way, document: source.allUTF8, file: text)
      let buffer = OpenBuffer(version: version, encoding: encoding, gate: gate, base: merge.lacking)
      return (buffer, merge.splices)
    }
    return OpenBuffer.open(
      version: version, encoding: encoding, gate: gate, text: text, base: nearest.way, source: source)
  }

  /// The same delta without the lines that the note and the buffer have both got in one place since: the editor has saved them,
  /// and another process has merged them from the file.
  private func besidesShared(_ text: [UInt8], _ way: TextDelta) -> TextDelta {
    guard !way.isIdentity, text.count <= Self.maximumSearchedBytes, source.measure.utf8 <= Self.maximumSearchedBytes
    else {
      return way
    }
    let (old, document) = (old(way), source.allUTF8)
    let shared = SharedLines.added(
      to: old, by: LineHunk.hunks(from: old, to: document), and: LineHunk.hunks(from: old, to: text))
    return shared.map { TextDiff.delta(from: $0, to: document, finest: .words) } ?? way
  }

  /// The same off the loop, because comparing large texts takes a while. Nil if the document changed meanwhile.
  @concurrent
  func openOffLoop(version: Int, text: [UInt8]) async -> (buffer: OpenBuffer, splices: [TextSplice])? {
    let opened = open(version: version, text: text)
    return note.document.heads() == heads ? opened : nil
  }

  /// Returns what other programs did to the working file, which contains `text`, since it contained one of the bases.
  func takeIn(file text: [UInt8]) -> FileMerge {
    guard let nearest = nearest(to: text, isFile: true) else {
      let (buffer, splices) = OpenBuffer.openKeepingBoth(
        version: 0, encoding: encoding, gate: .plain, text: text, isEarlier: !bases.isEmpty, source: source)
      return FileMerge(splices: splices, lacking: buffer.clientToDocument)
    }
    if nearest.distance == 0 {
      return FileMerge(splices: [], lacking: nearest.way, base: nearest.isWholeBase ? nearest.base : nil)
    }
    if isCut(text) {
      let lacking = TextDiff.delta(from: text, to: source.allUTF8)
      return FileMerge(splices: [], lacking: lacking)
    }
    return FileMerge(base: old(nearest.way), way: nearest.way, document: source.allUTF8, file: text)
  }

  /// Whether the file is only the beginning of what a client was writing: the disk was full, or the client was killed. What it
  /// lacks was not deleted by anyone.
  private func isCut(_ file: [UInt8]) -> Bool {
    let beginning = file.last == 0x0A ? file.dropLast() : file[...]
    guard !beginning.isEmpty else { return false }
    let known = bases.first.flatMap(text)
    func isBeginning(of text: [UInt8]) -> Bool { text.count > file.count && text.starts(with: beginning) }
    if writtenTexts.lazy.compactMap(text).contains(where: { $0 != known && isBeginning(of: $0) }) { return true }
    // Or of what the note has become, or a client had at some time; unless another program has cut the file as it was known.
    guard known.map(isBeginning) != true else { return false }
    return isBeginning(of: source.allUTF8) || possibleBases.lazy.compactMap(text).contains(where: isBeginning)
  }

  /// The same for a file. It is unknown whether the note had the file's missing final newline when it was written; the
  /// interpretation with fewer changes counts.
  func takeIn(_ contents: FileContents) -> FileMerge {
    let text = contents.text(besides: source.allUTF8)
    let merge = takeIn(file: text)
    guard contents.shape.lacksFinalNewline, text == contents.text, !merge.splices.isEmpty else { return merge }
    let other = takeIn(file: text.dropLast())
    return other.changedBytes < merge.changedBytes ? other : merge
  }

  /// The same off the loop, where the merge is made of the note's text, too: that takes a tenth of a second for 100 MB. Nil if the
  /// document changed meanwhile.
  @concurrent
  static func takeInOffLoop(
    _ contents: FileContents, _ note: NoteDocument, making make: @Sendable (ReadText) -> ThreeWayMerge
  ) async -> FileMerge? {
    let heads = note.document.heads()
    guard let text = text(of: note, at: heads) else { return nil }
    let found = make(ReadText(text: text, heads: heads)).takeIn(contents)
    return note.document.heads() == heads ? found : nil
  }

  /// The note's text, read a piece at a time, so that other users of the document wait briefly. Nil if it changes meanwhile.
  private static func text(of note: NoteDocument, at heads: Set<ChangeHash>) -> [UInt8]? {
    let source = DocumentText(note), count = source.measure.utf8
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for start in stride(from: 0, to: count, by: pieceByteCount) {
      bytes += source.utf8(start..<min(start + pieceByteCount, count))
      guard note.document.heads() == heads else { return nil }
    }
    return bytes
  }

  private static let pieceByteCount = 256 << 10

  /// What the client's text has grown out of.
  func start(of text: [UInt8]) -> [UInt8]? {
    (isExact ? bases.first.flatMap(wayFromSteps) : nearest(to: text)?.way).map(old)
  }

  /// A base's text; nil if the document does not know it.
  func text(of base: TextBase) -> [UInt8]? { wayFromSteps(base).map(old) }

  /// A text that the client may have had, and the difference between it and the client's text.
  private struct Found {
    var way: TextDelta
    var distance: Int
    var deletedBytes: Int
    var base: TextBase
    /// Whether this is the base's text itself, rather than a later stage of it.
    var isWholeBase: Bool
  }

  /// Picks, of the texts that the client may have had, the one that differs least from the client's text.
  ///
  /// Whatever the client's text lacks of the chosen one counts as deleted. So a text that the client had for certain always
  /// counts; one that it may have had counts only if the client lacks nothing of it, or a file shows that it was written. At
  /// worst, words appear twice.
  ///
  /// - Parameter isFile: whether `text` is a file that a client may have written without our hearing of it.
  private func nearest(to text: [UInt8], isFile: Bool = false) -> Found? {
    var best: Found?
    let bases = bases.compactMap { ofThisText($0) }
    let possibleBases = possibleBases.compactMap { ofThisText($0) }
    var written: WrittenLines?
    for (index, base) in (bases + possibleBases).enumerated() where best?.distance != 0 {
      for (step, candidate) in candidates(of: base).enumerated() where best?.distance != 0 {
        let old = old(candidate.way)
        var found = compare(text, isFile: isFile, candidate.way, from: old, base, isWholeBase: step == 0)
        let isSure = candidate.isSure && index < bases.count
        if isFile, !isSure, found.deletedBytes > 0, extendsLines(of: old, text) {
          (found.distance, found.deletedBytes) = (text.count - old.count, 0)
        }
        if index == 0, step == 0, isFile || self.isFile, !bases.isEmpty {
          written = WrittenLines(since: old, in: text)
        }
        if !isSure, found.deletedBytes > 0, !(written?.show(old) ?? false) {
          // The client had deleted the lines that the file lacks, or has typed them since it wrote the file: they stay.
          guard let shown = written?.mostLines(of: old) else { continue }
          let way = shown.inverted.composed(with: candidate.way)
          found = compare(text, isFile: isFile, way, from: self.old(way), base, isWholeBase: false)
          guard found.deletedBytes == 0 else { continue }
        }
        if found.distance < best?.distance ?? .max { best = found }
      }
    }
    guard let best else { return nil }
    if isDoubtful, best.distance > 0, source.measure.utf8 <= Self.maximumSearchedBytes {
      return leastDeleting(bases, text, isFile: isFile) ?? best
    }
    guard best.distance > 0, isFile || self.isFile || best.base.actor != nil,
      source.measure.utf8 <= Self.maximumSearchedBytes
    else {
      return best
    }
    let shown = withShownChanges(best, by: best.base.actor, text, isFile: isFile)
    if best.base.actor != nil || holdsOnlyMoreLines(text, than: shown) { return shown }
    return best
  }

  /// Whether the file has each line of the client's text, perhaps continued, in their order: the client was in the middle of a
  /// line when its service died, and went on. A comparison by words takes such a line for another one.
  private func extendsLines(of old: [UInt8], _ text: [UInt8]) -> Bool {
    var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).makeIterator()
    return old.split(separator: 0x0A, omittingEmptySubsequences: false).allSatisfy { line in
      while let next = lines.next() {
        if next.starts(with: line) { return true }
      }
      return false
    }
  }

  /// For a text that is older than what others wrote: the base of which it lacks least that the document still has, plus the
  /// later changes that it contains.
  private func leastDeleting(_ bases: [TextBase], _ text: [UInt8], isFile: Bool) -> Found? {
    bases.compactMap { base -> Found? in
      guard let whole = candidates(of: base).first else { return nil }
      let found = compare(text, isFile: isFile, whole.way, from: old(whole.way), base, isWholeBase: true)
      return withShownChanges(found, by: nil, text, isFile: isFile)
    }.map { (found: $0, lost: bytesLost(by: text, since: $0)) }
      .min { ($0.lost, $0.found.distance) < ($1.lost, $1.found.distance) }?.found
  }

  /// How much of what the text lacks of the found one the document still has, and would lose.
  private func bytesLost(by text: [UInt8], since found: Found) -> Int {
    guard found.deletedBytes > 0 else { return 0 }
    return TextDiff.delta(from: old(found.way), to: text, placement: .beforeDeleted).transformed(over: found.way).mine
      .deletedBytes
  }

  /// Translates a base of the item's text before it was moved to its present text. Nil if the document does not know
  /// the former text, or if the present one may lack words of it that were not deleted.
  private func ofThisText(_ base: TextBase) -> TextBase? {
    guard let object = base.object, let now = note.textObject, object != now else { return base }
    guard note.document.unknown(base.heads).isEmpty, let old = ObjId(description: object),
      let text = try? note.document.textAt(obj: old, heads: base.heads),
      isFollowed || MovedItem.knows(base.heads, of: old, new: note) || MovedItem.hasAll(of: old, new: note)
    else { return nil }
    let move = TextDiff.delta(from: Array(text.utf8), to: source.allUTF8)
    let last = base.steps.last.map { $0.composed(with: move) } ?? move
    return TextBase(heads: heads, steps: base.steps.dropLast() + [last], object: now)
  }

  /// - Parameter old: the text that `way` turns into the document's
  private func compare(
    _ text: [UInt8], isFile: Bool, _ way: TextDelta, from old: [UInt8], _ base: TextBase, isWholeBase: Bool
  ) -> Found {
    var (way, delta) = (way, old == text ? .identity : TextDiff.delta(from: old, to: text, placement: .beforeDeleted))
    if !isFile, delta.insertion(behind: old) == [0x0A] {
      // Vim treats the last line of a file as ended, even if it is not. No person typed that line end, and another
      // person may be in the middle of that line.
      way = TextDelta(utf8Offset: old.count, deleted: [0x0A], inserted: []).composed(with: way)
      delta = TextDiff.delta(from: old + [0x0A], to: text, placement: .beforeDeleted)
    }
    return Found(
      way: way, distance: delta.changedBytes, deletedBytes: delta.deletedBytes, base: base, isWholeBase: isWholeBase)
  }

  /// The text that `way` turns into the document's.
  private func old(_ way: TextDelta) -> [UInt8] { TextView(of: source, through: way.inverted).allUTF8 }

  /// Whether the text is `found`'s text with nothing but whole lines added. Otherwise two words that begin alike could pass for
  /// one, and losing a word is worse than having both.
  private func holdsOnlyMoreLines(_ text: [UInt8], than found: Found) -> Bool {
    let old = old(found.way)
    var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).makeIterator()
    return old.split(separator: 0x0A, omittingEmptySubsequences: false).allSatisfy { line in
      while let next = lines.next() {
        if next == line { return true }
      }
      return false
    }
  }

  /// Texts up to this size are compared with the result of each recent change.
  static let maximumSearchedBytes = 256 << 10
  private static let maximumRecentChanges = 256
  /// How many bases a larger text is compared with.
  private static let maximumBasesOfLargeText = 8
  /// After this many consecutive changes that its text does not contain, the client has none of the later ones.
  private static let maximumUnshownInARow = 24

  /// Other people's changes since the base was stored reached the client as well, until its service died. The client
  /// had those changes that its text contains: with them its text differs less from what it had, and lacks nothing more
  /// of it. Merged as the client's own, they would appear twice.
  private func withShownChanges(_ start: Found, by actor: ActorId?, _ text: [UInt8], isFile: Bool) -> Found {
    var (best, shown) = (start, start.base.heads)
    var unshown = 0
    // What the text lacks of the document's at the base's heads. A file that no editor saves lacks all that is typed.
    let toNow = actor == nil ? way(from: shown, andAllBy: nil) : nil
    let lacking = toNow.map { start.way.composed(with: $0.inverted) } ?? .identity
    for hash in note.document.getHistory().suffix(Self.maximumRecentChanges) where best.distance > 0 {
      let with = shown.union([hash])
      guard var way = way(from: with, andAllBy: actor) else { break }
      if let toNow, !lacking.isIdentity {
        let (_, lackingNow) = toNow.composed(with: way.inverted).transformed(over: lacking.inverted)
        way = lackingNow.inverted.composed(with: way)
      }
      guard way != best.way else { continue }
      let base = TextBase(heads: with, actor: actor, steps: [], object: start.base.object)
      let found = compare(text, isFile: isFile, way, from: old(way), base, isWholeBase: false)
      guard found.distance < best.distance, found.deletedBytes <= best.deletedBytes else {
        unshown += 1
        if unshown == Self.maximumUnshownInARow { break }
        continue
      }
      (best, shown, unshown) = (found, with, 0)
    }
    return best
  }

  /// The delta from a base's text to the document's; nil if the document lacks the base's heads.
  func wayFromSteps(_ base: TextBase) -> TextDelta? {
    guard note.document.unknown(base.heads).isEmpty, let toNow = way(from: base.heads, andAllBy: nil) else {
      return nil
    }
    return base.steps.reduce(into: TextDelta.identity) { $0 = $0.composed(with: $1) }.composed(with: toNow)
  }

  /// A text that the client may have had, as the delta from it to the document's.
  private struct Candidate {
    let way: TextDelta
    /// Whether the client had at least this text.
    let isSure: Bool
  }

  /// The delta to the document's text from the text at `heads` plus all changes of one actor; nil if that text is unknown, or
  /// the document has changed meanwhile.
  private func way(from heads: Set<ChangeHash>, andAllBy actor: ActorId?) -> TextDelta? {
    let edits =
      if let actor {
        try? note.document.textEdits(obj: note.content, since: heads, andAllBy: actor)
      } else {
        try? note.document.textEdits(obj: note.content, since: heads)
      }
    guard let edits, note.document.heads() == self.heads else { return nil }
    return TextDelta(edits)
  }

  /// The texts that the client may have had by a base; none if the base is unusable.
  private func candidates(of base: TextBase) -> [Candidate] {
    guard note.document.unknown(base.heads).isEmpty, let toNow = way(from: base.heads, andAllBy: nil) else { return [] }
    // Edits that were on their way to the client then may have reached it, in order.
    var way = toNow, ways = [way]
    for step in base.steps.reversed() where !step.isIdentity {
      way = step.composed(with: way)
      ways.append(way)
    }
    ways.reverse()
    var found = ways.enumerated().map { Candidate(way: $0.element, isSure: $0.offset == 0) }
    // If the service died after storing changes and before storing the base, the client has all changes that it made itself.
    guard let actor = base.actor, let others = self.way(from: base.heads, andAllBy: actor) else { return found }
    let own = toNow.composed(with: others.inverted)
    guard !own.isIdentity else { return found }
    let lacking = base.steps.reduce(into: TextDelta.identity) { $0 = $0.composed(with: $1) }
    let (_, back) = own.transformed(over: lacking.inverted)
    found.append(Candidate(way: back.inverted.composed(with: others), isSure: true))
    if !lacking.isIdentity { found.append(Candidate(way: others, isSure: false)) }
    return found
  }
}

/// Whether a file shows that a client wrote a text to it, although another program has changed the file since: the file has
/// every line of the text that it did not have before.
private struct WrittenLines {
  private let before: [ArraySlice<UInt8>: Int]
  private let file: [ArraySlice<UInt8>: Int]

  init(since before: [UInt8], in file: [UInt8]) {
    (self.before, self.file) = (Self.counts(of: before), Self.counts(of: file))
  }

  func show(_ text: [UInt8]) -> Bool {
    let new = Self.counts(of: text).filter { line, count in !line.isEmpty && count > before[line] ?? 0 }
    return !new.isEmpty && new.allSatisfy { line, count in file[line] ?? 0 >= count }
  }

  /// The delta from a text to the lines that the file has of it; nil unless the file lacks something that it had before, and shows
  /// that a client wrote something very like this text over it: the file has most of the lines that it did not have before, and
  /// all others.
  func mostLines(of text: [UInt8]) -> TextDelta? {
    let lines = Self.counts(of: text), new = lines.keys.count { before[$0] == nil }
    let missing = Set(lines.keys.filter { file[$0] == nil })
    guard missing.count * 2 < new, missing.allSatisfy({ before[$0] == nil }),
      before.keys.contains(where: { file[$0] == nil })
    else { return nil }
    var builder = DeltaBuilder()
    for line in SharedLines.lines(of: text[...]) {
      let isMissing = missing.contains(line.last == 0x0A ? line.dropLast() : line)
      if isMissing { builder.delete(TextPiece(Array(line))) } else { builder.retain(line.count) }
    }
    return builder.delta
  }

  private static func counts(of text: [UInt8]) -> [ArraySlice<UInt8>: Int] {
    Dictionary(text.split(separator: 0x0A).map { ($0, 1) }, uniquingKeysWith: +)
  }
}
