import Automerge
import Foundation
import Testing

struct EncoderTests {
  struct Everything: Codable, Equatable {
    var name = "henry"
    var duration = 3.14159
    var flag = true
    var count = 5
    var small: UInt8 = 7
    var date = Date(timeIntervalSince1970: 0)
    var data = Data("hello".utf8)
    var uuid = UUID(uuidString: "99CEBB16-1062-4F21-8837-CF18EC09DCD7") ?? UUID()
    var url = URL(fileURLWithPath: "/")
    var notes = AutomergeText("Something wicked this way comes.")
    var votes = Counter(3)
  }

  @Test func eachSwiftTypeBecomesItsKindOfValue() throws {
    let document = Document()
    var model = Everything()
    model.url = try #require(URL(string: "http://url.com"))
    try AutomergeEncoder(doc: document).encode(model)
    #expect(try document.at("name") == .Scalar(.String("henry")))
    #expect(try document.at("duration") == .Scalar(.F64(3.14159)))
    #expect(try document.at("flag") == .Scalar(.Boolean(true)))
    #expect(try document.at("count") == .Scalar(.Int(5)))
    #expect(try document.at("small") == .Scalar(.Uint(7)))
    #expect(try document.at("date") == .Scalar(.Timestamp(Date(timeIntervalSince1970: 0))))
    #expect(try document.at("data") == .Scalar(.Bytes(Data("hello".utf8))))
    #expect(try document.at("uuid") == .Scalar(.String("99CEBB16-1062-4F21-8837-CF18EC09DCD7")))
    #expect(try document.at("url") == .Scalar(.String("http://url.com")))
    #expect(try document.at("votes") == .Scalar(.Counter(3)))
    #expect(try document.text(at: "notes") == "Something wicked this way comes.")
    #expect(try AutomergeDecoder(doc: document).decode(Everything.self) == model)
  }

  @Test func valuesInValuesBecomeMapsAndLists() throws {
    struct Item: Codable { var name: String, tags: [String] }
    struct Root: Codable { var example: Item, items: [Item], numbers: [[Int]], byName: [String: Item] }
    let item = Item(name: "henry", tags: ["a", "b"])
    let document = Document()
    try AutomergeEncoder(doc: document).encode(
      Root(example: item, items: [item, item], numbers: [[1], [], [2, 3]], byName: ["x": item]))
    #expect(try document.at("example.tags.[1]") == .Scalar(.String("b")))
    #expect(try document.at("items.[1].name") == .Scalar(.String("henry")))
    #expect(try document.at("items.[1].tags.[0]") == .Scalar(.String("a")))
    #expect(try document.at("numbers.[2].[1]") == .Scalar(.Int(3)))
    #expect(try document.at("numbers.[1].[0]") == nil)
    #expect(try document.at("byName.x.name") == .Scalar(.String("henry")))
  }

  @Test func anUnchangedValueMakesNoOperation() throws {
    struct Root: Codable { var everything = Everything(), list = [1, 2, 3], dates = [Date()], nested = [["a": 1.5]] }
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    let model = Root()
    try encoder.encode(model)
    #expect(try document.operations { try encoder.encode(model) } == 0)
    #expect(try document.operations { try encoder.encode(Root(dates: model.dates)) } == 0)
    let decoded = try AutomergeDecoder(doc: document).decode(Root.self)
    #expect(try document.operations { try encoder.encode(decoded) } == 0)
  }

