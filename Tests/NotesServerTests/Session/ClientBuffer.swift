import AutomergeRepo
import JSONRPC
import TestSupport

@testable import NotesServer

/// A buffer of an editor that keeps the protocol's rules, with a queue of the messages that it has not read yet. Its texts are
/// of characters that are one unit of UTF-16 each.
@AutomergeRepo
final class ClientBuffer {
  let uri: String
  let service: ServiceUnderTest
  private(set) var text: [Character]
  private(set) var inbox: [JSONValue] = []
  private var version = 1
  private var rev = 0
  /// How many messages of the service to this editor the buffer has looked at.
  private var seen: Int

  var string: String { String(text) }

  /// Opens the buffer.
  init(_ uri: String, _ text: String, in service: ServiceUnderTest) {
    (self.uri, self.service, self.text, seen) = (uri, service, Array(text), service.sent.count)
    service.open(uri, text)
  }

  func replace(_ range: Range<Int>, _ new: String) {
    let (start, end) = (position(range.lowerBound), position(range.upperBound))
    text.replaceSubrange(range, with: Array(new))
    version += 1
    service.send(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(uri), "version": JSONValue(version)],
        "contentChanges": [["range": ["start": start, "end": end], "text": .string(new)]],
        "notes": ["rev": JSONValue(rev)],
      ])
  }

  func save() { service.send("textDocument/didSave", ["textDocument": ["uri": .string(uri)]]) }
  func close() { service.send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]]) }

  /// Whether there is a message to read.
  var hasMail: Bool {
    collect()
    return !inbox.isEmpty
  }

  /// Reads the next message. An edit of a text that the buffer no longer has is dropped.
  func readMessage() {
    guard hasMail else { return }
    let message = inbox.removeFirst()
    guard let params = message["params"] else { return }
    if message["method"] == "notes/edit" {
      guard params["version"]?.intValue == version else { return }
      rev = params["rev"]?.intValue ?? rev
      apply(params["edits"]?.arrayValue ?? [])
      service.send(
        "notes/ack", ["uri": .string(uri), "version": JSONValue(version), "rev": JSONValue(rev)])
    } else {
      let change = params["edit"]?["documentChanges"]?[0]
      let isCurrent = change?["textDocument"]?["version"]?.intValue == version
      let id = message["id"]
      if isCurrent {
        let old = text.count
        let end = position(old)
        apply(change?["edits"]?.arrayValue ?? [])
        version += 1
        service.send(
          "textDocument/didChange",
          [
            "textDocument": ["uri": .string(uri), "version": JSONValue(version)],
            "contentChanges": [["range": ["start": position(0), "end": end], "text": .string(string)]],
          ])
      }
      service.send(
        .object(present: ["jsonrpc": "2.0", "id": id, "result": ["applied": JSONValue(isCurrent)]]))
    }
  }

  private func collect() {
    for message in service.sent[seen...] where isOurs(message) { inbox.append(message) }
    seen = service.sent.count
  }

  private func isOurs(_ message: JSONValue) -> Bool {
    let params = message["params"]
    if message["method"] == "notes/edit" { return params?["uri"]?.stringValue == uri }
    guard message["method"] == "workspace/applyEdit" else { return false }
    return params?["edit"]?["documentChanges"]?[0]?["textDocument"]?["uri"]?.stringValue == uri
  }

  private func apply(_ edits: [JSONValue]) {
    let parts = edits.map { edit in
      (offset(edit["range"]?["start"]), offset(edit["range"]?["end"]), Array(edit["newText"]?.stringValue ?? ""))
    }
    for (start, end, new) in parts.reversed() { text.replaceSubrange(start..<end, with: new) }
  }

  private func position(_ offset: Int) -> JSONValue {
    let before = text[..<offset]
    let line = before.count { $0 == "\n" }
    let column = offset - (before.lastIndex(of: "\n").map { $0 + 1 } ?? 0)
    return ["line": JSONValue(line), "character": JSONValue(column)]
  }

  private func offset(_ position: JSONValue?) -> Int {
    var (line, place) = (position?["line"]?.intValue ?? 0, 0)
    while line > 0, place < text.count {
      if text[place] == "\n" { line -= 1 }
      place += 1
    }
    return min(text.count, place + (position?["character"]?.intValue ?? 0))
  }
}
