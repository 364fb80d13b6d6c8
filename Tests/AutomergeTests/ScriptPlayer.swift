import Foundation
import TestSupport

@testable import Automerge

/// Does the edits again that made a vector.
struct ScriptPlayer {
  var documents: [String: Document] = [:]

  /// Does a step and returns what the call gives back, as the vector writes it.
  mutating func play(_ step: JSON) throws -> String? {
    let name = try require(step["doc"].string)
    if step["op"].string == "new" {
      documents[name] = try Document(actor: require(step["actor"].string))
      return nil
    }
    let document = try require(documents[name])
    switch step["op"].string {
    case "fork":
      let fork = try step["heads"].isNull ? document.fork() : document.forkAt(heads: step["heads"].hashes)
      try fork.rename(require(step["actor"].string))
      documents[try require(step["as"].string)] = fork
    case "merge":
      try document.merge(other: require(documents[require(step["other"].string)]))
    case "isolate": try document.isolate(heads: step["heads"].hashes)
    case "integrate": document.integrate()
    case "commit", "empty_change": return commit(document, step)
    default: return try edit(document, step)
    }
    return nil
  }

  private func commit(_ document: Document, _ step: JSON) -> String? {
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
  }

  private func edit(_ document: Document, _ step: JSON) throws -> String? {
    let object = try document.object(named: step["obj"].string)
    let key = step["prop"].string
    func index(_ name: String) throws -> UInt64 { UInt64(try require(step[name].int)) }
    switch (step["op"].string, key) {
    case ("put", let key?): try document.put(obj: object, key: key, value: ScalarValue(vector: step["value"]))
    case ("put", nil):
      try document.put(obj: object, index: index("prop"), value: ScalarValue(vector: step["value"]))
    case ("delete", let key?): try document.delete(obj: object, key: key)
    case ("delete", nil): try document.delete(obj: object, index: index("prop"))
    case ("increment", let key?):
      try document.increment(obj: object, key: key, by: require(Int64(step["by"].string ?? "")))
    case ("increment", nil):
      try document.increment(obj: object, index: index("prop"), by: require(Int64(step["by"].string ?? "")))
    case ("insert", _):
      try document.insert(obj: object, index: index("index"), value: ScalarValue(vector: step["value"]))
    case ("splice", _):
      try document.splice(
        obj: object, start: index("index"), delete: Int64(step["del"].int ?? 0),
        values: step["values"].items.map { try ScalarValue(vector: $0) })
    case ("splice_text", _):
      try document.spliceText(
        obj: object, start: index("index"), delete: Int64(step["del"].int ?? 0), value: step["text"].string)
    case ("mark", _), ("unmark", _):
      let modes: [String: ExpandMark] = ["before": .before, "after": .after, "both": .both, "none": .none]
      let (start, end) = (try index("start"), try index("end"))
      let expand = try require(modes[step["expand"].string ?? ""]), name = try require(step["name"].string)
      if step["op"].string == "unmark" {
        try document.unmark(obj: object, start: start, end: end, expand: expand, name: name)
      } else {
        let value = try ScalarValue(vector: step["value"])
        try document.mark(obj: object, start: start, end: end, expand: expand, name: name, value: value)
      }
    case ("put_object", _), ("insert_object", _), ("split_block", _):
      return try makeObject(document, in: object, step).vectorName
    default: throw Missing()
    }
    return nil
  }

  /// No program makes tables any more, but old documents have them; so this goes below the public interface.
  private func makeObject(_ document: Document, in object: ObjId, _ step: JSON) throws -> ObjId {
    let actions: [String: OpAction] = ["list": .makeList, "text": .makeText, "table": .makeTable]
    let action = actions[step["type"].string ?? ""] ?? .makeMap
    return try document.withCore { core in
      if let key = step["prop"].string { return try core.putObject(object, key: key, action: action) }
      let unit = try core.unit(of: object, .unicodeScalar)
      if let index = step["prop"].int {
        return try core.putObject(object, index: index, unit: unit, action: action)
      }
      return try core.insertObject(object, at: require(step["index"].int), unit: unit, action: action)
    }
  }
}
