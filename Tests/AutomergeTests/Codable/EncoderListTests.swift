import Foundation
import TestSupport
import Testing

@testable import Automerge

/// Lists are brought up to date with few operations, and keep what others did.
struct EncoderListTests {
  struct Names: Codable, Equatable { var names: [String] }
  struct Note: Codable, Equatable { var title: String, body: AutomergeText }
  struct Notes: Codable, Equatable { var notes: [Note] }

  @Test func aListShrinksAndGrows() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document), decoder = AutomergeDecoder(doc: document)
    for names in [["one", "two"], ["one"], [], ["three", "four", "five"], ["five"]] {
      try encoder.encode(Names(names: names))
      #expect(try decoder.decode(Names.self) == Names(names: names))
    }
  }

  @Test func eachEditOfAListMakesAsManyOperationsAsItHasDifferences() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    try encoder.encode(Names(names: ["a", "b", "c", "d"]))
    let edits: [([String], Int)] = [
      (["a", "x", "b", "c", "d"], 1), (["x", "b", "c", "d"], 1), (["x", "b", "C", "d"], 1),
      (["y", "z", "x", "b", "C"], 3),
      (["y", "z", "x", "b", "C"], 0), ([], 5),
    ]
    for (names, count) in edits {
      #expect(try document.operations { try encoder.encode(Names(names: names)) } == count, "\(names)")
      #expect(try AutomergeDecoder(doc: document).decode(Names.self).names == names)
    }
  }

  @Test func concurrentInsertionsIntoAListAreBothKept() throws {
    let alice = Document()
    try AutomergeEncoder(doc: alice).encode(Names(names: ["m"]))
    let bob = alice.fork()
    try AutomergeEncoder(doc: alice).encode(Names(names: ["a", "m"]))
    try AutomergeEncoder(doc: bob).encode(Names(names: ["m", "z"]))
    try alice.merge(other: bob)
    #expect(try AutomergeDecoder(doc: alice).decode(Names.self).names == ["a", "m", "z"])
  }

  @Test func elementsThatAreObjectsKeepTheirIdentityWhenOthersCome() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    var model = Notes(notes: [
      Note(title: "one", body: AutomergeText("1")), Note(title: "two", body: AutomergeText("2")),
    ])
    try encoder.encode(model)
    let second = try document.at("notes.[1]")
    model.notes.insert(Note(title: "zero", body: AutomergeText("0")), at: 0)
    // The map, its title, its text, one character.
    #expect(try document.operations { try encoder.encode(model) } == 4)
    #expect(try document.at("notes.[2]") == second)
    model.notes.remove(at: 1)
    #expect(try document.operations { try encoder.encode(model) } == 1)
    #expect(try document.at("notes.[1]") == second)
  }

  @Test func anElementWithABoundTextIsFoundAgainWhenItChangedAndMoved() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    var model = Notes(
      notes: ["one", "two", "three"].map { Note(title: $0, body: AutomergeText($0)) })
    try encoder.encode(model)
    let third = try document.at("notes.[2]")
    model.notes[2].title = "changed"
    model.notes.removeFirst(2)
    #expect(try document.operations { try encoder.encode(model) } == 3)
    #expect(try document.at("notes.[0]") == third)
    #expect(try document.at("notes.[0].title") == .Scalar(.String("changed")))
  }

  @Test func listsOfEveryTypeComeBack() throws {
    func check<Element: Codable & Equatable>(_ values: [Element], _ more: [Element]) throws {
      let document = Document(), encoder = AutomergeEncoder(doc: document), decoder = AutomergeDecoder(doc: document)
      for list in [values, more, values + more, []] {
        try encoder.encode(["list": list])
        #expect(try decoder.decode([String: [Element]].self)["list"] == list)
      }
    }
    try check([true, false], [false])
    try check([1, 2, 3], [3, 1])
    try check([1, 2] as [Int8], [-128, 127])
    try check([1, 2] as [Int16], [3])
    try check([1, 2] as [Int32], [3])
    try check([1, 2] as [Int64], [.min, .max])
    try check([1, 2] as [UInt], [3])
    try check([1, 2] as [UInt8], [255])
    try check([1, 2] as [UInt16], [3])
    try check([1, 2] as [UInt32], [3])
    try check([1, 2] as [UInt64], [.max])
    try check([1.5, -0.25] as [Double], [3])
    try check([1.5, -0.25] as [Float], [3])
    try check(["a", "é"], [""])
    try check([Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: -2.5)], [Date(timeIntervalSince1970: 9)])
    try check([Data([1, 2]), Data()], [Data([3])])
    try check([URL(fileURLWithPath: "/a"), URL(fileURLWithPath: "/b")], [])
    try check([UUID()], [UUID(), UUID()])
    try check([AutomergeText("a"), AutomergeText("b")], [AutomergeText("c")])
    try check([Counter(1), Counter(-2)], [Counter(7)])
    try check([1, nil, 3], [nil])
    try check([[1], [], [2, 3]], [[4]])
    try check([["a": 1], [:]], [["b": 2]])
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>) func theStepsFromOneListToAnotherAreFewAndRight(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func list() -> [Int] {
      (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...4, using: &random) }
    }
    let old = list(), new = list()
    var result: [Int] = [], changed = 0, oldIndex = 0
    for step in ListAlignment.steps(from: old, to: new) {
      switch step {
      case .keep(let from, let to):
        #expect(from == oldIndex && to == result.count, "seed \(seed)")
        if old[from] != new[to] { changed += 1 }
        result.append(new[to])
        oldIndex += 1
      case .delete(let from):
        #expect(from == oldIndex, "seed \(seed)")
        oldIndex += 1
        changed += 1
      case .insert(let to):
        result.append(new[to])
        changed += 1
      }
    }
    #expect(result == new && oldIndex == old.count, "seed \(seed)")
    let common = ListAlignment.matches(old, new)
    #expect(common.allSatisfy { old[$0.old] == new[$0.new] }, "seed \(seed)")
    #expect(common.count == Self.lengthOfLongestCommonSubsequence(old, new), "seed \(seed)")
    #expect(changed <= old.count + new.count - 2 * common.count, "seed \(seed)")
  }

  private static func lengthOfLongestCommonSubsequence(_ old: [Int], _ new: [Int]) -> Int {
    var row = [Int](repeating: 0, count: new.count + 1)
    for element in old {
      var next = row
      for (index, other) in new.enumerated() {
        next[index + 1] = element == other ? row[index] + 1 : max(row[index + 1], next[index])
      }
      row = next
    }
    return row[new.count]
  }

  @Test func longListsThatDifferAltogetherTakeBoundedTime() throws {
    let old = Array(0..<20_000), new = Array(20_000..<40_000)
    let steps = ListAlignment.steps(from: [7] + old, to: [7] + new)
    #expect(steps.count == 20_001 && steps[0] == .keep(old: 0, new: 0))
  }
}
