import AutomergeRepo
import Foundation
import JSONRPC

/// Gives the service access to the files in which editors keep words that a service may not have read. What is in there
/// may come from any program.
public protocol UnsentFileAccess: Sendable {
  /// Where editors put them.
  var folder: String { get }
  /// The files, a limited number.
  func names() async -> [String]
  /// Nil if there is no such file any more.
  func read(_ name: String) async -> [UInt8]?
  func remove(_ name: String) async
}

/// The text of a buffer that its editor closed while the service did not answer, from the file that the editor kept it in.
struct UnsentText: Sendable {
  var id: DocumentId
  /// The buffer's.
  var uri: String
  /// The service that did not answer; empty if the editor knew none.
  var run: String
  /// Milliseconds since 1970.
  var time: Int
  var text: [UInt8]

  static let reason = "it was closed while the service hung"
  private static let maximumRunLength = 64
  /// The year 2100.
  private static let maximumTime = 4_102_444_800_000

  init(id: DocumentId, uri: String, run: String, time: Int, text: [UInt8]) {
    (self.id, self.uri, self.run, self.time, self.text) = (id, uri, run, time, text)
  }

  /// Nil if the bytes are something else.
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let id = json["id"]?.stringValue.flatMap({ DocumentId($0) }),
      let run = json["run"]?.stringValue, run.utf8.count <= Self.maximumRunLength, run.allSatisfy(\.isHexDigit),
      let time = json["time"]?.intValue, (0...Self.maximumTime).contains(time),
      let text = json["text"]?.stringValue
    else { return nil }
    self.init(id: id, uri: json["uri"]?.stringValue ?? "", run: run, time: time, text: Array(text.utf8))
  }

  @concurrent
  static func parsed(_ bytes: [UInt8]) async -> UnsentText? { UnsentText(bytes) }

  /// The same file gives the same recovered text each time.
  var recovered: RecoveredText {
    RecoveredText(
      id: id, stamp: RecoveredText.Stamp(time: time, run: RunJournal.shortName(run)), reason: Self.reason, text: text)
  }
}
