import Foundation
import TestSupport
import Testing

@testable import Automerge

/// What something costs for each element does not grow with the number of elements. Measured as processor time, at two sizes.
@Suite(.serialized) struct GrowthTests {}

extension GrowthTests {
  /// How much dearer an element may be among sixteen times as many. A quadratic cost would be sixteen times.
  private static let limit = 5.0
  private static let factor = 16

  private func expectLinear(from count: Int = 60, _ work: (Int) throws -> Void) throws {
    func seconds(_ count: Int) throws -> Double {
      try (0..<2).map { _ in try ProcessorTime.inThisThread { try work(count) }.seconds }.min() ?? 0
    }
    let small = try seconds(count) / Double(count)
    let large = try seconds(Self.factor * count) / Double(Self.factor * count)
    #expect(large < Self.limit * small, "\(large / small) times dearer")
  }

  @Test func encodingAndDecodingADictionaryIsLinear() throws {
    try expectLinear(from: 300) { count in
      let document = Document()
      let model = Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) })
      try AutomergeEncoder(doc: document).encode(model)
      #expect(try AutomergeDecoder(doc: document).decode([String: Int].self) == model)
    }
  }

  /// Each letter goes behind all those that the other writer put there with greater counters.
  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func mergingWhatTwoWroteAtOnePlaceIsLinear() throws {
    try expectLinear(from: 1500) { count in
      let one = try Document(actor: "aa")
      let text = try one.putObject(obj: .ROOT, key: "text", ty: .Text)
      let other = one.fork()
      for document in [one, other] {
        for _ in 0..<count { try document.spliceText(obj: text, start: 0, delete: 0, value: "a") }
      }
      try one.merge(other: other)
      #expect(one.length(obj: text) == UInt64(2 * count))
    }
  }

  @Test func readingTheWholeHistoryIsLinear() throws {
    try expectLinear { count in
      let document = Document()
      for number in 0..<count {
        try document.put(obj: .ROOT, key: "number", value: .Int(Int64(number)))
        document.commitWith(timestamp: Date(timeIntervalSince1970: 0))
      }
      let numbers = try TypedDocument<[String: Int]>(document: document).history.map { try $0.snapshot["number"] }
      #expect(numbers == Array(0..<count))
    }
  }

  @Test func readingTheHistoryOfTwoWritersIsLinear() throws {
    try expectLinear { count in
      let one = Document()
      try one.put(obj: .ROOT, key: "one", value: .Int(0))
      let other = one.fork()
      var changes = Data()
      for number in 0..<count / 2 {
        for (name, document) in [("one", one), ("other", other)] {
          try document.put(obj: .ROOT, key: name, value: .Int(Int64(number)))
          changes += document.encodeNewChanges()
        }
      }
      let typed = try TypedDocument<[String: Int]>(changes: [one.encodeChangesSince(heads: one.heads()), changes])
      #expect(try typed.history.count { try $0.snapshot.isEmpty } == 0)
    }
  }

  @Test func askingAMapForItsLengthDoesNotDependOnIt() throws {
    try expectLinear { count in
      let document = Document()
      for number in 0..<count {
        try document.put(obj: .ROOT, key: "key \(number)", value: .Null)
        #expect(document.length(obj: .ROOT) == UInt64(number + 1))
      }
    }
  }

  @Test func pathsInAnOpenTransactionAreLinear() throws {
    try expectLinear { count in
      let document = Document()
      let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
      for number in 0..<count {
        let map = try document.insertObject(obj: list, index: UInt64(number), ty: .Map)
        #expect(try document.path(obj: map).last?.prop == .Index(UInt64(number)))
      }
    }
  }

  @Test func aTypedChangeIsLinearInTheModel() throws {
    try expectLinear { count in
      var typed = try TypedDocument(["list": Array(0..<count)])
      try typed.change { $0["list"]?.append(-1) }
      #expect(try typed.content["list"]?.count == count + 1)
    }
  }

  @Test func countersTextsAndConflictsAreLinear() throws {
    struct Model: Codable { var counters: [Counter], texts: [AutomergeText] }
    try expectLinear { count in
      var typed = try TypedDocument(
        Model(counters: (0..<count).map { Counter($0) }, texts: (0..<count).map { AutomergeText("\($0)") }))
      try typed.change { model in for counter in model.counters { counter.increment(by: 1) } }
      #expect(try typed.conflicts.isEmpty)
    }
  }

  /// What as many writers did at one key while they were apart. Only their names tell the order of their operations.
  private struct Crowd {
    let actors = ActorTable()
    let count: UInt32

    init(_ count: Int) {
      self.count = UInt32(count)
      for number in 0..<UInt32(count) {
        let mixed = number &* 2_654_435_761
        _ = actors.index(of: ActorId(bytes: (0..<4).map { UInt8(truncatingIfNeeded: mixed >> (8 * $0)) }))
      }
    }

    func ids(_ counter: UInt32) -> [OpId] { (0..<count).map { OpId(counter: counter, actor: $0) } }

    /// Each puts a counter and increments it.
    func counters() -> Slot {
      var slot = Slot()
      for id in ids(1) { slot.add(StoredOp(id: id, action: .set, value: RawValue(.Counter(1))), actors: actors) }
      for id in ids(2) {
        let increment = StoredOp(id: id, action: .increment, value: RawValue(.Int(1)))
        slot.addSuccessor(increment, to: [OpId(counter: 1, actor: id.actor)], actors: actors)
        slot.add(increment, actors: actors)
      }
      return slot
    }

    /// Each overwrites all but one of the counters, one after the other.
    func overwrite(_ slot: inout Slot) {
      for id in ids(3).dropFirst() {
        let put = StoredOp(id: id, action: .set, value: .null)
        slot.addSuccessor(put, to: [OpId(counter: 1, actor: id.actor)], actors: actors)
        slot.add(put, actors: actors)
      }
    }

    /// Without any operation that came after the others.
    var past: Clock {
      var clock = Clock.now
      for actor in 0..<count { clock.set(2, actor: actor) }
      return clock
    }
  }

  @Test func writingAtOneKeyAmongManyWritersIsLinear() throws {
    let crowds = [250, 250 * Self.factor].map(Crowd.init)
    try expectLinear(from: 250) { count in
      let crowd = try #require(crowds.first { $0.count == count })
      var slot = crowd.counters()
      crowd.overwrite(&slot)
      #expect(slot.isInConflict)
    }
  }

  @Test func readingWhatManyWritersWroteAtOneKeyIsLinear() throws {
    let slots = [250, 250 * Self.factor].map { (count: $0, crowd: Crowd($0), slot: Crowd($0).counters()) }
    try expectLinear(from: 250) { count in
      let (_, crowd, slot) = try #require(slots.first { $0.count == count })
      #expect(slot.visible().count == count)
      #expect(Slot(ops: slot.ops).visible().count == count)
      let past = crowd.past, visible = slot.visible(at: past)
      #expect(visible.count == count)
      #expect(visible.allSatisfy { slot.scalar(of: $0, at: past, crowd.actors) == .Counter(2) })
    }
  }

  /// A guest's change of many marks, each inside the one before it, which an earlier change of one's own is undone under.
  private func nestedMarks(_ count: Int, name: (Int) -> String) throws -> (document: Document, text: ObjId) {
    let document = try Document(actor: "0a")
    let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "text")
    document.commitWith()
    try document.spliceText(obj: text, start: 4, delete: 0, value: "!")
    document.commitWith()
    let guest = document.fork()
    try guest.rename("0b")
    for number in 0..<count {
      try guest.mark(obj: text, start: 0, end: 4, expand: .none, name: name(number), value: .Int(Int64(number)))
    }
    try document.merge(other: guest)
    return (document, text)
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long")) func undoingAmongNestedMarksIsLinear() throws {
    let documents = try [60, 60 * Self.factor].map { count in
      (count, try (0..<2).map { _ in try nestedMarks(count) { "name \($0)" }.document })
    }
    var left = Dictionary(uniqueKeysWithValues: documents)
    try expectLinear { count in
      let last = left[count]?.popLast(), document = try #require(last)
      try document.undo()
      #expect(document.canRedo)
    }
  }

  @Test(.enabled(if: !TestRun.isBrief, "takes long"), arguments: [true, false])
  func readingNestedMarksIsLinear(haveNames: Bool) throws {
    var documents: [Int: (document: Document, text: ObjId)] = [:]
    for count in [60, 60 * Self.factor] {
      documents[count] = try nestedMarks(count) { haveNames ? "name \($0)" : "name" }
    }
    try expectLinear { count in
      let (document, text) = try #require(documents[count])
      #expect(try document.marks(obj: text).count == (haveNames ? count : 1))
      #expect(try document.spans(obj: text).count == 2)
    }
  }

  /// Each letter has all marks, and others begin and end between the letters without changing anything.
  @Test func piecesBetweenWhichMarksOnlyComeAndGoAreJoined() throws {
    var documents: [Int: (document: Document, text: ObjId)] = [:]
    for count in [60, 60 * Self.factor] {
      let document = try Document(actor: "0a")
      let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
      try document.spliceText(obj: text, start: 0, delete: 0, value: String(repeating: "x", count: count))
      for number in 0..<UInt64(count) {
        try document.mark(
          obj: text, start: 0, end: UInt64(count), expand: .none, name: "name \(number)", value: .Boolean(true))
        try document.mark(obj: text, start: number, end: number, expand: .both, name: "empty", value: .Boolean(true))
      }
      documents[count] = (document, text)
    }
    try expectLinear { count in
      let (document, text) = try #require(documents[count])
      let spans = try document.spans(obj: text)
      guard spans.count == 1, case .text(let string, let marks)? = spans.first else {
        Issue.record("\(spans.count) spans")
        return
      }
      #expect(string.count == count && marks.count == count)
    }
  }

  /// Deleted text comes back in as many pieces as others wrote between its characters.
  @Test(arguments: [true, false])
  func restoringTextInManyPiecesIsLinear(isMarked: Bool) throws {
    func document(_ count: Int) throws -> Document {
      let document = try Document(actor: "0a")
      let text = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
      document.commitWith()
      try document.spliceText(obj: text, start: 0, delete: 0, value: String(repeating: "x", count: count))
      document.commitWith()
      let other = document.fork()
      try other.rename("0b")
      try document.spliceText(obj: text, start: 0, delete: Int64(count))
      for index in 0..<count { try other.spliceText(obj: text, start: UInt64(2 * index), delete: 0, value: "y") }
      if isMarked {
        try other.mark(
          obj: text, start: 0, end: UInt64(2 * count), expand: .both, name: "mark", value: .Boolean(true))
      }
      try document.merge(other: other)
      return document
    }
    var left: [Int: [Document]] = [:]
    for count in [60, 60 * Self.factor] { left[count] = try [document(count), document(count)] }
    try expectLinear { count in
      let last = left[count]?.popLast(), document = try #require(last)
      // What was restored is deleted and restored once more, so that there are copies of copies.
      try document.undo()
      try document.redo()
      try document.undo()
      #expect(document.canRedo)
    }
  }

  /// Changes that others wait for never come, and each message of anyone looks for what has become ready.
  @Test func receivingBesideChangesThatWaitDoesNotDependOnTheirNumber() throws {
    var left: [Int: [(document: Document, changes: [Data])]] = [:]
    for count in [250, 250 * Self.factor] {
      left[count] = try (0..<2).map { _ in
        let document = try Document(actor: "0a")
        document.commitWith()
        try document.applyEncodedChanges(encoded: Data((0..<count).flatMap(ForgedChunk.orphan)))
        let other = document.fork()
        let changes = try (0..<count).map { number in
          try other.put(obj: .ROOT, key: "key", value: .Int(Int64(number)))
          return other.encodeNewChanges()
        }
        return (document, changes)
      }
    }
    try expectLinear(from: 250) { count in
      let last = left[count]?.popLast(), (document, changes) = try #require(last)
      for change in changes { try document.applyEncodedChanges(encoded: change) }
      #expect(document.hasWaitingChanges && document.stats().changeCount == count)
    }
  }

  @Test func typingBesideManyMarksIsLinearInTheMarks() throws {
    var documents: [Int: (document: Document, text: ObjId)] = [:]
    for count in [60, 60 * Self.factor] { documents[count] = try nestedMarks(count) { "name \($0)" } }
    try expectLinear { count in
      let (document, text) = try #require(documents[count])
      for _ in 0..<20 { try document.spliceText(obj: text, start: 4, delete: 0, value: "k") }
    }
  }
}