  @Test func oneChangedValueMakesOneOperation() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    var model = Everything()
    try encoder.encode(model)
    model.count = 6
    #expect(try document.operations { try encoder.encode(model) } == 1)
    #expect(try document.at("count") == .Scalar(.Int(6)))
  }

  @Test func stringsThatOnlyLookAlikeAreWritten() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    try encoder.encode(["name": "\u{E9}"])
    #expect(try document.operations { try encoder.encode(["name": "e\u{301}"]) } == 1)
    guard case .Scalar(.String(let name))? = try document.at("name") else { throw DocError.invalidValue }
    #expect(Array(name.unicodeScalars) == ["e", "\u{301}"])
  }

  @Test func keysThatAreNoLongerEncodedGo() throws {
    struct Root: Codable { var a: Int?, b: Int?, nested: [String: Int] }
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    try encoder.encode(Root(a: 1, b: 2, nested: ["x": 1, "y": 2]))
    try encoder.encode(Root(a: nil, b: 2, nested: ["y": 2, "z": 3]))
    #expect(document.keys(obj: .ROOT) == ["b", "nested"])
    #expect(try document.at("nested.x") == nil)
    #expect(try document.at("nested.z") == .Scalar(.Int(3)))
  }

  @Test func aNilAtTheTopIsNotWritten() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    try encoder.encode(["a": 1])
    try encoder.encode([String: Int]?.none)
    try encoder.encode([String: Int]?.some(["a": 1]))
    #expect(try document.at("a") == .Scalar(.Int(1)))
  }

  @Test func emptyMapsAndListsAreWritten() throws {
    struct Root: Codable, Equatable { var map: [String: Int] = [:], list: [Int] = [] }
    let document = Document()
    try AutomergeEncoder(doc: document).encode(Root())
    #expect(try AutomergeDecoder(doc: document).decode(Root.self) == Root())
    let other = Document()
    try AutomergeEncoder(doc: other).encode([String: Int]())
    #expect(try AutomergeDecoder(doc: other).decode([String: Int].self) == [:])
    struct Empty: Codable {}
    try AutomergeEncoder(doc: document).encode(Empty())
    #expect(document.keys(obj: .ROOT) == [])
  }

  @Test func onlyMapsStandAtTheRoot() throws {
    let encoder = AutomergeEncoder(doc: Document())
    #expect(throws: CodingKeyLookupError.self) { try encoder.encode([1, 2]) }
    #expect(throws: CodingKeyLookupError.self) { try encoder.encode("hello") }
    #expect(throws: CodingKeyLookupError.self) { try encoder.encode("hello", at: [AnyCodingKey(0)]) }
  }

  @Test func numbersThatAreNotFiniteAreRefused() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    for number in [Double.nan, .infinity, -.infinity] {
      let error = #expect(throws: EncodingError.self) { try encoder.encode(["value": number]) }
      guard case .invalidValue(let value as Double, let context)? = error else { throw try #require(error) }
      #expect(value.bitPattern == number.bitPattern && context.debugDescription.contains("Automerge"))
      #expect(throws: EncodingError.self) { try encoder.encode(["value": [Float(number)]]) }
    }
    #expect(document.length(obj: .ROOT) == 0)
  }

  @Test func datesThatAreNotFiniteAreRefused() throws {
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    for seconds in [Double.nan, .infinity, -.infinity] {
      let date = Date(timeIntervalSince1970: seconds)
      #expect(throws: EncodingError.self) { try encoder.encode(["value": date]) }
      #expect(throws: EncodingError.self) { try encoder.encode(["value": [date]]) }
    }
    #expect(document.length(obj: .ROOT) == 0)
    try encoder.encode(["value": Date(timeIntervalSince1970: 1)])
    #expect(try document.get(obj: .ROOT, key: "value") == .Scalar(.Timestamp(Date(timeIntervalSince1970: 1))))
  }

  @Test func dictionariesWithNumbersForKeysAreRefused() throws {
    struct Root: Codable { var byNumber = [1: "one", 2: "two"] }
    let document = Document()
    #expect(throws: DocError.numbersAsKeys(".byNumber")) { try AutomergeEncoder(doc: document).encode(Root()) }
    #expect(document.length(obj: .ROOT) == 0)
  }

  @Test func whatDoesNotFitIsRefusedBeforeAnythingIsWritten() throws {
    struct First: Codable { var a = "Hello", notes = ["Hello"] }
    struct Second: Codable { var a = "changed", notes = [AutomergeText("Hello")] }
    let document = Document(), encoder = AutomergeEncoder(doc: document)
    try encoder.encode(First())
    let second = Second()
    let made = try document.operations {
      let error = #expect(throws: CodingKeyLookupError.self) { try encoder.encode(second) }
      guard case .MismatchedSchema? = error else { throw try #require(error) }
    }
    #expect(made == 0 && !second.notes[0].isBound)
  }

  @Test func userInfoReachesTheValue() throws {
    struct Root: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyCodingKey.self)
        guard let key = CodingUserInfoKey(rawValue: "unit") else { return }
        try container.encode(encoder.userInfo[key] as? String, forKey: AnyCodingKey("unit"))
      }
    }
    let document = Document()
    var encoder = AutomergeEncoder(doc: document)
    encoder.userInfo[try #require(CodingUserInfoKey(rawValue: "unit"))] = "m/s"
    try encoder.encode(Root())
    #expect(try document.at("unit") == .Scalar(.String("m/s")))
  }

  @Test func dictionariesMayHaveKeysThatLookLikeNumbers() throws {
    struct Model: Codable, Equatable { var years: [String: String] }
    let document = Document(), model = Model(years: ["2024": "a", "1": "b", "x": "c"])
    try AutomergeEncoder(doc: document).encode(model)
    #expect(try AutomergeDecoder(doc: document).decode(Model.self) == model)
  }
}
