import Foundation
import JSONRPC

/// Replays what an editor and its service said to each other, as the delaying proxy recorded it, and checks that every
/// `bytes` and `notes/check` was right for the text that the editor had by its own words.
public struct TrafficAudit {
  /// One document between its `didOpen` and the end.
  public struct Buffer {
    public internal(set) var text: ModelText
    public internal(set) var version: Int
    public internal(set) var rev = 0
    /// Edits that the editor has not said anything about yet.
    var unconfirmed: [JSONValue] = []
    var unmatchedChecks: [JSONValue] = []
    /// Hashes of the latest states, by version and rev.
    var recent: [State: (bytes: Int, sha256: String)] = [:]
    var recentOrder: [State] = []
    /// Whether the last `notes/check` proved the text as it is now.
    public internal(set) var isChecked = false
  }

  struct State: Hashable { let version, rev: Int }

  public private(set) var buffers: [String: Buffer] = [:]
  /// Everything that was not as the protocol says.
  public private(set) var complaints: [String] = []
  public private(set) var checkCount = 0
  public private(set) var editCount = 0
  public private(set) var droppedCount = 0
  public private(set) var fullTextCount = 0

  private var encoding = PositionEncoding.utf16
  private let file: String

  /// Reads the whole record.
  public init(contentsOf path: String) throws {
    file = (path as NSString).lastPathComponent
    let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var index = 0
    while let lineEnd = data[index...].firstIndex(of: 10) {
      let head = String(decoding: data[index..<lineEnd], as: UTF8.self).split(separator: " ")
      guard head.count == 2, let length = Int(head[1]), lineEnd + 1 + length < data.count else { break }
      let body = Array(data[lineEnd + 1..<lineEnd + 1 + length])
      index = lineEnd + 2 + length
      let message = try JSONValue(parsing: body)
      if head[0] == "c" { receiveFromEditor(message) } else { receiveFromService(message) }
    }
    for uri in buffers.keys { confirmTail(of: uri) }
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

  /// Applies the edits that the editor says it has applied.
  private mutating func confirm(_ uri: String, upTo rev: Int) {
    while let edit = buffers[uri]?.unconfirmed.first, (edit["rev"]?.intValue ?? 0) <= rev {
      buffers[uri]?.unconfirmed.removeFirst()
      if let problem = buffers[uri]?.text.applyServerEdit(edit) { complain(problem) }
      buffers[uri]?.rev = edit["rev"]?.intValue ?? 0
      changeState(of: uri)
    }
  }

  /// What came last and was for the editor's last version was applied even if the editor said nothing after it.
  private mutating func confirmTail(of uri: String) { confirm(uri, upTo: .max) }

  private mutating func changeState(of uri: String) {
    guard var buffer = buffers[uri] else { return }
    let state = State(version: buffer.version, rev: buffer.rev)
    let known = (bytes: buffer.text.bytes.count, sha256: buffer.text.sha256)
    buffer.recent[state] = known
    buffer.recentOrder.append(state)
    if buffer.recentOrder.count > 200 { buffer.recent[buffer.recentOrder.removeFirst()] = nil }
    buffer.isChecked = false
    var left: [JSONValue] = []
    for check in buffer.unmatchedChecks {
      if check["version"]?.intValue == state.version, check["rev"]?.intValue == state.rev {
        compare(check, with: known)
        buffer.isChecked = true
      } else if (check["version"]?.intValue ?? 0) >= state.version {
        left.append(check)
      }
    }
    buffer.unmatchedChecks = left
    buffers[uri] = buffer
  }

  private mutating func compare(_ check: JSONValue, with known: (bytes: Int, sha256: String)) {
    checkCount += 1
    if check["bytes"]?.intValue != known.bytes || check["sha256"]?.stringValue != known.sha256 {
      complain("the editor has \(known.bytes) bytes with \(known.sha256), not \(check)")
    }
  }

  private mutating func complain(_ text: String) { complaints.append("\(file): \(text.prefix(1500))") }
}
