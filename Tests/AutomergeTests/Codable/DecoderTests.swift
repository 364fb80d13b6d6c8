import Foundation
import Testing

@testable import Automerge

struct DecoderTests {
  let document = Document()
  var decoder: AutomergeDecoder { AutomergeDecoder(doc: document) }

  init() throws {
    try document.put(obj: .ROOT, key: "name", value: .String("Joe"))
    try document.put(obj: .ROOT, key: "duration", value: .F64(3.14159))
    try document.put(obj: .ROOT, key: "flag", value: .Boolean(true))
    try document.put(obj: .ROOT, key: "count", value: .Int(5))
    try document.put(obj: .ROOT, key: "unsigned", value: .Uint(300))
    try document.put(obj: .ROOT, key: "date", value: .Timestamp(Date(timeIntervalSince1970: 0.25)))
    try document.put(obj: .ROOT, key: "data", value: .Bytes(Data("hello".utf8)))
    try document.put(obj: .ROOT, key: "url", value: .String("http://url.com"))
    try document.put(obj: .ROOT, key: "votes", value: .Counter(342))
    try document.put(obj: .ROOT, key: "nothing", value: .Null)
    let text = try document.putObject(obj: .ROOT, key: "notes", ty: .Text)
    try document.spliceText(obj: text, start: 0, delete: 0, value: "Hello")
    let list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    try document.splice(obj: list, start: 0, delete: 0, values: [.Int(3), .Int(4), .Int(5)])
    let texts = try document.putObject(obj: .ROOT, key: "texts", ty: .List)
    for (index, string) in ["Hello?", "Hello!"].enumerated() {
      let text = try document.insertObject(obj: texts, index: UInt64(index), ty: .Text)
      try document.spliceText(obj: text, start: 0, delete: 0, value: string)
    }
  }

  private func decode<Result: Decodable>(_ type: Result.Type, _ path: String) throws -> Result {
    try decoder.decode(type, from: try AnyCodingKey.parsePath(path))
  }

  @Test func aModelIsReadFromTheRoot() throws {
    struct Model: Codable {
      var name: String, duration: Double, flag: Bool, count: Int, date: Date, data: Data, url: URL
      var votes: Counter, notes: AutomergeText, list: [Int], texts: [AutomergeText], nothing: Int?, missing: String?
    }
    let model = try decoder.decode(Model.self)
    #expect(model.name == "Joe" && model.duration == 3.14159 && model.flag && model.count == 5)
    #expect(model.date == Date(timeIntervalSince1970: 0.25) && model.data == Data("hello".utf8))
    #expect(model.url.absoluteString == "http://url.com" && model.votes.value == 342)
    #expect(model.notes.value == "Hello" && model.notes.isBound && model.list == [3, 4, 5])
    #expect(model.texts.map(\.value) == ["Hello?", "Hello!"])
    #expect(model.nothing == nil && model.missing == nil)
  }

  @Test func singleValuesAreReadFromTheirPlaces() throws {
    #expect(try decode(Date.self, "date") == Date(timeIntervalSince1970: 0.25))
    #expect(try decode(Data.self, "data") == Data("hello".utf8))
    #expect(try decode(URL.self, "url").absoluteString == "http://url.com")
    #expect(try decode(Counter.self, "votes").value == 342)
    #expect(try decode(AutomergeText.self, "texts.[1]").value == "Hello!")
    #expect(try decode([Int].self, "list") == [3, 4, 5])
    #expect(try decode(Int?.self, "count") == 5)
    #expect(try decode(Int?.self, "missing") == nil)
    #expect(try decode(Int?.self, "list.[7]") == nil)
    #expect(try decode(Float.self, "duration") == 3.14159)
  }

