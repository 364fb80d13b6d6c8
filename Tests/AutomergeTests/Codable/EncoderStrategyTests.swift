import Automerge
import Foundation
import Testing

/// What an encoder may change, and what it refuses to.
struct EncoderStrategyTests {
  /// Values of every type, to be written over each other. Each as the document has it, and how to write it.
  private static let writers: [(name: String, write: @Sendable (AutomergeEncoder) throws -> Void)] = [
    ("null", { try $0.encode(["value": Int?.none]) }), ("bool", { try $0.encode(["value": true]) }),
    ("int", { try $0.encode(["value": Int8(4)]) }), ("uint", { try $0.encode(["value": UInt16(4)]) }),
    ("double", { try $0.encode(["value": Float(4)]) }), ("string", { try $0.encode(["value": "4"]) }),
    ("bytes", { try $0.encode(["value": Data([4])]) }), ("counter", { try $0.encode(["value": Counter(4)]) }),
    ("timestamp", { try $0.encode(["value": Date(timeIntervalSince1970: 4)]) }),
  ]

  @Test func aCautiousEncoderKeepsTheTypeOfEachValue() throws {
    for first in Self.writers {
      for second in Self.writers {
        let document = Document(), cautious = AutomergeEncoder(doc: document, cautiousWrite: true)
        try first.write(cautious)
        if first.name == second.name {
          try second.write(cautious)
        } else {
          let before = try document.at("value")
          #expect(throws: EncodingError.self, "\(second.name) over \(first.name)") { try second.write(cautious) }
          #expect(try document.at("value") == before)
          try second.write(AutomergeEncoder(doc: document))
        }
      }
    }
  }

