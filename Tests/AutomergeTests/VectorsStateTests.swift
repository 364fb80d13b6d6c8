import Foundation
import TestSupport
import Testing

@testable import Automerge

/// What the vectors say of values, conflicts, marks, past states and cursors.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct VectorsStateTests {}

extension VectorsStateTests {
  /// To a dictionary of Swift, canonically equivalent keys are one.
  private static let names = Vectors.documentNames().filter { !$0.hasPrefix("mapkeys") }

  @Test(arguments: names)
  func valuesConflictsAndMarksAreTheReferences(name: String) throws {
    let vector = try Vectors.load(name), document = try Document(Data(try require(vector.saved)))
    #expect(document.typedValue() == vector.json["value"].withBitsOnly)
  }

  @Test(arguments: names)
  func pastStatesAreTheReferences(name: String) throws {
    let vector = try Vectors.load(name), document = try Document(Data(try require(vector.saved)))
    let pending = try Document(Data(try require(vector.saved)))
    try pending.put(obj: .ROOT, key: "pending", value: .Null)
    for past in vector.json["history"].items {
      let heads = try past["heads"].hashes, value = past["value"].withBitsOnly
      #expect(document.typedValue(at: document.withCore { $0.past(heads) }) == value)
      // What is pending is no part of any past.
      #expect(pending.typedValue(at: pending.withCore { $0.past(heads) }) == value)
      try expectReads(of: document, at: heads, agreeWith: value)
    }
  }

  /// The public face against one object of the vectors, and what is in it.
  private func expectReads(of document: Document, at heads: Set<ChangeHash>, agreeWith json: JSON) throws {
    let object = try document.object(named: json["id"].string)
    let values = try document.valuesAt(obj: object, heads: heads)
    let length = document.lengthAt(obj: object, heads: heads)
    switch json["t"].string {
    case "text":
      #expect(try document.textAt(obj: object, heads: heads).utf8.elementsEqual((json["v"].string ?? "").utf8))
      #expect(length == UInt64(json["length"].int ?? -1))
      let marks = try document.marksAt(obj: object, heads: heads)
      #expect(marks.map { .number(Double($0.start)) } == json["marks"].items.map { $0["start"] })
    case "list":
      #expect(length == UInt64(json["v"].items.count) && values.count == json["v"].items.count)
      for (index, item) in json["v"].items.enumerated() {
        let value = try document.getAt(obj: object, index: UInt64(index), heads: heads)
        try expect(value, in: document, at: heads, agreesWith: item)
        // Not a number is not even equal to itself.
        guard item["t"].string != "f64" else { continue }
        #expect(value == values[index])
        let all = try document.getAllAt(obj: object, index: UInt64(index), heads: heads)
        #expect(value.map { all.contains($0) } == true && all.count <= max(1, item["conflicts"].items.count))
      }
    default:
      let keys = document.keysAt(obj: object, heads: heads)
      #expect(keys == json["v"].members.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      #expect(try document.mapEntriesAt(obj: object, heads: heads).map(\.0) == keys)
      #expect(length == UInt64(keys.count) && values.count == keys.count)
      for (key, member) in json["v"].members {
        let value = try document.getAt(obj: object, key: key, heads: heads)
        try expect(value, in: document, at: heads, agreesWith: member)
      }
    }
  }

  private func expect(
    _ value: Value?, in document: Document, at heads: Set<ChangeHash>, agreesWith json: JSON
  ) throws {
    switch value {
    case .Object(let id, _)?:
      #expect(id.vectorName == json["id"].string)
      try expectReads(of: document, at: heads, agreeWith: json)
    case .Scalar(.Timestamp)?: #expect(json["t"].string == "timestamp")
    case .Scalar(let scalar)?: #expect(scalar.vector.allSatisfy { json[$0.key] == $0.value })
    case nil: Issue.record("nothing at \(json)")
    }
  }

  @Test(arguments: Vectors.documentNames())
  func cursorsAreMadeAndFoundAsTheReferenceDoes(name: String) throws {
    let vector = try Vectors.load(name), document = try Document(Data(try require(vector.saved)))
    for json in vector.json["cursors"].items {
      let object = try document.object(named: json["obj"].string)
      let cursor = Cursor(bytes: Data(try require(json["bytes"].hex)))
      #expect(try document.position(obj: object, cursor: cursor) == UInt64(try require(json["position"].int)))
      #expect(
        try document.position(obj: object, cursor: cursor, heads: document.heads())
          == UInt64(try require(json["position"].int)))
      #expect(try cursor.string() == json["str"].string)
      #expect(try Cursor(string: try require(json["str"].string)) == cursor)
    }
  }
}

extension JSON {
  /// Hashes of changes.
  var hashes: Set<ChangeHash> {
    get throws { Set(try items.map { try require(ChangeHash(bytes: try require($0.hex))) }) }
  }
}
