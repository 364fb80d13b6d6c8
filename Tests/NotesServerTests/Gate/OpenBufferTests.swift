import Automerge
import Testing

@testable import NotesServer

/// A document and one client's buffer of it, for examples in one line each.
private struct Desk {
  var document: ArrayText
  var buffer: OpenBuffer

  init(_ text: String, encoding: PositionEncoding = .utf8, gate: OpenBuffer.Gate = .notes) {
    document = ArrayText(text)
    buffer = OpenBuffer(version: 1, encoding: encoding, gate: gate)
  }

  var text: String { document.string }

  /// Another person replaces `count` bytes by `insert`.
  mutating func remote(_ offset: Int, delete count: Int = 0, _ insert: String = "", cause: EditCause = .remote) {
    let splice = TextSplice(utf8Offset: offset, deleteUTF8: count, insert: Array(insert.utf8))
    buffer.documentChanged(document.make([splice]), cause: cause)
  }

  mutating func send() -> BufferEdit? { buffer.pendingEdit(source: document) }

  @discardableResult
  mutating func change(_ version: Int, rev: Int?, _ changes: ContentChange...) -> ChangeOutcome {
    let outcome = buffer.didChange(version: version, rev: rev, changes: changes, source: document)
    if case .splices(let splices) = outcome { document.make(splices) }
    return outcome
  }
}

private func replace(_ start: (Int, Int), _ end: (Int, Int), _ text: String) -> ContentChange {
  .replace(range(start, end), Array(text.utf8))
}

private func range(_ start: (Int, Int), _ end: (Int, Int)) -> PositionRange {
  PositionRange(
    start: Position(line: start.0, character: start.1), end: Position(line: end.0, character: end.1))
}

