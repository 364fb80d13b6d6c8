import Foundation
import TestSupport
import Testing

@testable import Automerge

/// The patches that the reference core gives between past states.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct VectorsPatchTests {}

extension VectorsPatchTests {
  @Test(arguments: Vectors.documentNames())
  func differencesAreTheReferencesPatches(name: String) throws {
    let vector = try Vectors.load(name)
    let patches = vector.json["patches"]
    guard !patches.isNull else { return }
    let document = try Document(Data(try require(vector.saved)))
    let heads = document.heads(), middle = try changeHashes(patches["mid"])
    if !patches["from_empty"].isNull {
      #expect(described(document.difference(from: [], to: heads)) == described(patches["from_empty"]))
    }
    #expect(described(document.difference(from: middle, to: heads)) == described(patches["mid_to_heads"]))
    #expect(described(document.difference(since: middle)) == described(patches["mid_to_heads"]))
    #expect(described(document.difference(from: heads, to: middle)) == described(patches["heads_to_mid"]))
    #expect(described(document.difference(to: middle)) == described(patches["heads_to_mid"]))
    #expect(document.difference(from: middle, to: middle).isEmpty)
  }

  private func changeHashes(_ json: JSON) throws -> Set<ChangeHash> {
    Set(try json.items.map { try require(ChangeHash(bytes: try require($0.hex))) })
  }

  private func described(_ patches: [Patch]) -> [String] { patches.map(\.description) }

  /// The reference also lists splices of nothing into empty texts that come back into view.
  private func described(_ json: JSON) -> [String] {
    json.items.filter { $0["a"].string != "splice_text" || $0["value"].string != "" }.map(describe)
  }

  private func describe(_ patch: JSON) -> String {
    let prop = patch["key"].string ?? patch["index"].int.map(String.init) ?? text(patch["prop"])
    let path = patch["path"].items.map { "\(text($0[0])).\(text($0[1]))" }.joined(separator: "/")
    let action =
      switch patch["a"].string ?? "" {
      case "put_map", "put_seq": "put \(prop) \(value(patch["value"]))"
      case "insert": "insert \(prop) \(patch["values"].items.map(value))"
      case "splice_text":
        "splice \(prop) \(patch["value"].string ?? "?") "
          + patch["marks"].members.sorted { $0.key < $1.key }.map { "\($0): \(value($1))" }.joined(separator: ",")
      case "delete_map": "delete \(prop)"
      case "delete_seq": "delete \(prop) length \(text(patch["length"]))"
      case "increment": "increment \(prop) \(text(patch["value"]))"
      case "conflict": "conflict \(prop)"
      case "mark":
        "mark "
          + patch["marks"].items.map {
            "\(text($0["start"]))..\(text($0["end"])) \(text($0["name"])) \(value($0["value"]))"
          }.joined(separator: ",")
      default: "?"
      }
    return "\(text(patch["obj"])) [\(path)] \(action)"
  }

  private func text(_ json: JSON) -> String { json.string ?? json.int.map(String.init) ?? "?" }

  private func value(_ json: JSON) -> String {
    if let id = json["id"].string { return "\(json["t"].string ?? "?") \(id)" }
    return (try? ScalarValue(vector: json)).map { "\($0)" } ?? "?"
  }
}

extension Patch {
  /// As the vectors' patches are described here.
  var description: String {
    let path = path.map { "\($0.obj.vectorName).\($0.prop.description)" }.joined(separator: "/")
    switch action {
    case .Put(let object, let prop, let value):
      return "\(object.vectorName) [\(path)] put \(prop.description) \(value.described)"
    case .Insert(let object, let index, let values):
      return "\(object.vectorName) [\(path)] insert \(index) \(values.map(\.described))"
    case .SpliceText(let object, let index, let value, let marks):
      let marks = marks.sorted { $0.key < $1.key }.map { "\($0): \($1.described)" }.joined(separator: ",")
      return "\(object.vectorName) [\(path)] splice \(index) \(value) \(marks)"
    case .Increment(let object, let prop, let amount):
      return "\(object.vectorName) [\(path)] increment \(prop.description) \(amount)"
    case .DeleteMap(let object, let key): return "\(object.vectorName) [\(path)] delete \(key)"
    case .DeleteSeq(let deletion):
      return "\(deletion.obj.vectorName) [\(path)] delete \(deletion.index) length \(deletion.length)"
    case .Marks(let object, let marks):
      let marks = marks.map { "\($0.start)..\($0.end) \($0.name) \($0.value)" }.joined(separator: ",")
      return "\(object.vectorName) [\(path)] mark \(marks)"
    case .Conflict(let object, let prop): return "\(object.vectorName) [\(path)] conflict \(prop.description)"
    }
  }
}

extension Prop {
  fileprivate var description: String {
    switch self {
    case .Key(let key): key
    case .Index(let index): "\(index)"
    }
  }
}

extension Value {
  fileprivate var described: String {
    switch self {
    case .Object(let id, let type): "\(type)".lowercased() + " " + id.vectorName
    case .Scalar(let value): "\(value)"
    }
  }
}
