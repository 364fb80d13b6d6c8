/// How the server reaches the journals of this person's processes. What is appended survives the end of the process.
public protocol JournalAccess: Sendable {
  /// Appends to the journal of this process, at once and without waiting for the disk. Returns how many bytes the segment has
  /// now; nil if nothing was written.
  func append(_ bytes: [UInt8]) -> Int?
  /// Begins a new segment and returns its number; nil if there is none.
  func beginSegment() -> Int?
  /// Removes the segments of this process before the one with this number.
  func removeSegments(before number: Int)
  /// Removes the journal of this process.
  func end()
  /// What a process has written, all segments in a row; nil if it has no journal.
  func read(_ run: String) async -> [UInt8]?
  /// The processes that left a journal and live no more.
  func deadRuns() async -> [String]
  /// Removes the journal of a process that lives no more.
  func remove(_ run: String) async
}
