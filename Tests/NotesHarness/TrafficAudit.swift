import Foundation
import JSONRPC

/// Replays the messages between an editor and its service, as the delaying proxy recorded them, and checks that every
/// `bytes` and `notes/check` was right for the text that the editor's messages imply.
public struct TrafficAudit {
  /// One document between its `didOpen` and the end.
  public struct Buffer {
    public internal(set) var text: ModelText
    public internal(set) var version: Int
    public internal(set) var rev = 0
    /// Edits that the editor has not confirmed.
    var unconfirmed: [JSONValue] = []
    var unmatchedChecks: [JSONValue] = []
    /// The latest texts, by version and rev, for checks that the editor has moved on from.
    var recent: [State: ModelText] = [:]
    var recentOrder: [State] = []
    /// Whether the last `notes/check` proved the text as it is now.
    public internal(set) var isChecked = false
  }

  struct State: Hashable { let version, rev: Int }

  public private(set) var buffers: [String: Buffer] = [:]
  /// All violations of the protocol.
  public private(set) var complaints: [String] = []
  public private(set) var checkCount = 0
  public private(set) var editCount = 0
  public private(set) var droppedCount = 0
  public private(set) var fullTextCount = 0

  private var encoding = PositionEncoding.utf16
  private let path: String
  private var bytesRead: UInt64 = 0

  /// Audits the record at this path, which may still grow.
  public init(of path: String) { self.path = path }

  /// Reads what has been recorded since the last call.
  public mutating func readMore() throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    try file.seek(toOffset: bytesRead)
    let data = [UInt8](try file.readToEnd() ?? Data())
    var index = 0
    while let lineEnd = data[index...].firstIndex(of: 10) {
      let head = String(decoding: data[index..<lineEnd], as: UTF8.self).split(separator: " ")
      guard head.count == 2, let length = Int(head[1]), lineEnd + 1 + length < data.count else { break }
      let body = data[lineEnd + 1..<lineEnd + 1 + length]
      index = lineEnd + 2 + length
      guard let message = try? JSONValue(parsing: Array(body)) else {
        complaints.append("no JSON from the \(head[0] == "c" ? "editor" : "service"): \(String(escaping: body))")
        continue
      }
      if head[0] == "c" { receiveFromEditor(message) } else { receiveFromService(message) }
    }
    bytesRead += UInt64(index)
  }

  /// The state if the editor has applied the last edits that fit its last version, as it must do without confirming
  /// them.
  public var settled: TrafficAudit {
    var audit = self
    for uri in buffers.keys { audit.confirm(uri, upTo: .max) }
    return audit
  }

  private mutating func receiveFromEditor(_ message: JSONValue) {
    let params = message["params"] ?? .null
    switch message["method"]?.stringValue {
    case "textDocument/didOpen":
      guard let document = params["textDocument"], let uri = document["uri"]?.stringValue else { return }
      buffers[uri] = Buffer(
        text: ModelText(document["text"]?.stringValue ?? "", encoding: encoding),
        version: document["version"]?.intValue ?? 0)
      changeState(of: uri)
    case "textDocument/didChange":
      guard let uri = params["textDocument"]?["uri"]?.stringValue, buffers[uri] != nil else { return }
      confirm(uri, upTo: params["notes"]?["rev"]?.intValue ?? 0)
      let lost = buffers[uri]?.unconfirmed.count ?? 0
      droppedCount += lost
      if params["contentChanges"]?.arrayValue?.contains(where: { $0["range"] == nil }) ?? false { fullTextCount += 1 }
      buffers[uri]?.unconfirmed = []
      buffers[uri]?.text.applyContentChanges(params["contentChanges"])
      let version = params["textDocument"]?["version"]?.intValue ?? 0
      if version <= buffers[uri]?.version ?? 0 { complain("version \(version) goes backwards") }
      buffers[uri]?.version = version
      changeState(of: uri)
    case "notes/ack", "notes/cursor":
      guard let uri = params["uri"]?.stringValue, params["version"]?.intValue == buffers[uri]?.version else { return }
      confirm(uri, upTo: params["rev"]?.intValue ?? 0)
    default: break
    }
  }

  private mutating func receiveFromService(_ message: JSONValue) {
    let params = message["params"] ?? .null
    if let name = message["result"]?["capabilities"]?["positionEncoding"]?.stringValue {
      encoding = PositionEncoding(rawValue: name) ?? .utf16
    }
    guard let uri = params["uri"]?.stringValue, let buffer = buffers[uri] else { return }
    switch message["method"]?.stringValue {
    case "notes/edit":
      editCount += 1
      if params["version"]?.intValue == buffer.version {
        buffers[uri]?.unconfirmed.append(params)
      } else {
        // The editor has moved on, and will drop it; the service could not know.
        droppedCount += 1
      }
    case "notes/check":
      let state = State(version: params["version"]?.intValue ?? 0, rev: params["rev"]?.intValue ?? 0)
      if let known = buffer.recent[state] {
        compare(params, with: known)
        buffers[uri]?.isChecked = state == State(version: buffer.version, rev: buffer.rev)
      } else {
        buffers[uri]?.unmatchedChecks.append(params)
      }
    case "notes/resync": complain("the service asked for the full text: \(params)")
    default: break
    }
  }

  /// Applies the edits that the editor has confirmed.
  private mutating func confirm(_ uri: String, upTo rev: Int) {
    while let edit = buffers[uri]?.unconfirmed.first, (edit["rev"]?.intValue ?? 0) <= rev {
      buffers[uri]?.unconfirmed.removeFirst()
      if let problem = buffers[uri]?.text.applyServerEdit(edit) { complain(problem) }
      buffers[uri]?.rev = edit["rev"]?.intValue ?? 0
      changeState(of: uri)
    }
  }

  private mutating func changeState(of uri: String) {
    guard let buffer = buffers[uri] else { return }
    let state = State(version: buffer.version, rev: buffer.rev)
    buffers[uri]?.recent[state] = buffer.text
    buffers[uri]?.recentOrder.append(state)
    if buffer.recentOrder.count > 50, let oldest = buffers[uri]?.recentOrder.removeFirst() {
      buffers[uri]?.recent[oldest] = nil
    }
    buffers[uri]?.isChecked = false
    guard !buffer.unmatchedChecks.isEmpty else { return }
    buffers[uri]?.unmatchedChecks = []
    for check in buffer.unmatchedChecks {
      if check["version"]?.intValue == state.version, check["rev"]?.intValue == state.rev {
        compare(check, with: buffer.text)
        buffers[uri]?.isChecked = true
      } else if (check["version"]?.intValue ?? 0) >= state.version {
        buffers[uri]?.unmatchedChecks.append(check)
      }
    }
  }

  private mutating func compare(_ check: JSONValue, with text: ModelText) {
    checkCount += 1
    if check["bytes"]?.intValue != text.bytes.count || check["sha256"]?.stringValue != text.sha256 {
      complain("the editor has \(text.bytes.count) bytes with \(text.sha256), not \(check)")
    }
  }

  private mutating func complain(_ text: String) {
    complaints.append("\((path as NSString).lastPathComponent): \(text.prefix(1500))")
  }
}

extension String {
  /// Bytes as text, those that are not ASCII as numbers.
  fileprivate init(escaping bytes: ArraySlice<UInt8>) {
    self = bytes.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "\\x" + String($0, radix: 16) }.joined()
  }
}
