/// Gives the service access to the journals of this person's processes. What is appended survives the end of the
/// process.
public protocol JournalAccess: Sendable {
  /// Appends to the journal of this process, at once and without waiting for the disk. Returns the segment's size in bytes; nil
  /// if nothing was written.
  func append(_ bytes: [UInt8]) -> Int?
  /// Begins a new segment and returns its number; nil on failure.
  func beginSegment() -> Int?
  /// Removes the segments of this process before the one with this number.
  func removeSegments(before number: Int)
  /// Removes the journal of this process.
  func end()
  /// Leaves the journal of this process to be read as a dead one's; the next `append` begins a new one.
  func abandon()
  /// What a process has written, all segments concatenated; nil if it has no journal.
  ///
  /// - Throws: if a part of it cannot be read
  func read(_ run: String) async throws -> [UInt8]?
  /// The dead processes that left a journal.
  func deadRuns() async -> [String]
  /// The other processes that have a journal and are alive, or about to have ended.
  func livingRuns() async -> [String]
  /// Removes the journal of a dead process.
  func remove(_ run: String) async
}

/// Journals that are read and not changed.
struct UntouchedJournals: JournalAccess {
  let base: any JournalAccess

  func append(_ bytes: [UInt8]) -> Int? { nil }
  func beginSegment() -> Int? { nil }
  func removeSegments(before number: Int) {}
  func end() {}
  func abandon() {}
  func read(_ run: String) async throws -> [UInt8]? { try await base.read(run) }
  func deadRuns() async -> [String] { await base.deadRuns() }
  func livingRuns() async -> [String] { await base.livingRuns() }
  func remove(_ run: String) async {}
}
