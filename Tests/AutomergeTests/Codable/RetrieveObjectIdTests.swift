import Foundation
import Testing

@testable import Automerge

struct RetrieveObjectIdTests {
  let document = Document()
  let list: ObjId, map: ObjId

  /// `name` is a scalar, `topMap` a map, `description` a text, and `list` holds a map with the text `notes`, a text, a scalar.
  init() throws {
    try document.put(obj: .ROOT, key: "name", value: .String("joe"))
    _ = try document.putObject(obj: .ROOT, key: "topMap", ty: .Map)
    _ = try document.putObject(obj: .ROOT, key: "description", ty: .Text)
    list = try document.putObject(obj: .ROOT, key: "list", ty: .List)
    map = try document.insertObject(obj: list, index: 0, ty: .Map)
    _ = try document.insertObject(obj: list, index: 1, ty: .Text)
    try document.insert(obj: list, index: 2, value: .String("alex"))
    _ = try document.putObject(obj: map, key: "notes", ty: .Text)
  }

  private func find(
    _ path: String, _ type: EncodingContainerType, _ strategy: SchemaStrategy = .createWhenNeeded
  ) throws -> ObjId {
    try document.retrieveObjectId(path: try AnyCodingKey.parsePath(path), containerType: type, strategy: strategy).get()
  }

  @Test func theEmptyPathIsTheRootMap() throws {
    #expect(try find("", .Key) == .ROOT)
    #expect(throws: CodingKeyLookupError.self) { try find("", .Index, .readonly) }
    #expect(throws: CodingKeyLookupError.self) { try find("", .Value, .override) }
    #expect(throws: CodingKeyLookupError.self) { try find("[0]", .Value) }
  }

  @Test func whatIsThereIsFound() throws {
    #expect(try find("list", .Index, .readonly) == list)
    #expect(try find("list.[0]", .Key, .readonly) == map)
    #expect(try find("list.[0].notes", .Value, .readonly) == map)
    #expect(try find("list.[2]", .Value, .readonly) == list)
    #expect(try find("name", .Value, .readonly) == .ROOT)
  }

  @Test(arguments: [
    "description.list", "list.[1].name", "list.[1].[0]", "list.[2].name", "list.[2].[0]", "name.age", "name.[0]",
    "list.name", "topMap.[0]", "list.[4].name", "list.[9].name",
  ])
  func aPathThatDoesNotFitWhatIsThereIsRefused(path: String) throws {
    let before = document.save()
    for strategy in [SchemaStrategy.createWhenNeeded, .readonly] {
      for type in [EncodingContainerType.Value, .Key, .Index] {
        #expect(throws: CodingKeyLookupError.self) { try find(path, type, strategy) }
      }
    }
    #expect(document.save() == before)
  }

  @Test func whatStandsInTheWayIsNamed() throws {
    func error(_ path: String) -> CodingKeyLookupError? {
      #expect(throws: CodingKeyLookupError.self) { try find(path, .Value, .readonly) }
    }
    guard case .PathExtendsThroughText? = error("description.a"), case .PathExtendsThroughScalar? = error("name.a"),
      case .MismatchedSchema? = error("list.a"), case .SchemaMissing? = error("alpha.beta")
    else {
      Issue.record("another error")
      return
    }
  }

  @Test(arguments: [
    ("alpha", EncodingContainerType.Key), ("topMap.beta", .Key), ("list.[3].a", .Value), ("list.[3].[0]", .Index),
    ("redfish.[0].bluefish.yellowfish", .Key), ("redfish.[0].bluefish.[0]", .Index),
    ("redfish.[0].bluefish.yellowfish", .Value),
  ])
  func whatIsMissingIsMadeUnlessTheSchemaIsReadOnly(path: String, type: EncodingContainerType) throws {
    let before = document.save()
    #expect(throws: CodingKeyLookupError.self) { try find(path, type, .readonly) }
    #expect(document.save() == before)
    let made = try find(path, type)
    let steps = try AnyCodingKey.parsePath(path)
    let place = type == .Value ? steps.dropLast() : steps[...]
    let found = try document.at(place.stringPath())
    #expect(found == .Object(made, type == .Value ? (path.hasSuffix("]") ? .List : .Map) : type == .Key ? .Map : .List))
    #expect(try find(path, type) == made)
  }

  @Test func anIndexBehindTheEndMakesNothing() throws {
    let before = document.save()
    let error = #expect(throws: CodingKeyLookupError.self) { try find("redfish.[5].bluefish.yellowfish", .Value) }
    guard case .IndexOutOfBounds(let text)? = error else { throw try #require(error) }
    #expect(text.contains("5"))
    #expect(document.save() == before)
  }

  @Test func anIndexBehindTheEndIsDescribedInTheSameWordsEverywhere() throws {
    let words = "index 9 of .list.[9] is past the end of a list of 3"
    let encoder = AutomergeEncoder(doc: document)
    let path = try AnyCodingKey.parsePath("list.[9]")
    let written = #expect(throws: CodingKeyLookupError.self) { try encoder.encode("x", at: path) }
    let found = #expect(throws: CodingKeyLookupError.self) { try document.lookupPath(path: "list.[9]") }
    let made = #expect(throws: CodingKeyLookupError.self) { try find("list.[9]", .Key) }
    #expect([written, found, made].map { $0?.errorDescription } == [words, words, words])
  }

  @Test func anEmptyPlaceIsDescribedInTheSameWordsEverywhere() throws {
    let words = "there is nothing at .alpha"
    let decoder = AutomergeDecoder(doc: document)
    let read = #expect(throws: DecodingError.self) {
      try decoder.decode([String].self, from: [AnyCodingKey("alpha")])
    }
    guard case .valueNotFound(_, let context)? = read else { throw try #require(read) }
    #expect(context.debugDescription == words)
    let found = #expect(throws: CodingKeyLookupError.self) { try find("alpha", .Key, .readonly) }
    #expect(found?.errorDescription == words)
  }

  @Test func overridePutsContainersInThePlaceOfAnything() throws {
    let made = try find("name.age", .Key, .override)
    #expect(try document.at("name.age") == .Object(made, .Map))
    #expect(try document.at("list") == .Object(list, .List))
    #expect(try find("list.[0]", .Key, .override) == map)
  }

  @Test func aPathAsTextLeadsToAnObject() throws {
    #expect(try document.lookupPath(path: "") == .ROOT)
    #expect(try document.lookupPath(path: ".") == .ROOT)
    #expect(try document.lookupPath(path: ".list") == list)
    #expect(try document.lookupPath(path: "list.[0]") == map)
    #expect(try document.lookupPath(path: "list.[0].notes") != nil)
    #expect(try document.lookupPath(path: "list.[0].absent") == nil)
    #expect(try document.lookupPath(path: "name") == nil)
    #expect(try document.lookupPath(path: "list.[2]") == nil)
    let ofTheRoot = #expect(throws: CodingKeyLookupError.self) { try document.lookupPath(path: "[1].a") }
    guard case .AutomergeDocError(let error as DocError)? = ofTheRoot else { throw try #require(ofTheRoot) }
    #expect(error == .wrongType(.ROOT, .Map))
    #expect(try document.lookupPath(path: "list.[3]") == nil)
    #expect(throws: PathParseError.self) { try document.lookupPath(path: "1") }
    for path in ["list.[4]", "list.[0].absent.deeper", "name.age", "description.a", "[0]"] {
      #expect(throws: CodingKeyLookupError.self) { try document.lookupPath(path: path) }
    }
  }
}
