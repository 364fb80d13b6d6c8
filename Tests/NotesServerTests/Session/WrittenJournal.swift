import Synchronization

@testable import NotesServer

/// The journal of this process, writing by writing.
final class WrittenJournal: JournalAccess {
  private let all = Mutex<[[UInt8]]>([])
  private let full = Mutex(false)
  private let ended = Mutex(false)

  var writings: [[UInt8]] { all.withLock(\.self) }
  /// The whole content of the journal.
  var content: JournalContent { JournalContent(JournalFrame.all(in: writings.flatMap(\.self))) }

  var isFull: Bool {
    get { full.withLock(\.self) }
    set { full.withLock { $0 = newValue } }
  }

  /// Whether it was removed.
  var hasEnded: Bool { ended.withLock(\.self) }

  func append(_ bytes: [UInt8]) -> Int? {
    guard !isFull else { return nil }
    all.withLock { $0.append(bytes) }
    return bytes.count
  }

  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() { ended.withLock { $0 = true } }
  func abandon() {}
  func read(_ run: String) async -> [UInt8]? { nil }
  func deadRuns() async -> [String] { [] }
  func livingRuns() async -> [String] { [] }
  func remove(_ run: String) async {}
}
