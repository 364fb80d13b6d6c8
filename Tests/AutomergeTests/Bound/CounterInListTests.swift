import Foundation
import Testing

@testable import Automerge

/// A counter in a list stays with its element, wherever that is.
struct CounterInListTests {
  struct Board: Codable, Equatable { var scores: [Counter] }
  struct Player: Codable, Equatable { var name: String, score: Counter }
  struct Game: Codable, Equatable { var players: [Player] }

  private func values(_ document: Document) throws -> [Int] {
    try AutomergeDecoder(doc: document).decode(Board.self).scores.map(\.value)
  }

  @Test func anInsertionBeforeItDoesNotMakeItCountUpItsNeighbour() throws {
    let document = Document()
    let board = Board(scores: [Counter(1), Counter(10)])
    try AutomergeEncoder(doc: document).encode(board)
    #expect(board.scores.allSatisfy { $0.isBound })
    let other = document.fork()
    let list = try #require(try other.lookupPath(path: "scores"))
    try other.insert(obj: list, index: 0, value: .Counter(100))
    try document.merge(other: other)
    board.scores[0].increment(by: 1)
    board.scores[1].value += 5
    #expect(try values(document) == [100, 2, 15])
    #expect(board.scores.map(\.value) == [2, 15])
  }

  @Test func decodedAndBoundOnesStayWithTheirElementsToo() throws {
    let document = Document()
    try AutomergeEncoder(doc: document).encode(Board(scores: [Counter(1), Counter(10)]))
    let decoded = try AutomergeDecoder(doc: document).decode(Board.self).scores
    let bound = try Counter(doc: document, path: "scores.[1]")
    let list = try #require(try document.lookupPath(path: "scores"))
    try document.delete(obj: list, index: 0)
    decoded[1].increment(by: 1)
    bound.increment(by: 1)
    #expect(try values(document) == [12])
    #expect(decoded[0].value == 1)
    #expect(throws: BindingError.NotCounter) { try decoded[0].add(1) }
    #expect(try values(document) == [12])
  }

  @Test func encodingTheModelAgainKeepsEachCounterAtItsElement() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    var board = Board(scores: [Counter(5), Counter(5)])
    try encoder.encode(board)
    let second = board.scores[1], friend = document.fork()
    let theirs = try AutomergeDecoder(doc: friend).decode(Board.self).scores
    theirs[1].increment(by: 1)
    // One of equal value comes in front, and the first goes.
    board.scores.insert(Counter(5), at: 0)
    board.scores.remove(at: 1)
    #expect(try document.operations { try encoder.encode(board) } == 0)
    try document.merge(other: friend)
    second.increment(by: 10)
    #expect(try values(document) == [5, 16] && second.value == 16)
    #expect(try document.operations { try encoder.encode(board) } == 0)
  }

  @Test func anElementWithACounterKeepsItsIdentityWhateverElseChanges() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    var game = Game(players: [Player(name: "Ann", score: Counter(0)), Player(name: "Bob", score: Counter(0))])
    try encoder.encode(game)
    let bob = try document.at("players.[1]")
    game.players[1].name = "Robert"
    game.players.remove(at: 0)
    game.players[0].score.increment(by: 3)
    try encoder.encode(game)
    #expect(try document.at("players.[0]") == bob)
    #expect(try document.at("players.[0].score") == .Scalar(.Counter(3)))
  }

  @Test func whatTwoPeopleCountInAListIsAdded() throws {
    var mine = try TypedDocument(Board(scores: [Counter(0), Counter(0)]))
    var theirs = mine.fork()
    try mine.change { $0.scores[1].increment(by: 2) }
    try theirs.change { board in
      board.scores.insert(Counter(50), at: 0)
      board.scores[2].increment(by: 3)
    }
    try mine.merge(theirs)
    #expect(try mine.content.scores.map(\.value) == [50, 0, 5])
  }
}
