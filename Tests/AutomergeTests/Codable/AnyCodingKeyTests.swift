import Automerge
import Testing

struct AnyCodingKeyTests {
  @Test func theEmptyPathHasNoSteps() throws {
    #expect(try AnyCodingKey.parsePath("") == [])
    #expect(try AnyCodingKey.parsePath(".") == [])
  }

  @Test func stepsAreKeysAndIndexesInBrackets() throws {
    #expect(try AnyCodingKey.parsePath("list") == [AnyCodingKey("list")])
    #expect(try AnyCodingKey.parsePath("[1]") == [AnyCodingKey(1)])
    let path = try AnyCodingKey.parsePath(".list.[45]._notes.größe")
    #expect(path == [AnyCodingKey("list"), AnyCodingKey(45), AnyCodingKey("_notes"), AnyCodingKey("größe")])
    #expect(path.map(\.intValue) == [nil, 45, nil, nil])
    #expect(path.map(\.stringValue) == ["list", "45", "_notes", "größe"])
  }

  @Test(arguments: ["/", "1", "a.1b", "-x", "]["]) func aStepOfAnotherFormIsRefused(path: String) {
    let error = #expect(throws: PathParseError.self) { try AnyCodingKey.parsePath(path) }
    guard case .InvalidPathElement = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(arguments: ["[]", "[foo]", "a.[-1]", "[+1]", "[1.5]x", "[18446744073709551616]", "[ 1]", "[١]"])
  func bracketsWithoutAnIndexAreRefused(path: String) {
    let error = #expect(throws: PathParseError.self) { try AnyCodingKey.parsePath(path) }
    #expect(error?.localizedDescription.isEmpty == false)
  }

  @Test func aPathWrittenOutIsReadBackTheSame() throws {
    let path: [any CodingKey] = [AnyCodingKey("list"), AnyCodingKey(5), AnyCodingKey("notes")]
    #expect(path.stringPath() == ".list.[5].notes")
    #expect(try AnyCodingKey.parsePath(path.stringPath()).stringPath() == path.stringPath())
  }

  @Test func pathElementsBecomeKeysAndText() {
    let path = [PathElement(obj: .ROOT, prop: .Key("example")), PathElement(obj: .ROOT, prop: .Index(0))]
    #expect(path.stringPath() == ".example.[0]")
    #expect(path.map { AnyCodingKey($0) } == [AnyCodingKey("example"), AnyCodingKey(0)])
    #expect(AnyCodingKey(Prop.Index(7)).description == "[7]")
    #expect(AnyCodingKey(Prop.Key("k")).description == "k")
  }

  @Test func otherCodingKeysAreTakenByIndexOrName() {
    enum Keys: String, CodingKey { case title }
    #expect(AnyCodingKey(Keys.title) == AnyCodingKey("title"))
    #expect(AnyCodingKey(AnyCodingKey(3)) == AnyCodingKey(3))
    #expect(AnyCodingKey(intValue: -1) == nil)
    #expect(AnyCodingKey(intValue: 4) == AnyCodingKey(4))
    #expect(AnyCodingKey(UInt64.max).intValue == .max)
  }
}
