import Testing

@testable import NotesServer

/// Edits to clients without a plugin: the gate offers one at a time, and counts it as applied when the client's text
/// shows it.
struct OfferTests {
  private final class Desk {
    var document: ArrayText
    var buffer: OpenBuffer
    var version = 1

    init(_ text: String) {
      document = ArrayText(text)
      buffer = OpenBuffer(version: 1, encoding: .utf8, gate: .plain)
    }

    /// Another person's text at a place of the document.
    func remote(_ offset: Int, _ text: String, deleting count: Int = 0) {
      let deleted = Array(document.bytes[offset..<offset + count])
      let delta = TextDelta(utf8Offset: offset, deleted: deleted, inserted: Array(text.utf8))
      document = ArrayText(String(decoding: delta.applied(to: document.bytes), as: UTF8.self))
      buffer.documentChanged(by: delta)
    }

    func offer() -> BufferEdit? { buffer.nextOffer(source: document) }

    /// The client sends its whole text.
    func shows(_ text: String) {
      version += 1
      let outcome = buffer.didChange(
        version: version, rev: nil, changes: [.fullText(Array(text.utf8))], source: document)
      if case .splices(let splices) = outcome { document.make(splices) }
    }

    var text: String { document.string }
    var client: String { String(decoding: buffer.clientText(source: document), as: UTF8.self) }
  }

  @Test func aFullTextThatALaterOneHasOvertakenIsDropped() {
    let desk = Desk("one\n")
    desk.version = 2
    desk.shows("one, two\n")
    desk.version = 1
    desk.shows("one,\n")
    #expect(desk.text == "one, two\n" && desk.buffer.version == 3)
    desk.version = 3
    desk.shows("one, two, three\n")
    #expect(desk.text == "one, two, three\n" && desk.buffer.version == 4)
  }

  @Test func oneEditIsOfferedAtATime() throws {
    let desk = Desk("one\n")
    desk.remote(0, "zero\n")
    let edit = try #require(desk.offer())
    #expect(edit.version == 1 && edit.edits.map(\.newText) == [Array("zero\n".utf8)])
    desk.remote(0, "minus one\n")
    #expect(desk.offer() == nil)
    desk.buffer.offerAnswered(edit, isApplied: true)
    #expect(desk.offer() == nil, "a client's answer alone is not enough")
    #expect(desk.client == "one\n")
    desk.shows("zero\none\n")
    #expect(desk.text == "minus one\nzero\none\n" && desk.client == "zero\none\n")
    #expect(desk.offer()?.edits.map(\.newText) == [Array("minus one\n".utf8)])
  }

  @Test func whatIsTypedWithTheEchoIsThePersons() {
    let desk = Desk("one\n")
    desk.remote(4, "two\n")
    #expect(desk.offer() != nil)
    desk.shows("one more\ntwo\n")
    #expect(desk.text == "one more\ntwo\n" && desk.offer() == nil)
  }

  @Test func aSkippedEditIsNoDeletion() throws {
    let desk = Desk("one\n")
    desk.remote(4, "two\n")
    let edit = try #require(desk.offer())
    desk.buffer.offerAnswered(edit, isApplied: true)
    desk.shows("one more\n")
    #expect(desk.text == "one more\ntwo\n")
    #expect(desk.offer()?.version == 2)
  }

  /// A client sends the change that shows an edit at once and its answer later: the next edit may be on its way then.
  @Test(arguments: [true, false]) func aLateAnswerSaysNothingAboutTheNextEdit(isApplied: Bool) throws {
    let desk = Desk("one\n")
    desk.remote(4, "two\n")
    let first = try #require(desk.offer())
    desk.shows("one\ntwo\n")
    desk.remote(8, "three\n")
    let second = try #require(desk.offer())
    desk.buffer.offerAnswered(first, isApplied: isApplied)
    // Typed before the client has heard of the second edit, which it applies then.
    desk.shows("one!\ntwo\n")
    #expect(desk.offer() == nil, "the second edit is still on its way")
    desk.shows("one!\ntwo\nthree\n")
    #expect(desk.text == "one!\ntwo\nthree\n" && desk.client == desk.text)
    desk.buffer.offerAnswered(second, isApplied: true)
    #expect(desk.offer() == nil)
  }

  @Test func aRefusedEditWaitsForTheNextChange() throws {
    let desk = Desk("one\n")
    desk.remote(4, "two\n")
    let edit = try #require(desk.offer())
    desk.buffer.offerAnswered(edit, isApplied: false)
    #expect(desk.offer() == nil)
    desk.shows("one!\n")
    #expect(desk.offer() != nil && desk.text == "one!\ntwo\n")
  }

  @Test func anEditRefusedForAVersionThatIsPastIsOfferedAtOnce() throws {
    let desk = Desk("one\n")
    desk.remote(4, "two\n")
    let edit = try #require(desk.offer())
    desk.shows("one!\n")
    #expect(desk.offer() == nil)
    desk.buffer.offerAnswered(edit, isApplied: false)
    #expect(desk.offer()?.version == 2)
  }

  @Test func anEditMadeInALaterTextIsKnownAgain() throws {
    let desk = Desk("one\n")
    desk.remote(4, "two\n")
    let edit = try #require(desk.offer())
    desk.shows("zero\none\n")
    desk.buffer.offerAnswered(edit, isApplied: true)
    desk.shows("zero\ntwo\none\n")
    #expect(desk.text == "zero\ntwo\none\n", "it is where the client put it, and once")
    #expect(desk.offer() == nil)
  }

  @Test func aDeletionCountsWhenItIsShown() {
    let desk = Desk("one\ntwo\nthree\n")
    desk.remote(4, "", deleting: 4)
    #expect(desk.offer() != nil)
    desk.shows("one\nthree\nfour\n")
    #expect(desk.text == "one\nthree\nfour\n" && desk.client == desk.text)
  }

  @Test func whatThePersonDeletesOfAShownEditIsDeleted() {
    let desk = Desk("one\n")
    desk.remote(4, "two\n")
    #expect(desk.offer() != nil)
    desk.shows("one\ntwo\n")
    desk.shows("one\n")
    #expect(desk.text == "one\n")
  }
}
