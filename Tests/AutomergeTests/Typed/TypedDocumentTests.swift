import Foundation
import Testing

@testable import Automerge

struct TypedDocumentTests {
  struct Pets: Codable, Equatable {
    var names: [String] = []
    var owner: String?
    var walks = Counter(0)
    var diary = AutomergeText()
  }

  private func pets(_ names: String...) throws -> TypedDocument<Pets> {
    try TypedDocument(Pets(names: names), message: "first", timestamp: Date(timeIntervalSince1970: 10))
  }

  @Test func aValueIsChangedAndReadBack() throws {
    var typed = try pets("Fido")
    let made = try typed.change(message: "a cat", timestamp: Date(timeIntervalSince1970: 20)) { pets in
      pets.names.append("Tom")
      pets.walks.increment(by: 2)
      pets.diary.value = "It rained."
    }
    let content = try typed.content
    #expect(content.names == ["Fido", "Tom"] && content.walks.value == 2 && content.diary.value == "It rained.")
    #expect(typed.document.heads() == [try #require(made)])
    let unchanged = try typed.change { $0.names = ["Fido", "Tom"] }
    #expect(unchanged == nil)
    #expect(typed.document.getHistory().count == 2)
  }

  @Test func aBodyThatThrowsMakesNoChangeOfTheValue() throws {
    var typed = try pets("Fido")
    #expect(throws: DocError.invalidValue) {
      try typed.change { pets in
        pets.names = []
        throw DocError.invalidValue
      }
    }
    #expect(try typed.content == Pets(names: ["Fido"]))
    #expect(typed.document.getHistory().count == 1)
  }

  @Test func aBodyThatThrowsTakesBackWhatItsTextsAndCountersWroteAndNothingElse() throws {
    var typed = try pets("Fido")
    let document = typed.document
    try typed.change { pets in
      pets.diary.value = "It rained."
      pets.walks.increment(by: 2)
    }
    let before = try typed.content.names
    var friend = typed.fork()
    try friend.change { $0.diary.value = "Yes, it rained a lot." }
    guard case .Object(let diary, .Text)? = try document.get(obj: .ROOT, key: "diary") else { throw Missing() }
    #expect(throws: DocError.invalidValue) {
      try typed.change { pets in
        pets.diary.value = "It snowed."
        pets.walks.increment(by: 5)
        pets.names = []
        // Meanwhile, others, and this replica elsewhere.
        try document.merge(other: friend.document)
        try document.spliceText(obj: diary, start: 0, delete: 0, value: "> ")
        try document.increment(obj: .ROOT, key: "walks", by: 100)
        pets.diary.value += " Really."
        throw DocError.invalidValue
      }
    }
    #expect(try typed.content.diary.value == "> Yes, it rained a lot.")
    #expect(try typed.content.walks.value == 102)
    #expect(try typed.content.names == before)
    #expect(document.brokenInvariant() == nil)
    // What failed is neither undone nor redone.
    #expect(!document.canRedo)
    try document.undo()
    #expect(!(try typed.content.diary.value.contains("snow")))
  }

  @Test func changesBringOneDocumentToTheStateOfAnother() throws {
    var mine = try pets("Fido")
    var theirs = try TypedDocument<Pets>(changes: mine.allChanges())
    #expect(try theirs.content == mine.content)
    let before = mine.fork()
    try mine.change { $0.names.append("Tom") }
    try mine.change { $0.owner = "Ann" }
    let changes = mine.changes(between: before)
    #expect(changes.count == 2 && mine.changes(between: mine).isEmpty && mine.allChanges().count == 3)
    try theirs.apply(changes: changes.reversed())
    try theirs.apply(changes: changes)
    #expect(try theirs.content == mine.content && theirs.document.heads() == mine.document.heads())
    #expect(throws: LoadError.self) { try theirs.apply(changes: [Data("nonsense".utf8)]) }
    let loaded = try TypedDocument<Pets>(mine.save())
    #expect(try loaded.content == mine.content)
  }

  @Test func theHistoryHasTheValueAfterEachChange() throws {
    var typed = try pets("Fido")
    try typed.change(message: "a cat", timestamp: Date(timeIntervalSince1970: 20)) { $0.names.append("Tom") }
    var other = typed.fork()
    try typed.change(message: "mine") { $0.owner = "Ann" }
    try other.change(message: "theirs") { $0.diary.value = "It rained." }
    try typed.merge(other)

    let history = typed.history
    #expect(history.map(\.message) == ["first", "a cat", "mine", "theirs"])
    #expect(history.prefix(2).map(\.timestamp) == [10, 20].map { Date(timeIntervalSince1970: $0) })
    #expect(history.map(\.hash) == typed.document.getHistory())
    #expect(history[0].actor == typed.document.actor && history[3].actor == other.document.actor)
    #expect(
      try history.map { try $0.snapshot.names } == [["Fido"], ["Fido", "Tom"], ["Fido", "Tom"], ["Fido", "Tom"]])
    #expect(try history.map { try $0.snapshot.owner } == [nil, nil, "Ann", nil])
    #expect(try history.map { try $0.snapshot.diary.value } == ["", "", "", "It rained."])
    let past = try history[1].snapshot
    past.diary.value = "changed"
    #expect(try typed.content.diary.value == "It rained.")
  }

  @Test func conflictsAreThePlacesWithSeveralValues() throws {
    struct Board: Codable { var title: String, cards: [[String: Int]] }
    var mine = try TypedDocument(Board(title: "a", cards: [["x": 1]]))
    var theirs = mine.fork()
    #expect(try mine.conflicts.isEmpty)
    try mine.change {
      $0.title = "mine"
      $0.cards[0]["x"] = 2
    }
    try theirs.change {
      $0.title = "theirs"
      $0.cards[0]["x"] = 3
    }
    try mine.merge(theirs)
    try theirs.merge(mine)
    let conflicts = try mine.conflicts
    #expect(conflicts.map { $0.path.stringPath() } == [".title", ".cards.[0].x"])
    #expect(conflicts.first?.values == [.Scalar(.String("mine")), .Scalar(.String("theirs"))])
    #expect(conflicts.last?.values == [.Scalar(.Int(2)), .Scalar(.Int(3))])
    #expect(try conflicts.map(\.winner) == [mine.document.at("title"), mine.document.at("cards.[0].x")])
    #expect(try theirs.conflicts == conflicts)
    try mine.document.put(obj: .ROOT, key: "title", value: .String("settled"))
    #expect(try mine.conflicts.count == 1)
  }

  @Test func aDocumentThatIsNoModelSaysSo() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "names", value: .Int(1))
    var typed = TypedDocument<Pets>(document: document)
    #expect(throws: CodingKeyLookupError.self) { try typed.content }
    #expect(throws: CodingKeyLookupError.self) { try typed.change { $0.names = [] } }
    #expect(throws: CodingKeyLookupError.self) { try typed.history[0].snapshot }
  }
}