  @Test func integersAreReadByValueWhateverTheirSignedness() throws {
    func check<Number: Codable & FixedWidthInteger>(_ type: Number.Type) throws {
      #expect(try decode(type, "count") == 5)
      if Number.max >= 300 {
        #expect(try decode(type, "unsigned") == 300)
      } else {
        #expect(throws: DecodingError.self) { try decode(type, "unsigned") }
      }
    }
    try check(Int.self)
    try check(Int8.self)
    try check(Int16.self)
    try check(Int32.self)
    try check(Int64.self)
    try check(UInt.self)
    try check(UInt8.self)
    try check(UInt16.self)
    try check(UInt32.self)
    try check(UInt64.self)
    #expect(try decode(Double.self, "count") == 5)
    #expect(try decode(Double.self, "unsigned") == 300)
    #expect(throws: DecodingError.self) { try decode(Int.self, "duration") }
    try document.put(obj: .ROOT, key: "count", value: .Int(-1))
    #expect(throws: DecodingError.self) { try decode(UInt.self, "count") }
  }

  @Test func aValueOfAnotherTypeIsAMismatchAtItsPlace() throws {
    func check<Result: Decodable>(_ type: Result.Type, _ key: String) {
      let error = #expect(throws: DecodingError.self) { try decoder.decode([String: Result].self) }
      guard case .typeMismatch(let wanted, let context)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(wanted == type && context.codingPath.map(\.stringValue) == [key])
    }
    for (key, check) in [
      ("name", { check(Double.self, $0) }), ("list", { check(String.self, $0) }), ("notes", { check(Bool.self, $0) }),
      ("name", { check(AutomergeText.self, $0) }), ("count", { check(Counter.self, $0) }),
      ("count", { check(Date.self, $0) }), ("name", { check(Data.self, $0) }), ("count", { check(URL.self, $0) }),
    ] as [(String, (String) -> Void)] {
      let value = try #require(try document.get(obj: .ROOT, key: key))
      for other in document.keys(obj: .ROOT) where other != key { try document.delete(obj: .ROOT, key: other) }
      check(key)
      // Put back what the next ones look at.
      if case .Scalar(let scalar) = value { try document.put(obj: .ROOT, key: key, value: scalar) }
      try document.put(obj: .ROOT, key: "name", value: .String("Joe"))
      try document.put(obj: .ROOT, key: "count", value: .Int(5))
      _ = try document.putObject(obj: .ROOT, key: "notes", ty: .Text)
      _ = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    }
  }

  @Test func aContainerWhereASingleValueStandsIsASchemaMismatch() throws {
    struct Model: Codable { let name: [String] }
    struct Other: Codable { let list: [String: Int] }
    #expect(throws: CodingKeyLookupError.self) { try decoder.decode(Model.self) }
    #expect(throws: CodingKeyLookupError.self) { try decoder.decode(Other.self) }
  }

  @Test func whatIsMissingIsNamed() throws {
    struct Model: Codable { let absent: Int }
    let error = #expect(throws: DecodingError.self) { try decoder.decode(Model.self) }
    guard case .keyNotFound(let key, _)? = error else { throw try #require(error) }
    #expect(key.stringValue == "absent")
    #expect(throws: DecodingError.self) { try decode(Int.self, "nothing") }
    #expect(throws: DecodingError.self) { try decode(Int.self, "absent") }
    #expect(throws: DecodingError.self) { try decode(AutomergeText.self, "absent") }
    #expect(throws: CodingKeyLookupError.self) { try decode(Int?.self, "absent.deeper") }
  }

  @Test func unkeyedContainersEndWhereTheListEnds() throws {
    struct Three: Decodable {
      var values: [Int] = []
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        #expect(container.count == 3 && container.currentIndex == 0)
        while !container.isAtEnd { values.append(try container.decode(Int.self)) }
        #expect(throws: DecodingError.self) { try container.decode(Int.self) }
        #expect(try decoder.unkeyedContainer().currentIndex == 0)
      }
    }
    #expect(try decode(Three.self, "list").values == [3, 4, 5])
  }

  @Test func aDocumentNestedBeyondReasonIsRefused() throws {
    final class Node: Codable {
      var child: Node?
    }
    let deep = Document()
    var object = try deep.putObject(obj: .ROOT, key: "child", ty: .Map)
    for _ in 0..<2000 { object = try deep.putObject(obj: object, key: "child", ty: .Map) }
    #expect(throws: DecodingError.self) { try AutomergeDecoder(doc: deep).decode(Node.self) }
  }
}
