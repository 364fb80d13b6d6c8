import Testing

@testable import NotesServer

/// What the gate believes of a client's text, and what it does when it no longer knows it.
struct OpenBufferRepairTests {
  private struct Desk {
    var document: ArrayText
    var buffer: OpenBuffer

    init(_ text: String, gate: OpenBuffer.Gate) {
      document = ArrayText(text)
      buffer = OpenBuffer(version: 1, encoding: .utf8, gate: gate)
    }

    mutating func remote(_ splices: TextSplice...) { buffer.documentChanged(document.make(splices)) }

    @discardableResult
    mutating func change(_ version: Int, rev: Int? = nil, _ changes: ContentChange...) -> ChangeOutcome {
      let outcome = buffer.didChange(version: version, rev: rev, changes: changes, source: document)
      if case .splices(let splices) = outcome { document.make(splices) }
      return outcome
    }
  }

  private func typed(_ text: String) -> ContentChange {
    .replace(
      PositionRange(start: Position(line: 0, character: 0), end: Position(line: 0, character: 0)), Array(text.utf8))
  }

  private func splice(_ offset: Int, delete count: Int = 0, _ text: String = "") -> TextSplice {
    TextSplice(utf8Offset: offset, deleteUTF8: count, insert: Array(text.utf8))
  }

  @Test func aPlainClientGoesOnAfterItsFullText() {
    var desk = Desk("one\n", gate: .plain)
    #expect(desk.change(1, typed("late ")) == .resync(.version(1, expected: 2)))
    desk.remote(splice(4, "two\n"))
    #expect(desk.change(2, typed("x")) == .ignored)
    #expect(desk.buffer.nextOffer(source: desk.document) == nil, "the client's text is not known")
    desk.change(3, .fullText(Array("one!\n".utf8)))
    #expect(desk.document.string == "one!\ntwo\n")
    desk.change(4, typed("y"))
    #expect(desk.document.string == "yone!\ntwo\n")
    #expect(desk.buffer.nextOffer(source: desk.document)?.version == 4)
  }

  /// An author of a plugin finds his mistake by it.
  @Test(arguments: [OpenBuffer.Gate.notes, .plain]) func aContradictionNamesTheVersionThatWasExpected(
    gate: OpenBuffer.Gate
  ) {
    for version in [0, 1] {
      var desk = Desk("one\n", gate: gate)
      #expect(desk.change(version, rev: 0, typed("x")) == .resync(.version(version, expected: 2)))
    }
  }

  /// A plain client has applied the first half of an edit and then stopped: the person has not deleted the other half.
  @Test func anEditThatIsShownInPartDeletesNothing() {
    var desk = Desk("one\ntwo\nthree\n", gate: .plain)
    desk.remote(splice(14, "four\n"), splice(4, delete: 4), splice(0, "zero\n"))
    #expect(desk.document.string == "zero\none\nthree\nfour\n")
    #expect(desk.buffer.nextOffer(source: desk.document) != nil)
    desk.change(2, .fullText(Array("zero\none\nthree\n".utf8)))
    #expect(desk.document.string.hasSuffix("three\nfour\n"), "\(desk.document.string)")
  }
}
