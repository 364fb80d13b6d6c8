import Foundation
import TestSupport
import Testing

@testable import Automerge

/// The edits that made the vectors, done again: the same edits give the same changes.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct VectorsScriptTests {
  @Test(arguments: Vectors.documentNames())
  func scriptsGiveTheSameHashes(name: String) throws {
    let vector = try Vectors.load(name)
    var player = ScriptPlayer()
    for (index, step) in vector.json["script"].items.enumerated() {
      // Lists, marks, counters and past states have no editing functions yet.
      guard player.knows(step) else { return }
      let result = try player.play(step)
      #expect(result == step["ret"].string, "step \(index): \(step)")
    }
    let expected = vector.json["heads"].strings
    let finished = player.documents.values.filter { $0.headNames == expected }
    #expect(!finished.isEmpty)
    let saved = try require(vector.json["save_uncompressed"].hex)
    #expect(finished.contains { $0.saveUncompressed() == saved })
    for document in player.documents.values { #expect(document.brokenInvariant() == nil) }
  }

  @Test func mostScriptsArePlayed() throws {
    var played = 0
    for name in Vectors.documentNames() {
      let player = ScriptPlayer()
      let script = try Vectors.load(name).json["script"].items
      if !script.isEmpty, script.allSatisfy({ player.knows($0) }) { played += 1 }
    }
    #expect(played >= 40)
  }
}

private struct ScriptPlayer {
  var documents: [String: Document] = [:]

  func knows(_ step: JSON) -> Bool {
    switch step["op"].string {
    case "new", "commit", "empty_change", "merge", "splice_text": true
    case "fork": step["heads"].isNull
    case "put", "delete": step["prop"].string != nil
    case "put_object": step["prop"].string != nil && step["type"].string != "table"
    default: false
    }
  }

  mutating func play(_ step: JSON) throws -> String? {
    let name = try require(step["doc"].string)
    if step["op"].string == "new" {
      documents[name] = try Document(actor: require(step["actor"].string))
      return nil
    }
    let document = try require(documents[name])
    let object = try document.object(named: step["obj"].string)
    switch step["op"].string {
    case "fork":
      let fork = document.fork()
      try fork.rename(require(step["actor"].string))
      documents[try require(step["as"].string)] = fork
    case "merge":
      try document.merge(other: require(documents[require(step["other"].string)]))
    case "commit", "empty_change":
      let time = Int64(step["time"].int ?? 0), message = step["message"].string
      return document.withCore { core in
        if step["op"].string == "empty_change" {
          core.commitEmpty(message: message, time: time)
        } else if !core.commit(message: message, time: time) {
          return nil
        }
        core.computeHashes()
        return core.graph.hashes.last?.description
      }
    case "put":
      try document.put(
        obj: object, key: require(step["prop"].string), value: ScalarValue(vector: step["value"]))
    case "put_object":
      let type: ObjType = ["map": .Map, "list": .List, "text": .Text][step["type"].string ?? ""] ?? .Map
      return try document.putObject(obj: object, key: require(step["prop"].string), ty: type).vectorName
    case "delete":
      try document.delete(obj: object, key: require(step["prop"].string))
    case "splice_text":
      try document.spliceText(
        obj: object, start: UInt64(step["index"].int ?? 0), delete: Int64(step["del"].int ?? 0),
        value: step["text"].string)
    default: throw Missing()
    }
    return nil
  }
}
