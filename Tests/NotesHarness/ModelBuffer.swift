import Foundation
import JSONRPC

/// A buffer that follows the client's rules of the version gate exactly, and reports a service that breaks its own.
public class ModelBuffer {
  public let uri: String
  public let id: String
  public internal(set) var text: ModelText
  public private(set) var version: Int
  public private(set) var rev = 0
  /// The service's violations of the protocol.
  public internal(set) var complaints: [String] = []
  /// While true, messages stay in the queue, as in an editor that waits in the middle of a command.
  public var isUnsafe = false { didSet { drain() } }
  /// The last `notes/check` that was right and for exactly this state.
  public private(set) var lastCheck: (version: Int, rev: Int)?
  public private(set) var appliedCount = 0
  public private(set) var droppedCount = 0
  /// Other people's carets, as the service last sent them.
  public private(set) var peers: [JSONValue] = []

  private var pending: [JSONValue] = []
  private var queue: [(method: String, params: JSONValue)] = []
  private var lastSeenRev = 0
  /// For each service that this buffer was attached to, the last one first: the version with which it was opened, and
  /// the last edit that it applied.
  private var had: [(run: String, version: Int, rev: Int)] = []
  /// The text with which the buffer was first attached, until a service has sent a message about it.
  private var opened: String?
  /// Whether the buffer tells that to a new service, as the plugins do.
  public var tellsWhatItHad = true

  /// The service to which the buffer was last attached.
  private var run: String?
  /// Called with each message of the buffer: its method and its parameters.
  private var send: (String, JSONValue) -> Void = { _, _ in }

  public init(uri: String, id: String, text: String, encoding: PositionEncoding = .utf8, version: Int = 1) {
    (self.uri, self.id, self.version) = (uri, id, version)
    self.text = ModelText(text, encoding: encoding)
  }

  /// Attaches the buffer to a service, or to the next one after a service has died.
  ///
  /// - Parameter run: the service's name for itself.
  public func attach(to run: String?, reattach: Bool, _ send: @escaping (String, JSONValue) -> Void) {
    self.send = send
    pending = []
    queue = []
    if !had.isEmpty { had[0].rev = rev }
    (rev, lastSeenRev, lastCheck) = (0, 0, nil)
    var params: JSONObject = [
      "textDocument": [
        "uri": .string(uri), "languageId": "markdown", "version": JSONValue(version), "text": .string(text.string),
      ]
    ]
    if reattach {
      let memories = had.map { had -> JSONValue in
        ["run": .string(had.run), "version": JSONValue(had.version), "rev": JSONValue(had.rev)]
      }
      params["notes"] = .object(present: [
        "reattach": true, "run": self.run.map(JSONValue.string), "had": tellsWhatItHad ? .array(memories) : nil,
        "opened": tellsWhatItHad ? opened.map(JSONValue.string) : nil,
      ])
    } else {
      opened = text.string
    }
    self.run = run
    send("textDocument/didOpen", .object(params))
    had = ([(run ?? "", version, 0)] + had).prefix(4).map { $0 }
  }

  public func close() {
    flush()
    send("textDocument/didClose", ["textDocument": ["uri": .string(uri)]])
  }

  // MARK: Local changes

  /// Whether nothing waits to be sent or applied.
  public var isSynced: Bool { pending.isEmpty && queue.isEmpty }
  /// How many messages wait for the end of the unsafe state.
  public var queuedCount: Int { queue.count }
  /// How many of them are edits.
  public var queuedEditCount: Int { queue.count { $0.method == "notes/edit" } }
  /// Whether the service has proved that it knows exactly this text.
  public var isChecked: Bool { isSynced && lastCheck.map { $0 == (version, rev) } ?? false }

  /// Changes the buffer; the next `flush` tells the service.
  public func edit(_ range: Range<Int>, with newText: String) {
    pending.append(["range": text.jsonRange(range), "text": .string(newText)])
    text.replace(range, with: newText)
  }

  /// Sends the changes as one batch.
  public func flush(asFullText: Bool = false) {
    if pending.isEmpty, !asFullText { return }
    version += 1
    let changes: [JSONValue] = asFullText ? [["text": .string(text.string)]] : pending
    pending = []
    sendChanges(.array(changes))
  }

  /// Sends these changes as they are and applies them as the protocol says, positions off the text clamped.
  public func sendRaw(_ changes: JSONValue) {
    flush()
    version += 1
    text.applyContentChanges(changes)
    sendChanges(changes)
  }

  private func sendChanges(_ changes: JSONValue) {
    send(
      "textDocument/didChange",
      [
        "textDocument": ["uri": .string(uri), "version": JSONValue(version)], "contentChanges": changes,
        "notes": ["rev": JSONValue(rev)],
      ])
  }

  /// Sends the position of the caret.
  public func sendCursor(at offset: Int) {
    flush()
    send(
      "notes/cursor",
      [
        "uri": .string(uri), "version": JSONValue(version), "rev": JSONValue(rev),
        "ranges": [text.jsonRange(offset..<offset)],
      ])
  }

  public func acknowledge() {
    send(
      "notes/ack", ["uri": .string(uri), "version": JSONValue(version), "rev": JSONValue(rev)])
  }

  // MARK: Messages of the service

  public func receive(_ method: String, _ params: JSONValue) {
    guard params["uri"]?.stringValue == uri else { return }
    // It was sent when the editor had another buffer of this file, which it has closed since.
    if let version = params["version"]?.intValue, let had = had.first, version < had.version { return }
    if ["notes/edit", "notes/check"].contains(method) { opened = nil }
    switch method {
    case "notes/edit":
      let edit = params["rev"]?.intValue ?? 0
      if edit != lastSeenRev + 1 { complain("edit \(edit) follows edit \(lastSeenRev)") }
      lastSeenRev = edit
      queue.append((method, params))
    case "notes/check", "notes/cursors": queue.append((method, params))
    case "notes/resync":
      complain("asked for the full text: \(params)")
      flush(asFullText: true)
    default: break
    }
    drain()
  }

  private func drain() {
    while !isUnsafe, !queue.isEmpty {
      flush()
      let (method, params) = queue.removeFirst()
      let isCurrent = params["version"]?.intValue == version
      switch method {
      case "notes/edit":
        if isCurrent { apply(params) } else { droppedCount += 1 }
      case "notes/check":
        if isCurrent, params["rev"]?.intValue == rev { check(params) }
      default:
        if isCurrent, params["rev"]?.intValue == rev { show(params) }
      }
    }
  }

  private func apply(_ params: JSONValue) {
    let problem = text.applyServerEdit(params)
    rev = params["rev"]?.intValue ?? rev
    appliedCount += 1
    if let problem {
      complain(problem)
      flush(asFullText: true)
    }
  }

  private func check(_ params: JSONValue) {
    if params["bytes"]?.intValue == text.bytes.count, params["sha256"]?.stringValue == text.sha256 {
      lastCheck = (version, rev)
    } else {
      complain("the text is not what \(params) says, but \(text.bytes.count) bytes with \(text.sha256)")
      flush(asFullText: true)
    }
  }

  private func show(_ params: JSONValue) {
    peers = params["peers"]?.arrayValue ?? []
    for peer in peers {
      for range in peer["ranges"]?.arrayValue ?? [] where text.byteRange(range) == nil {
        complain("a caret off the text: \(params)")
      }
    }
  }

  private func complain(_ text: String) { complaints.append(String(text.prefix(2000))) }
}
