import Foundation
import JSONRPC
import TestSupport

enum TraceError: Error, CustomStringConvertible {
  case unreadable(String)
  case otherText(String)
  case failed(String, String)

  var description: String {
    switch self {
    case .unreadable(let path): "\(path) is not a sequential editing trace"
    case .failed(let command, let output): "\(command) failed: \(output)"
    case .otherText(let name): "the replay of \(name) ended with another text than the trace says"
    }
  }
}

/// A recording of one person writing a text, keystroke by keystroke.
struct EditingTrace {
  struct Patch {
    /// Positions and lengths count Unicode scalars.
    let position: UInt64
    let deleted: Int64
    let inserted: String

    static func list(_ value: JSONValue?, path: String) throws -> [Patch] {
      try (value?.arrayValue ?? []).map { patch in
        guard let position = patch[0]?.intValue, let deleted = patch[1]?.intValue, let inserted = patch[2]?.stringValue
        else { throw TraceError.unreadable(path) }
        return Patch(position: UInt64(position), deleted: Int64(deleted), inserted: inserted)
      }
    }
  }

  let name: String
  let path: String
  let endContent: String
  /// All patches in order.
  let patches: [Patch]
  /// For each transaction where it ends among the patches.
  let ends: [Int]

  /// Reads a gzipped trace in the format of josephg/editing-traces.
  init(contentsOf path: String) throws {
    let trace: JSONValue
    (name, trace) = try Self.unpack(path)
    self.path = path
    guard let endContent = trace["endContent"]?.stringValue, let entries = trace["txns"]?.arrayValue,
      trace["kind"]?.stringValue != "concurrent"
    else { throw TraceError.unreadable(path) }
    self.endContent = endContent
    var patches: [Patch] = [], ends: [Int] = []
    for entry in entries {
      patches += try Patch.list(entry["patches"], path: path)
      ends.append(patches.count)
    }
    (self.patches, self.ends) = (patches, ends)
  }

  /// A trace file's name and content.
  static func unpack(_ path: String) throws -> (name: String, content: JSONValue) {
    let name = (path as NSString).lastPathComponent.replacingOccurrences(of: ".json.gz", with: "")
    let unpacked = try ChildProcess.run(["gzip", "-dc", path], within: .seconds(60))
    guard unpacked.exit == .code(0) else { throw TraceError.unreadable(path) }
    var limits = JSONLimits()
    limits.valueCount = 64 << 20
    return (name, try JSONValue(parsing: unpacked.output, limits: limits))
  }
}
