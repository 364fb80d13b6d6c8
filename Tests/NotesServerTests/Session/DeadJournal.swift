import Synchronization

@testable import NotesServer

/// The journal of a killed process, until it is removed; this one has none.
final class DeadJournal: JournalAccess {
  private let bytes: Mutex<[UInt8]?>

  init(bytes: [UInt8]) { self.bytes = Mutex(bytes) }

  func append(_ bytes: [UInt8]) -> Int? { nil }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() {}
  func abandon() {}
  func read(_ run: String) async -> [UInt8]? { bytes.withLock(\.self) }
  func deadRuns() async -> [String] { bytes.withLock { $0 == nil } ? [] : ["aa"] }
  func livingRuns() async -> [String] { [] }
  func remove(_ run: String) async { bytes.withLock { $0 = nil } }
}
