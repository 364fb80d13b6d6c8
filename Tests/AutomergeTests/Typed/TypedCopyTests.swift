import Foundation
import Testing

@testable import Automerge

/// A typed document is copied like a value, unless it is a view of a document that its creator passed in.
struct TypedCopyTests {
  struct Pets: Codable, Equatable { var names: [String], diary = AutomergeText() }

  @Test func changingACopyLeavesTheOtherAsItIs() throws {
    let old = try TypedDocument(Pets(names: ["Fido"]))
    var new = old, another = new
    try new.change { $0.names.append("Tom") }
    try another.change { $0.diary.value = "It rained." }
    #expect(try old.content == Pets(names: ["Fido"]))
    #expect(try new.content == Pets(names: ["Fido", "Tom"]))
    #expect(Set([old.actor, new.actor, another.actor]).count == 3)
    try new.merge(another)
    try new.merge(old)
    #expect(try new.content == Pets(names: ["Fido", "Tom"], diary: AutomergeText("It rained.")))
    #expect(new.document.getHistory().count == 3)
  }

  @Test func oneThatIsNotSharedKeepsItsDocument() throws {
    var pets = try TypedDocument(Pets(names: ["Fido"]))
    let document = pets.document
    try pets.change { $0.names.append("Tom") }
    #expect(pets.document === document)
    var copy = pets
    try copy.change { $0.names.append("Polly") }
    try pets.change { $0.names.append("Rex") }
    #expect(pets.document === document && copy.document !== document)
  }

  @Test func copiesOfAViewAllChangeItsDocument() throws {
    let document = Document()
    try AutomergeEncoder(doc: document).encode(Pets(names: []))
    var one = TypedDocument<Pets>(document: document), other = one
    try one.change { $0.names.append("Fido") }
    try other.change { $0.names.append("Tom") }
    #expect(try one.content.names == ["Fido", "Tom"] && one.document === document && other.document === document)
  }

  @Test func theActorIsTheOneThatIsGiven() throws {
    let actors = (0..<4).map { _ in ActorId() }
    let typed = try TypedDocument(Pets(names: ["Fido"]), actor: actors[0])
    #expect(typed.history.map(\.actor) == [actors[0]] && typed.history.first?.message == "Initialization")
    let loaded = try TypedDocument<Pets>(typed.save(), actor: actors[1])
    let rebuilt = try TypedDocument<Pets>(changes: typed.allChanges(), actor: actors[2])
    #expect(loaded.actor == actors[1] && rebuilt.actor == actors[2] && typed.fork(actor: actors[3]).actor == actors[3])
  }

  @Test func aSnapshotStandsByItself() throws {
    var typed = try TypedDocument(Pets(names: ["Fido"]))
    try typed.change { $0.diary.value = "It rained." }
    let history = typed.history, past = try history[1].snapshot
    past.diary.value = "changed"
    #expect(try typed.content.diary.value == "It rained." && history[1].snapshot.diary.value == "It rained.")
  }

  @Test func snapshotsAreRightInAnyOrderAndOnBothBranches() throws {
    var mine = try TypedDocument(Pets(names: ["0"])), theirs = mine.fork()
    for number in 1..<12 {
      try mine.change { $0.names.append("m\(number)") }
      try theirs.change { $0.names.append("t\(number)") }
      if number % 4 == 0 { try mine.merge(theirs) }
    }
    try mine.merge(theirs)
    let history = mine.history
    let inOrder = try history.map { try $0.snapshot.names }
    for (commit, names) in zip(history, inOrder) {
      let copy = try mine.document.forkAt(heads: [commit.hash])
      #expect(try AutomergeDecoder(doc: copy).decode(Pets.self).names == names)
    }
    var random = SystemRandomNumberGenerator()
    for place in history.indices.shuffled(using: &random) {
      #expect(try history[place].snapshot.names == inOrder[place])
    }
  }
}
