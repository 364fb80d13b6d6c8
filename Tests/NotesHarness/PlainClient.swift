import Foundation
import JSONRPC

/// A buffer of an LSP client that knows nothing of notes and receives other people's edits by `workspace/applyEdit`.
public final class PlainClient {
  /// What a client does with an edit for a text that has changed since.
  public enum Manners: CaseIterable, Sendable {
    /// It refuses, as eglot and Helix do.
    case refuses
    /// It does nothing and reports success, as Neovim does.
    case skips
    /// It ignores the version and applies the edit, as vim-lsp does.
    case applies
  }

  public let uri: String
  public let process: NotesProcess
  public let manners: Manners
  public private(set) var text: ModelText
  public private(set) var version = 1
  public private(set) var appliedCount = 0
  public private(set) var skippedCount = 0
  /// The largest number of requests that waited for an answer at once; more than one is too many.
  public private(set) var mostOutstanding = 0
  /// The person's answer to a question; nil leaves it open.
  public var choice: String?
  /// Whether it can ask the person at all.
  public var asks = true
  /// While true, the client delays its answers, like a busy editor.
  public var isBusy = false { didSet { answerWaiting() } }
  /// Changes that were not yet sent to the service.
  private var pending: [JSONValue] = []
  private var waiting: [(id: JSONValue, params: JSONValue)] = []

  /// Begins a session, joins a note with the ticket, and opens its file.
  public init(_ process: NotesProcess, ticket: String, manners: Manners) throws {
    (self.process, self.manners) = (process, manners)
    try process.request(
      "initialize",
      [
        "processId": .int(Int64(getpid())), "capabilities": ["workspace": ["applyEdit": true]],
        "initializationOptions": ["applyEdits": true],
      ])
    process.notify("initialized", [:])
    let joined = try process.request("notes/join", ["ticket": .string(ticket)])
    guard let uri = joined["uri"]?.stringValue, let path = joined["path"]?.stringValue else {
      throw NotesProcess.Refusal(method: "notes/join", error: joined)
    }
    self.uri = uri
    text = ModelText(try String(contentsOfFile: path, encoding: .utf8), encoding: .utf16)
    process.onRequest = { [weak self] id, method, params in
      guard let self else { return false }
      if method == "window/showMessageRequest", !asks {
        let error: JSONValue = ["code": -32601, "message": "Method not found"]
        self.process.send(["jsonrpc": "2.0", "id": id, "error": error])
        return true
      }
      if method == "window/showMessageRequest", let choice {
        self.process.send(["jsonrpc": "2.0", "id": id, "result": ["title": .string(choice)]])
        return true
      }
      guard method == "workspace/applyEdit" else { return false }
      self.waiting.append((id, params))
      self.mostOutstanding = max(self.mostOutstanding, self.waiting.count)
      self.answerWaiting()
      return true
    }
    process.notify(
      "textDocument/didOpen",
      [
        "textDocument": [
          "uri": .string(uri), "languageId": "markdown", "version": JSONValue(version), "text": .string(text.string),
        ]
      ])
  }

  /// Whether neither changes nor requests wait.
  public var isSynced: Bool { pending.isEmpty && waiting.isEmpty }

  /// Changes the buffer; the next `flush` tells the service.
  public func edit(_ range: Range<Int>, with newText: String) {
    pending.append(["range": text.jsonRange(range), "text": .string(newText)])
    text.replace(range, with: newText)
  }

  /// Tells the service, as clients do when the person pauses.
  public func flush() {
    guard !pending.isEmpty else { return }
    version += 1
    process.notify(
      "textDocument/didChange",
      ["textDocument": ["uri": .string(uri), "version": JSONValue(version)], "contentChanges": .array(pending)])
    pending = []
  }

  private func answerWaiting() {
    while !isBusy, !waiting.isEmpty {
      let (id, params) = waiting.removeFirst()
      process.send(.object(JSONObject([("jsonrpc", "2.0"), ("id", id)] + [answer(to: params)])))
    }
  }

  private func answer(to params: JSONValue) -> (String, JSONValue) {
    let change = params["edit"]?["documentChanges"]?[0]
    let isStale = change?["textDocument"]?["version"]?.intValue != version || !pending.isEmpty
    if isStale, manners != .applies {
      skippedCount += 1
      return manners == .refuses
        ? ("error", ["code": -32603, "message": "The text has changed."]) : ("result", ["applied": true])
    }
    for replaced in (change?["edits"]?.arrayValue ?? []).reversed() {
      let (start, end) = (offset(replaced["range"]?["start"]), offset(replaced["range"]?["end"]))
      edit(min(start, end)..<max(start, end), with: replaced["newText"]?.stringValue ?? "")
    }
    appliedCount += 1
    return ("result", ["applied": true])
  }

  private func offset(_ json: JSONValue?) -> Int {
    text.offset(of: Position(line: json?["line"]?.intValue ?? 0, character: json?["character"]?.intValue ?? 0))
  }
}
