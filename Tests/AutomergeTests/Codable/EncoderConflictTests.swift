import Foundation
import Testing

@testable import Automerge

/// Writing the value that won a conflict settles it, through every door.
struct EncoderConflictTests {
  struct Board: Codable, Equatable { var title: String, cards: [String], votes = Counter(0), owner: [String: Int] }

  /// Two replicas that disagree about the title and the first card.
  private func disagreeing() throws -> TypedDocument<Board> {
    var mine = try TypedDocument(Board(title: "a", cards: ["x", "y"], owner: ["Ann": 1]))
    var theirs = mine.fork()
    for (name, number) in [("mine", 2), ("theirs", 3)] {
      func change(_ board: inout Board) {
        board.title = name
        board.cards[0] = name
        board.owner["Ann"] = number
      }
      if number == 2 { try mine.change { change(&$0) } } else { try theirs.change { change(&$0) } }
    }
    try mine.merge(theirs)
    #expect(try mine.conflicts.map { $0.path.stringPath() } == [".title", ".cards.[0]", ".owner.Ann"])
    return mine
  }

  @Test func encodingTheModelAsItIsReadSettlesConflictsOfSingleValues() throws {
    let typed = try disagreeing(), content = try typed.content, document = typed.document
    #expect(try document.operations { try AutomergeEncoder(doc: document).encode(content) } == 3)
    #expect(try typed.conflicts.isEmpty && typed.content == content)
    #expect(try document.operations { try AutomergeEncoder(doc: document).encode(content) } == 0)
  }

  @Test func encodingAtAPathSettlesThatPlace() throws {
    let typed = try disagreeing(), document = typed.document
    try AutomergeEncoder(doc: document).encode(typed.content.title, at: [AnyCodingKey("title")])
    try AutomergeEncoder(doc: document).encode(typed.content.cards, at: [AnyCodingKey("cards")])
    #expect(try typed.conflicts.map { $0.path.stringPath() } == [".owner.Ann"])
  }

  @Test func aTypedChangeSettlesThemToo() throws {
    var typed = try disagreeing()
    let winner = try typed.content.title
    try typed.change { $0.title = winner }
    #expect(try typed.conflicts.isEmpty && typed.content.title == winner)
  }

  @Test func objectsInAConflictKeepWhatIsInThem() throws {
    var mine = TypedDocument<[String: [String]]>(document: Document())
    var theirs = TypedDocument<[String: [String]]>(document: mine.document.fork())
    try mine.change { $0["list"] = ["mine"] }
    try theirs.change { $0["list"] = ["theirs"] }
    try mine.merge(theirs)
    let content = try mine.content
    #expect(try mine.conflicts.count == 1)
    try mine.change { $0 = content }
    #expect(try mine.conflicts.first?.candidates.count == 2)
  }
}
