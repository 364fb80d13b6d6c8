import Foundation
import TestSupport
import Testing

@testable import Automerge

@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct VectorsDocumentTests {}

extension VectorsDocumentTests {
  @Test(arguments: Vectors.documentNames())
  func savedDocumentsLoadAndSaveTheSame(name: String) throws {
    let vector = try Vectors.load(name)
    let document = try Document(Data(try require(vector.saved)))
    #expect(document.headNames == vector.json["heads"].strings)
    #expect(document.brokenInvariant() == nil)
    #expect(Hex.text(document.saveUncompressed()) == vector.json["save_uncompressed"].string)
    try expectTexts(document, vector.json["texts"])
    let again = try Document(document.save())
    #expect(again.headNames == vector.json["heads"].strings)
    #expect(again.saveUncompressed() == document.saveUncompressed())
  }

  @Test(arguments: Vectors.documentNames())
  func changesAppliedInOrderGiveTheSameDocument(name: String) throws {
    let vector = try Vectors.load(name)
    let document = Document()
    for change in vector.json["changes"].items {
      let raw = try require(change["raw"].hex)
      let stored = change["compressed"].hex ?? raw
      try document.applyEncodedChanges(encoded: Data(stored))
      document.withCore { core in
        let row = core.graph.count - 1
        #expect(core.chunk(ofRow: row) == raw)
        #expect(core.graph.hashes[row].description == change["hash"].string)
      }
      #expect(document.brokenInvariant() == nil)
    }
    #expect(document.headNames == vector.json["heads"].strings)
    // An empty message is told from none only where it was written, not in a change.
    if !vector.json["changes"].items.contains(where: { $0["message"].string == "" }) {
      #expect(Hex.text(document.saveUncompressed()) == vector.json["save_uncompressed"].string)
    }
    try expectTexts(document, vector.json["texts"])
  }

  @Test(arguments: Vectors.documentNames())
  func anyOrderOfChangesGivesTheSameHeadsAndTexts(name: String) throws {
    let vector = try Vectors.load(name)
    let changes = try vector.json["changes"].items.map { try require($0["raw"].hex) }
    for order in vector.json["apply_orders"].items {
      let document = Document()
      for index in order.items { try document.applyEncodedChanges(encoded: Data(changes[try require(index.int)])) }
      #expect(document.headNames == vector.json["heads"].strings)
      try expectTexts(document, vector.json["texts"])
      #expect(document.brokenInvariant() == nil)
    }
    let partial = vector.json["partial"]
    guard !partial.isNull else { return }
    let document = Document()
    for index in partial["indexes"].items {
      try document.applyEncodedChanges(encoded: Data(changes[try require(index.int)]))
    }
    #expect(document.headNames == partial["heads"].strings)
    // The waiting changes are kept in the file.
    let reloaded = try Document(document.save())
    for change in changes { try reloaded.applyEncodedChanges(encoded: Data(change)) }
    #expect(reloaded.headNames == vector.json["heads"].strings)
  }

  @Test(arguments: Vectors.documentNames())
  func cursorsStandWhereTheReferencePutsThem(name: String) throws {
    let vector = try Vectors.load(name)
    let document = try Document(Data(try require(vector.saved)))
    for cursor in vector.json["cursors"].items {
      let object = try document.object(named: cursor["obj"].string)
      guard document.objectType(obj: object) == .Text else { continue }
      let bytes = Cursor(bytes: Data(try require(cursor["bytes"].hex)))
      let offset = try document.utf8Offset(obj: object, cursor: bytes)
      let position = try document.textMeasure(obj: object, utf8Offset: offset).scalars
      #expect(position == cursor["position"].int, "\(cursor["str"])")
    }
  }

  @Test(arguments: Vectors.documentNames())
  func textEditsSinceAPastStateLeadFromItsTextToThisOne(name: String) throws {
    let vector = try Vectors.load(name)
    let document = try Document(Data(try require(vector.saved)))
    for past in vector.json["history"].items {
      let heads = Set(try past["heads"].items.map { try require(ChangeHash(bytes: try require($0.hex))) })
      for (_, text) in texts(in: past["value"], path: "") {
        let object = try document.object(named: text["id"].string)
        var mirror = Array((text["v"].string ?? "").utf8)
        for edit in try document.textEdits(obj: object, since: heads) { try edit.apply(to: &mirror) }
        #expect(
          String(decoding: mirror, as: UTF8.self).unicodeScalars.elementsEqual(
            try document.text(obj: object).unicodeScalars))
      }
    }
  }

  private func expectTexts(_ document: Document, _ texts: JSON) throws {
    for (path, text) in texts.members {
      #expect(document.text(atPath: path).map { Array($0.utf8) } == text.string.map { Array($0.utf8) }, "\(path)")
    }
  }

  private func texts(in json: JSON, path: String) -> [(String, JSON)] {
    switch json["t"].string {
    case "text": [(path, json)]
    case "map", "table": json["v"].members.flatMap { texts(in: $0.value, path: path + "/" + $0.key) }
    case "list": json["v"].items.flatMap { texts(in: $0, path: path + "/") }
    default: []
    }
  }
}

extension TextEdit {
  /// Does the edit to a plain text, checking that what it deletes is there.
  func apply(to text: inout [UInt8]) throws {
    let range = utf8Offset..<utf8Offset + deleted.count
    guard utf8Offset >= 0, range.upperBound <= text.count, text[range].elementsEqual(deleted) else { throw Missing() }
    text.replaceSubrange(range, with: inserted)
  }
}
