import Foundation
import JSONRPC
import TestSupport

enum TraceError: Error, CustomStringConvertible {
  case unreadable(String)
  case otherText(String)

  var description: String {
    switch self {
    case .unreadable(let path): "\(path) is not a sequential editing trace"
    case .otherText(let name): "the replay of \(name) ended with another text than the trace says"
    }
  }
}

/// A recording of somebody writing a text, keystroke by keystroke.
struct EditingTrace {
  struct Patch {
    /// Positions and lengths count Unicode scalars.
    let position: UInt64
    let deleted: Int64
    let inserted: String
  }

  let name: String
  let endContent: String
  let transactions: [[Patch]]

  /// Reads a gzipped trace in the format of josephg/editing-traces.
  init(contentsOf path: String) throws {
    name = (path as NSString).lastPathComponent.replacingOccurrences(of: ".json.gz", with: "")
    let unpacked = try ChildProcess.run(["gzip", "-dc", path], within: .seconds(60))
    guard unpacked.exit == .code(0) else { throw TraceError.unreadable(path) }
    var limits = JSONLimits()
    limits.valueCount = 64 << 20
    let trace = try JSONValue(parsing: unpacked.output, limits: limits)
    guard let endContent = trace["endContent"]?.stringValue, let entries = trace["txns"]?.arrayValue,
      trace["kind"]?.stringValue != "concurrent"
    else { throw TraceError.unreadable(path) }
    self.endContent = endContent
    transactions = try entries.map { entry in
      try (entry["patches"]?.arrayValue ?? []).map { patch in
        guard let position = patch[0]?.intValue, let deleted = patch[1]?.intValue, let inserted = patch[2]?.stringValue
        else { throw TraceError.unreadable(path) }
        return Patch(position: UInt64(position), deleted: Int64(deleted), inserted: inserted)
      }
    }
  }
}
