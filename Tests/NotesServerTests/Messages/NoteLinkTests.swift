import Testing

@testable import NotesServer

struct NoteLinkTests {
  private func links(_ line: String) -> [NoteLink] { NoteLink.all(in: Array(line.utf8)[...]) }

  @Test func titlesHeadingsAndWordsAreToldApart() {
    let found = links("[[ One ]] and [[Two#Part|shown]] and [[Three|x]]")
    #expect(found.map(\.title) == ["One", "Two", "Three"])
    #expect(found.map(\.heading) == [nil, "Part", nil])
    #expect(found.map(\.part) == [3..<6, 16..<19, 39..<44])
  }

  @Test func whatIsNoLinkIsLeftAlone() {
    #expect(links("[[]] [[ ]] [[#x]] [[|y]] [one] ]] [[open").isEmpty)
    #expect(links("[[" + String(repeating: "a", count: 2000) + "]]").isEmpty)
    // The innermost counts.
    #expect(links("[[a [[b]]").map(\.title) == ["b"])
  }

  @Test func aTitleBeginsBehindTheLastOpenBrackets() {
    let line = Array("[[a]] [[bc".utf8)[...]
    #expect(NoteLink.begun(in: line, before: 10) == 8)
    #expect(NoteLink.begun(in: line, before: 7) == nil)
    #expect(NoteLink.begun(in: line, before: 4) == 2)
    #expect(NoteLink.begun(in: line, before: 0) == nil)
    #expect(NoteLink.begun(in: Array("[".utf8)[...], before: 1) == nil)
  }
}