struct OpenBufferTests {
  @Test func typingGoesStraightIntoTheDocument() {
    var desk = Desk("hello\n")
    #expect(
      desk.change(2, rev: 0, replace((0, 5), (0, 5), " you"))
        == .splices([TextSplice(utf8Offset: 5, deleteUTF8: 0, insert: Array(" you".utf8))]))
    #expect(desk.text == "hello you\n")
    #expect(desk.send() == nil)
  }

  @Test func aFullTextAfterAnotherChangeIsTheText() {
    var desk = Desk("one\ntwo\n")
    desk.change(2, rev: 0, replace((1, 0), (1, 0), "not "), .fullText(Array("ONE\nnot two\nthree\n".utf8)))
    #expect(desk.text == "ONE\nnot two\nthree\n")
  }

  @Test func aRemoteEditIsSentWithVersionRevAndBytes() {
    var desk = Desk("one\ntwo\n", encoding: .utf16)
    desk.remote(0, "𝄞")
    desk.remote(8, delete: 3, "2")
    #expect(
      desk.send()
        == BufferEdit(
          version: 1, rev: 1,
          edits: [
            .init(range: range((0, 0), (0, 0)), newText: Array("𝄞".utf8)),
            .init(range: range((1, 0), (1, 3)), newText: Array("2".utf8)),
          ], bytes: 10, cause: .remote))
    #expect(desk.send() == nil)
  }

  @Test func severalEditsMayBeInFlightAndThoseUpToRevCount() {
    var desk = Desk("x")
    desk.remote(0, "a")
    _ = desk.send()
    desk.remote(0, "b")
    #expect(desk.send()?.rev == 2)
    // The client has applied the first ("ax") and dropped the second.
    desk.change(2, rev: 1, replace((0, 2), (0, 2), "!"))
    #expect(desk.text == "bax!")
    #expect(
      desk.send()
        == BufferEdit(
          version: 2, rev: 3, edits: [.init(range: range((0, 0), (0, 0)), newText: Array("b".utf8))], bytes: 4,
          cause: .remote))
  }

  @Test func typedTextStaysWithTheElementLeftOfIt() {
    var desk = Desk("ab")
    desk.remote(1, "REMOTE")
    desk.change(2, rev: 0, replace((0, 1), (0, 1), "mine"))
    #expect(desk.text == "amineREMOTEb")
  }

  @Test func typedTextFindsItsPlaceAmongTombstones() {
    var desk = Desk("xabcy")
    desk.remote(1, "1")
    desk.remote(3, "2")
    desk.remote(2, delete: 1)  // a
    desk.remote(3, delete: 2)  // b, c
    #expect(desk.text == "x12y")
    desk.change(2, rev: 0, replace((0, 2), (0, 2), "N"))
    #expect(desk.text == "x1N2y")
  }

  @Test func aDeletedRangeSparesWhatTheClientHasNotSeen() {
    var desk = Desk("abcdef")
    desk.remote(3, "NEW")
    desk.remote(1, delete: 1)
    desk.change(2, rev: 0, replace((0, 0), (0, 6), ""))
    #expect(desk.text == "NEW")
    #expect(desk.send()?.edits == [.init(range: range((0, 0), (0, 0)), newText: Array("NEW".utf8))])
  }

  @Test func rangesOfABatchCountInWhatTheChangesBeforeLeft() {
    var desk = Desk("one\ntwo\n")
    desk.remote(4, "# ")
    desk.change(
      2, rev: 0, replace((0, 0), (0, 0), "zero\n"), replace((2, 3), (2, 3), "!"), replace((0, 0), (1, 0), ""))
    #expect(desk.text == "one\n# two!\n")
  }

  @Test(arguments: [false, true], PositionEncoding.allCases)
  func aSubstitutionOnEveryLineIsTheSameUpAndDown(fromTheBottom: Bool, encoding: PositionEncoding) {
    var desk = Desk(String(repeating: "é foo 𝄞 foo\n", count: 30), encoding: encoding)
    desk.remote(0, "REMOTE\n")
    let (first, second) =
      switch encoding {
      case .utf8: (3, 12)
      case .utf16: (2, 9)
      case .utf32: (2, 8)
      }
    // From the top down: the first change of a line moves the second one, and inserted lines move all lines below.
    let changes = (0..<30).flatMap { line in
      let row = fromTheBottom ? line : 2 * line
      return [
        replace((row, first), (row, first + 3), "barn"),
        fromTheBottom
          ? replace((row, second), (row, second + 3), "x\ny") : replace((row, second + 1), (row, second + 4), "x\ny"),
      ]
    }
    let outcome = desk.buffer.didChange(
      version: 2, rev: 0, changes: fromTheBottom ? changes.reversed() : changes, source: desk.document)
    guard case .splices(let splices) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    desk.document.make(splices)
    #expect(desk.text == "REMOTE\n" + String(repeating: "é barn 𝄞 x\ny\n", count: 30))
    #expect(splices.count == 60)
  }

  @Test func positionsBeyondEveryLimitAreClamped() {
    var desk = Desk("a\nb")
    desk.change(
      2, rev: 0, replace((0, 0), (1, 0), ""), replace((.max, .max), (.max, .max), "c"),
      replace((0, .max), (.max, 0), "d"),
      replace((.min, .min), (.min, .min), "e"))
    #expect(desk.text == "ebcd")
  }

  @Test func aCoarseChangeIsRefined() {
    var desk = Desk("alpha\nbeta\ngamma\n")
    desk.remote(8, "REMOTE")
    let outcome = desk.change(2, rev: 0, replace((0, 0), (3, 0), "alpha\nbeTa\ngamma!\n"))
    #expect(desk.text == "alpha\nbeREMOTETa\ngamma!\n" || desk.text == "alpha\nbeTREMOTEa\ngamma!\n")
    guard case .splices(let splices) = outcome else {
      Issue.record("the change was not applied: \(outcome)")
      return
    }
    #expect(splices.map(\.deleteUTF8).reduce(0, +) == 1)
  }

  @Test func aFullTextIsTheDifferenceFromTheClientsText() {
    var desk = Desk("abc\n")
    desk.remote(0, "REMOTE ")
    desk.change(2, rev: 0, .fullText(Array("abc def\n".utf8)))
    #expect(desk.text == "REMOTE abc def\n")
    #expect(desk.send()?.edits == [.init(range: range((0, 0), (0, 0)), newText: Array("REMOTE ".utf8))])
  }

  @Test func aFullTextThatWasComparedElsewhereIsTheSame() {
    var desk = Desk("abc\n")
    desk.remote(0, "REMOTE ")
    let before = desk.buffer.textBefore(fullTextWith: 0, source: desk.document)
    #expect(before == Array("abc\n".utf8))
    // Edits that arrive meanwhile come after the text that the client has.
    desk.remote(0, "MORE ")
    desk.change(
      2, rev: 0, .difference(TextDiff.delta(from: before, to: Array("abc def\n".utf8), placement: .beforeDeleted)))
    #expect(desk.text == "MORE REMOTE abc def\n")
    #expect(desk.send()?.edits == [.init(range: range((0, 0), (0, 0)), newText: Array("MORE REMOTE ".utf8))])
  }

  @Test func changesBeforeAFullTextDoNotMatter() {
    var desk = Desk("abc")
    desk.change(
      2, rev: 0, replace((0, 9), (0, 1), "nonsense"), .fullText(Array("abcd".utf8)), replace((0, 0), (0, 1), ""))
    #expect(desk.text == "bcd")
  }

  @Test func contradictionsAskForTheFullTextAndNothingElseIsTaken() {
    for (version, rev) in [(3, 0), (1, 0), (0, 0), (2, 2), (2, -1), (.max, .max)] {
      var desk = Desk("abc")
      desk.remote(0, "x")
      _ = desk.send()
      guard case .resync(let contradiction) = desk.change(version, rev: rev, replace((0, 0), (0, 0), "y")) else {
        Issue.record("\(version) \(rev) was taken")
        continue
      }
      #expect(!contradiction.reason.isEmpty)
      #expect(desk.change(version &+ 1, rev: rev, replace((0, 0), (0, 0), "z")) == .ignored)
      desk.remote(0, "w")
      #expect(desk.send() == nil)
      desk.change(9, rev: 1, .fullText(Array("xabc!".utf8)))
      #expect(desk.text == "wxabc!")
      #expect(desk.send()?.version == 9)
      #expect(desk.change(10, rev: 1, replace((0, 0), (0, 0), "-")) != .ignored)
    }
  }

  @Test func aRevThatWasDroppedIsAContradiction() {
    var desk = Desk("abc")
    desk.remote(0, "x")
    _ = desk.send()
    desk.change(2, rev: 0, replace((0, 0), (0, 0), "y"))
    _ = desk.send()
    #expect(desk.change(3, rev: 1) == .resync(.rev(1, lastSent: 2)))
  }

  @Test func aRangeThatEndsBeforeItStartsIsAContradiction() {
    var desk = Desk("abc")
    #expect(desk.change(2, rev: 0, replace((0, 2), (0, 1), "")) == .resync(.range(range((0, 2), (0, 1)))))
    #expect(desk.text == "abc")
  }

  @Test func aFullTextWithAnyNumbersRepairs() {
    var desk = Desk("abc")
    desk.change(.max, rev: .max, .fullText(Array("abcd".utf8)))
    #expect(desk.text == "abcd")
    desk.remote(0, "x")
    #expect(desk.send()?.version == .max)
    #expect(desk.change(.min, rev: .min, .fullText(Array("abcd".utf8))) != .ignored)
  }

  @Test func acknowledgedEditsAreForgotten() throws {
    var desk = Desk("abc")
    desk.remote(0, "x")
    _ = desk.send()
    desk.remote(0, "y")
    _ = desk.send()
    #expect(try desk.buffer.acknowledge(version: 1, rev: 1))
    #expect(desk.buffer.inFlight.map(\.rev) == [2])
    #expect(try desk.buffer.acknowledge(version: 0, rev: 1) == false)
    #expect(throws: ContradictionError.self) { try desk.buffer.acknowledge(version: 1, rev: 7) }
    #expect(desk.buffer.awaitsFullText)
  }

  @Test func aClientThatNeverAcknowledgesCostsBoundedMemory() throws {
    var desk = Desk("")
    for _ in 0..<1000 {
      desk.remote(0, "x")
      _ = desk.send()
    }
    #expect(desk.buffer.inFlight.count <= OpenBuffer.maximumInFlight)
    // A late acknowledgement is harmless.
    #expect(try desk.buffer.acknowledge(version: 1, rev: 3) == false)
    desk.change(2, rev: 1000, replace((0, 0), (0, 1), ""))
    #expect(desk.text.utf8.count == 999)
    #expect(desk.buffer.clientToDocument.isIdentity)
  }

  @Test func whatWasUndoneBeforeItWasSentIsNotSent() {
    var desk = Desk("abc")
    desk.remote(1, "x")
    desk.remote(1, delete: 1)
    #expect(desk.send() == nil)
    desk.remote(1, delete: 1)
    desk.remote(1, "b")
    #expect(desk.send() == nil)
    #expect(desk.buffer.clientToDocument.isIdentity)
  }

  @Test func theCauseTravelsUnlessCausesAreMixed() {
    var desk = Desk("abc")
    desk.remote(1, "x", cause: .undo)
    #expect(desk.send()?.cause == .undo)
    desk.change(2, rev: 0, replace((0, 0), (0, 0), "y"))
    #expect(desk.send()?.cause == .undo)
    desk.remote(1, "z", cause: .undo)
    desk.remote(1, "z")
    #expect(desk.send()?.cause == .remote)
  }

  @Test func placesAreFoundBothWays() {
    var desk = Desk("ab\ncd", encoding: .utf16)
    desk.remote(0, "𝄞")
    _ = desk.send()
    desk.remote(7, "NEW")
    // The client may have neither edit yet; it will have the first.
    #expect(desk.buffer.documentOffset(ofClient: Position(line: 1, character: 1), source: desk.document) == 11)
    #expect(desk.buffer.clientPosition(ofDocument: 4, source: desk.document) == Position(line: 0, character: 2))
    for offset in 7...10 {
      #expect(desk.buffer.clientPosition(ofDocument: offset, source: desk.document) == Position(line: 1, character: 0))
    }
    #expect(desk.buffer.clientByteCount(source: desk.document) == 9)
    #expect(desk.buffer.clientText(source: desk.document) == Array("𝄞ab\ncd".utf8))
  }

  @Test func aPlainClientSkipsVersionsAndIsSentNothing() {
    var desk = Desk("abc", gate: .plain)
    desk.remote(0, "x")
    #expect(desk.send() == nil)
    desk.change(7, rev: nil, replace((0, 3), (0, 3), "!"))
    #expect(desk.text == "xabc!")
    #expect(desk.change(7, rev: nil) == .resync(.version(7, expected: 8)))
  }
}

