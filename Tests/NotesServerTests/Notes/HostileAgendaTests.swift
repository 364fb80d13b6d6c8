import Automerge
import TestSupport
import Testing

@testable import NotesServer

/// Agendas that our programs never make.
@Suite struct HostileAgendaTests {
  private func meeting(_ items: [MeetingContent.Item]) throws -> MeetingDocument {
    try MeetingDocument(
      new: Document(textEncoding: .utf8), MeetingContent(title: "Weekly", attendees: [], agendas: items))
  }

  /// Items with one id, and other items whose ids are the ones that would tell these apart.
  @Test func manyItemsOfOneIdAreToldApartInTimeInProportion() throws {
    func seconds(_ count: Int) throws -> Double {
      let taken = (2..<count / 2).map { MeetingContent.Item(id: "x#\($0)", title: "", discussion: "") }
      let same = (0..<count / 2).map { _ in MeetingContent.Item(id: "x", title: "", discussion: "") }
      let meeting = try meeting(taken + same)
      #expect(Set(meeting.items.map(\.id)).count == taken.count + same.count)
      return (0..<3).map { _ in ProcessorTime.inThisThread { meeting.items.count }.seconds }.min() ?? 0
    }
    // Twelve times as many items take twelve times as long; if each searched for its number from the start, far longer.
    let (short, long) = (try seconds(200), try seconds(2400))
    #expect(long < 30 * short + 0.005)
  }

  @Test func aTitleWithoutEndIsCutWhereItIsShownAndStaysInTheDocument() throws {
    let long = String(repeating: "tea ", count: 1000)
    let meeting = try meeting([.init(id: "1", title: long, discussion: ""), .init(id: "2", title: "b", discussion: "")])
    let first = try #require(meeting.items.first)
    #expect(first.title.unicodeScalars.count == NoteDocument.maximumTitleLength)
    try meeting.move(first, to: 2)
    #expect(meeting.items.map(\.id) == ["2", "1"])
    #expect(meeting.content.agendas.last?.title == long)
  }
}
