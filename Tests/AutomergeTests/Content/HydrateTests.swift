import Foundation
import Testing

@testable import Automerge

struct HydrateTests {
  private let value = AutomergeValue.dict([
    "title": .scalar(.String("Samples")), "body": .text("one\ntwo"), "votes": .scalar(.Counter(3)),
    "tags": .dict(["a": .array([.scalar(.Int(1)), .scalar(.Null), .array([.text("deep")])]), "b": .array([])]),
  ])

  @Test func whatIsWrittenIsReadBack() throws {
    let document = Document()
    try document.updateObject(obj: .ROOT, value: value)
    #expect(try document.hydrate() == value)
    let heads = document.heads()
    try document.updateObject(obj: .ROOT, value: .dict(["only": .scalar(.Boolean(true))]))
    #expect(try document.hydrate() == .dict(["only": .scalar(.Boolean(true))]))
    #expect(try document.hydrateAt(heads: heads) == value)
    #expect(document.brokenInvariant() == nil)
  }

  @Test func onlyWhatDiffersIsWritten() throws {
    let document = Document()
    try document.updateObject(obj: .ROOT, value: value)
    #expect(try document.operations { try document.updateObject(obj: .ROOT, value: value) } == 0)
    let body = try #require(try document.lookupPath(path: "body"))
    #expect(try document.operations { try document.updateObject(obj: body, value: .text("one\nor two")) } == 3)
    #expect(try document.hydrate(obj: body) == .text("one\nor two"))
  }

  @Test func valuesArePutAndInserted() throws {
    let document = Document()
    let map = try #require(try document.put(obj: .ROOT, key: "map", value: .dict(["a": .array([.text("x")])])))
    #expect(try document.put(obj: map, key: "b", value: .scalar(.Int(1))) == nil)
    let list = try #require(
      try document.put(obj: map, key: "list", value: .array([.scalar(.Int(1)), .scalar(.Int(2))])))
    #expect(try document.insert(obj: list, index: 1, value: .text("between")) != nil)
    try document.put(obj: list, index: 0, value: .dict([:]))
    #expect(
      try document.hydrate(obj: map)
        == .dict([
          "a": .array([.text("x")]), "b": .scalar(.Int(1)),
          "list": .array([.dict([:]), .text("between"), .scalar(.Int(2))]),
        ]))
  }

  @Test func aValueOfAnotherTypeIsRefusedAndNothingIsWritten() throws {
    let document = Document()
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    let before = document.heads()
    #expect(throws: AutomergeValueError.otherType(list, .List)) {
      try document.updateObject(obj: list, value: .text("no"))
    }
    #expect(throws: AutomergeValueError.otherType(.ROOT, .Map)) {
      try document.updateObject(obj: .ROOT, value: .scalar(.Null))
    }
    var deep = AutomergeValue.array([])
    for _ in 0..<Document.valueDepthLimit { deep = .array([deep]) }
    #expect(throws: AutomergeValueError.nestedTooDeep(list)) { try document.insert(obj: list, index: 0, value: deep) }
    let other = try Document().putObject(obj: .ROOT, key: "a", ty: .Map)
    #expect(throws: DocError.unknownObject(other)) { try document.hydrate(obj: other) }
    #expect(document.heads() == before)
  }

  @Test func theSizeIsCounted() throws {
    let document = Document()
    #expect(
      document.stats()
        == DocumentStats(changeCount: 0, opCount: 0, actorCount: 0, objectCount: 1, waitingChangeCount: 0))
    try document.updateObject(obj: .ROOT, value: value)
    let other = document.fork()
    try other.put(obj: .ROOT, key: "x", value: .Int(1))
    try document.merge(other: other)
    let stats = document.stats()
    #expect(stats.changeCount == 2 && stats.actorCount == 2 && stats.objectCount == 7 && stats.waitingChangeCount == 0)
    #expect(stats.opCount == document.withCore { $0.graph.records.opCount })
  }

  @Test func patchesOfOneObjectAreThoseOfTheWholeThatAreAboutIt() throws {
    let document = Document()
    try document.updateObject(obj: .ROOT, value: value)
    let before = document.heads()
    let tags = try #require(try document.lookupPath(path: "tags")),
      a = try #require(try document.lookupPath(path: "tags.a"))
    let body = try #require(try document.lookupPath(path: "body"))
    try document.put(obj: tags, key: "c", value: .Int(1))
    try document.insert(obj: a, index: 0, value: .Int(0))
    try document.spliceText(obj: body, start: 0, delete: 1, value: "O")
    let after = document.heads(), all = document.difference(from: before, to: after)
    #expect(all.count == 4)
    #expect(try document.difference(obj: .ROOT, from: before, to: after) == all)
    let ofTags = try document.difference(obj: tags, from: before, to: after)
    #expect(ofTags.count == 2 && ofTags.allSatisfy(all.contains))
    #expect(try document.difference(obj: tags, from: before, to: after, recursive: false).count == 1)
    #expect(try document.difference(obj: body, from: before, to: after).count == 2)
    let ofA = try document.difference(obj: a, from: [], to: after)
    #expect(!ofA.isEmpty && ofA.allSatisfy { $0.path.count >= 2 })
    #expect(try document.difference(obj: .ROOT, from: before, to: after, recursive: false).isEmpty)
  }
}