struct OpeningTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func opened(_ text: String, base: String, document: String) -> (document: String, client: String) {
    var source = ArrayText(document)
    let delta = TextDiff.delta(from: bytes(base), to: bytes(document), placement: .beforeDeleted)
    var (buffer, splices) = OpenBuffer.open(
      version: 1, encoding: .utf8, text: bytes(text), base: delta, source: source)
    source.make(splices)
    #expect(buffer.clientToDocument.applied(to: bytes(text)) == source.bytes)
    _ = buffer.pendingEdit(source: source)
    return (source.string, String(decoding: buffer.clientText(source: source), as: UTF8.self))
  }

  @Test func openingMergesFromTheBase() {
    let result = opened("one mine\ntwo\n", base: "one\ntwo\n", document: "one\ntwo\nthree\n")
    #expect(result.document == "one mine\ntwo\nthree\n")
    #expect(result.client == result.document)
  }

  @Test func wordsThatWereStoredButNotSavedStayOnce() {
    #expect(opened("one\n", base: "one\n", document: "one\nstored\n").document == "one\nstored\n")
  }

  @Test func wordsThatTheBufferAlreadyHasAreNotDoubled() {
    #expect(opened("one\nremote\nmine\n", base: "one\n", document: "one\nremote\n").document == "one\nremote\nmine\n")
  }

  @Test(arguments: [
    ("shared\ntheirs\n", "mine\nshared\n", "mine\nshared\ntheirs\n"), ("", "mine", "mine"), ("theirs", "", "theirs"),
    ("same", "same", "same"), ("a\nb\n", "a\nb", "a\nb\n"), ("theirs", "mine", "mine\ntheirs\n"),
    ("<theirs>yes\n", "yes\n", "yes\n<theirs>yes\n"),
  ]) func withoutABaseBothAreKept(document: String, text: String, union: String) {
    var source = ArrayText(document)
    let (buffer, splices) = OpenBuffer.openKeepingBoth(
      version: 1, encoding: .utf8, text: bytes(text), source: source)
    source.make(splices)
    #expect(source.string == union)
    #expect(buffer.clientToDocument.applied(to: bytes(text)) == source.bytes)
  }

  @Test(arguments: [
    ("<theirs>shared\n", "shared\n", true), ("shared, theirs\nlast", "shared\nlast", true),
    ("more\nshared\nmore\nlast\n", "shared\nlast\n", true), ("sharedtheirs\n", "shared\n", false),
    ("determined\n", "mine\n", false), ("mi<theirs>ne\n", "mine\n", false), ("say yes to it\n", "say it\n", false),
    ("can't go\n", "can\n", false), ("1.5 eggs\n", "5 eggs\n", false), ("src/main.c\n", "src\n", false),
  ]) func ofAnEarlierTextNothingStandsTwice(document: String, text: String, hasAll: Bool) {
    var source = ArrayText(document)
    let (buffer, splices) = OpenBuffer.openKeepingBoth(
      version: 1, encoding: .utf8, text: bytes(text), isEarlier: true, source: source)
    #expect(splices.isEmpty == hasAll)
    source.make(splices)
    #expect(hasAll || source.string.contains(text))
    #expect(buffer.clientToDocument.applied(to: bytes(text)) == source.bytes)
  }
}