  @Test func aCautiousEncoderNamesTheValueAsItWasGiven() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "a", value: .Bytes(Data([1])))
    func refused<Wanted: Encodable & Equatable>(_ value: Wanted) throws {
      let error = #expect(throws: EncodingError.self) {
        try AutomergeEncoder(doc: document, cautiousWrite: true).encode(value, at: [AnyCodingKey("a")])
      }
      guard case .invalidValue(let given, let context)? = error else { throw try #require(error) }
      #expect(given as? Wanted == value && context.codingPath.stringPath() == ".a")
    }
    try refused(true)
    try refused(Int8(-4))
    try refused(UInt64.max)
    try refused(Float(0.5))
    try refused(0.25)
    try refused("four")
    try refused(Date(timeIntervalSince1970: 4))
    try refused(Counter(4))
    let none = #expect(throws: EncodingError.self) {
      try AutomergeEncoder(doc: document, cautiousWrite: true).encode(["a": Int?.none])
    }
    guard case .invalidValue(let given, _)? = none else { throw try #require(none) }
    #expect(given as? ScalarValue == .Null)
  }

  @Test func aCautiousEncoderChangesValuesOfTheSameType() throws {
    let document = Document(), cautious = AutomergeEncoder(doc: document, cautiousWrite: true)
    try cautious.encode(["a": [1, 2]])
    try cautious.encode(["a": [1, 3, 4], "b": [5]])
    #expect(try AutomergeDecoder(doc: document).decode([String: [Int]].self) == ["a": [1, 3, 4], "b": [5]])
    #expect(throws: EncodingError.self) { try cautious.encode(["a": [1.5], "b": [1.5]]) }
  }

  struct Nested: Codable { var value: [String: [Int]] }

  @Test func containersDoNotTakeThePlaceOfOtherThingsUnlessTold() throws {
    for standing in ["scalar", "list", "text"] {
      let document = Document()
      switch standing {
      case "scalar": try document.put(obj: .ROOT, key: "value", value: .Int(1))
      case "list": _ = try document.putObject(obj: .ROOT, key: "value", ty: .List)
      default: _ = try document.putObject(obj: .ROOT, key: "value", ty: .Text)
      }
      let model = Nested(value: ["a": [1]])
      #expect(throws: CodingKeyLookupError.self) { try AutomergeEncoder(doc: document).encode(model) }
      #expect(throws: CodingKeyLookupError.self) {
        try AutomergeEncoder(doc: document, strategy: .readonly).encode(model)
      }
      try AutomergeEncoder(doc: document, strategy: .override).encode(model)
      #expect(try document.at("value.a.[0]") == .Scalar(.Int(1)))
    }
  }

  @Test func aNullGivesWayToAContainer() throws {
    let document = Document()
    try document.put(obj: .ROOT, key: "value", value: .Null)
    #expect(throws: CodingKeyLookupError.self) {
      try AutomergeEncoder(doc: document, strategy: .readonly).encode(Nested(value: [:]))
    }
    try AutomergeEncoder(doc: document).encode(Nested(value: [:]))
    #expect(try AutomergeDecoder(doc: document).decode(Nested.self).value == [:])
  }

  @Test func aReadOnlySchemaLetsValuesChangeAndNothingBeAdded() throws {
    let document = Document()
    try AutomergeEncoder(doc: document).encode(["a": [1, 2]])
    let encoder = AutomergeEncoder(doc: document, strategy: .readonly)
    try encoder.encode(["a": [1, 3]])
    #expect(try AutomergeDecoder(doc: document).decode([String: [Int]].self) == ["a": [1, 3]])
    for more in [["a": [1, 3, 4]], ["a": [1, 3], "b": []]] {
      #expect(throws: CodingKeyLookupError.self) { try encoder.encode(more) }
    }
    #expect(throws: CodingKeyLookupError.self) { try encoder.encode(5, at: [AnyCodingKey("nothere")]) }
    #expect(throws: CodingKeyLookupError.self) {
      try encoder.encode(5, at: [AnyCodingKey("nothere"), AnyCodingKey("value")])
    }
    #expect(try AutomergeDecoder(doc: document).decode([String: [Int]].self) == ["a": [1, 3]])
  }

  // MARK: at a place

  struct Note: Codable, Equatable { var name: String, notes: AutomergeText }

  @Test func aValueIsWrittenAndReadAtAPlace() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document), decoder = AutomergeDecoder(doc: document)
    let sample = Note(name: "henry", notes: AutomergeText("Something wicked this way comes."))
    let path = try AnyCodingKey.parsePath("example.[0]")
    try encoder.encode(sample, at: path)
    #expect(try decoder.decode(Note.self, from: path) == sample)
    #expect(try decoder.decode(String.self, from: try AnyCodingKey.parsePath("example.[0].name")) == "henry")
    let notes = try decoder.decode(AutomergeText.self, from: try AnyCodingKey.parsePath("example.[0].notes"))
    #expect(notes.value == "Something wicked this way comes." && notes.isBound)
  }

  @Test func writingAtAPlaceLeavesEverythingElse() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    try encoder.encode(["a": ["x": 1, "y": 2], "b": ["z": 3]])
    try encoder.encode(["x": 9], at: [AnyCodingKey("a")])
    try encoder.encode(7, at: [AnyCodingKey("b"), AnyCodingKey("new")])
    #expect(
      try AutomergeDecoder(doc: document).decode([String: [String: Int]].self) == [
        "a": ["x": 9], "b": ["z": 3, "new": 7],
      ])
  }

  @Test func anIndexIsReplacedOrAppendedButNotBeyond() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document), list = AnyCodingKey("list")
    try encoder.encode("a", at: [list, AnyCodingKey(0)])
    try encoder.encode("b", at: [list, AnyCodingKey(1)])
    try encoder.encode("c", at: [list, AnyCodingKey(0)])
    #expect(throws: CodingKeyLookupError.self) { try encoder.encode("d", at: [list, AnyCodingKey(3)]) }
    #expect(throws: CodingKeyLookupError.self) {
      try encoder.encode("d", at: [AnyCodingKey("other"), AnyCodingKey(1)])
    }
    #expect(try AutomergeDecoder(doc: document).decode([String: [String]].self) == ["list": ["c", "b"]])
  }
}
