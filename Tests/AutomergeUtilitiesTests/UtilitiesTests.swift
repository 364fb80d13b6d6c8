import Automerge
import AutomergeUtilities
import Foundation
import Testing

struct UtilitiesTests {
  struct Model: Codable {
    var title = "Samples", notes = [AutomergeText("one\ntwo"), AutomergeText()], tags = ["a": [1, 2], "b": []]
    var votes = Counter(3)
  }

  @Test func aDocumentIsEmptyUntilAKeyIsPut() throws {
    let document = Document()
    #expect(try document.isEmpty())
    _ = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    #expect(try !document.isEmpty())
    try document.delete(obj: .ROOT, key: "text")
    #expect(try document.isEmpty())
  }

  @Test func theSchemaIsWhatTheDocumentHolds() throws {
    let document = Document()
    #expect(try document.schema() == .dict([:]))
    try AutomergeEncoder(doc: document).encode(Model())
    #expect(
      try document.schema()
        == .dict([
          "title": .scalar(.String("Samples")), "notes": .array([.text("one\ntwo"), .text("")]),
          "tags": .dict(["a": .array([.scalar(.Int(1)), .scalar(.Int(2))]), "b": .array([])]),
          "votes": .scalar(.Counter(3)),
        ]))
    guard case .Object(let tags, .Map)? = try document.get(obj: .ROOT, key: "tags") else { throw DocError.invalidValue }
    #expect(try Document().parseToSchema(document, from: tags).description.hasPrefix("{[\"a\": [["))
  }

  @Test func theSchemaIsWrittenInOneLine() throws {
    let document = Document()
    #expect(try document.schema().description == "{[:]}")
    _ = try document.putObject(obj: .ROOT, key: "text", ty: .Text)
    #expect(try document.schema().description == "{[\"text\": T{}]}")
    _ = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    #expect(try document.schema().description == "{[\"list\": [[]], \"text\": T{}]}")
  }

  @Test func documentsAreEquivalentThatHoldTheSame() throws {
    let one = Document(), other = Document()
    #expect(one.equivalentContents(other))
    try AutomergeEncoder(doc: one).encode(Model())
    #expect(!one.equivalentContents(other))
    try AutomergeEncoder(doc: other).encode(["title": 1])
    try AutomergeEncoder(doc: other).encode(Model())
    #expect(one.equivalentContents(other) && one.heads() != other.heads())
    try one.put(obj: .ROOT, key: "number", value: .F64(.nan))
    try other.put(obj: .ROOT, key: "number", value: .F64(.nan))
    #expect(one.equivalentContents(other))
    try other.put(obj: .ROOT, key: "number", value: .F64(1))
    #expect(!one.equivalentContents(other))
  }

  @Test func theOutlineHasALineForEachValue() throws {
    let document = Document()
    try AutomergeEncoder(doc: document).encode(Model())
    let lines = try document.outline().split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines.first == "{" && lines.last == "}" && lines.count == 15)
    #expect(lines.contains("Text[\"one\\ntwo\"]") && lines.contains("\"b\": []"))
    try document.walk()
  }

  @Test func aDocumentNestedBeyondReasonIsRefused() throws {
    let document = Document()
    var object = ObjId.ROOT
    for _ in 0..<1000 { object = try document.putObject(obj: object, key: "a", ty: .Map) }
    #expect(throws: AutomergeValueError.self) { try document.schema() }
    #expect(!document.equivalentContents(document))
  }
}
