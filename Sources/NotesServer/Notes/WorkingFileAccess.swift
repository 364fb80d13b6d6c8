import Foundation

/// Gives the service access to the notes' text files, off the loop.
public protocol WorkingFileAccess: Sendable {
  /// Nil if there is no such file.
  func read(_ path: String) async throws(WorkingFileError) -> [UInt8]?
  /// The same with the mark that identifies this version of the file; reads nothing if the file still has `mark`.
  func look(_ path: String, since mark: FileMark?) async throws(WorkingFileError) -> FileSight
  /// Creates a file and its folders. Changes nothing and returns false if the file exists.
  func create(_ path: String, _ bytes: [UInt8]) async throws(WorkingFileError) -> Bool
  /// Atomically replaces a file that contains `expected`, or creates it if that is nil.
  ///
  /// - Returns: the file's previous content if it was not `expected`: another program wrote it a moment ago, and it
  ///   must be merged. Until `makeDurable`, a power failure may bring that content back
  func replace(_ path: String, _ bytes: [UInt8], of expected: [UInt8]?) async throws(WorkingFileError) -> [UInt8]?
  /// Makes durable what `replace` has written. Call it when what another program had written is stored.
  func makeDurable(_ path: String) async
  /// Writes a file beside the path and renames it; creates its folders. Does not follow a symbolic link at the path. Changes
  /// nothing and returns false if the path exists, unless `replacing`.
  func write(_ path: String, _ bytes: [UInt8], replacing: Bool) async throws(WorkingFileError) -> Bool
  /// The names in a folder, in no particular order; nil if there is no such folder.
  func names(in folder: String) async throws(WorkingFileError) -> [String]?
  /// Renames a file, also into another folder. Changes nothing and returns false if the new name is taken.
  func move(_ path: String, to target: String) async throws(WorkingFileError) -> Bool
  /// Renames a folder. Changes nothing and returns false if the new name is taken; does nothing if there is no such folder.
  func moveFolder(_ path: String, to target: String) async throws(WorkingFileError) -> Bool
  /// Does nothing if there is no such file.
  func remove(_ path: String) async throws(WorkingFileError)
  /// Removes a file that contains `expected`.
  ///
  /// - Returns: the file's content if it is not `expected`: another program wrote it a moment ago, and it must be kept
  func remove(_ path: String, of expected: [UInt8]) async throws(WorkingFileError) -> [UInt8]?
  /// The lock of a note's working file, held until the result is released, or the process ends. Processes that have the note
  /// open share it; one that reads or writes the file by itself holds it exclusively. Nil if another process's lock forbids it.
  /// Does not wait.
  func claim(_ name: String, exclusively: Bool) -> (any NoteClaim)?
}

/// Identifies a version of a file without reading it.
public struct FileMark: Hashable, Sendable {
  public var inode: UInt64
  public var byteCount: Int
  /// Modification time, since 1970.
  public var nanoseconds: Int

  public init(inode: UInt64, byteCount: Int, nanoseconds: Int) {
    (self.inode, self.byteCount, self.nanoseconds) = (inode, byteCount, nanoseconds)
  }

  /// A file may be unfinished for this long after a write: programs write in several steps.
  private static let quietTime: TimeInterval = 0.2
  /// The same for an empty file. Most programs that do not replace a file empty it first, and on a busy machine seconds pass before
  /// they write.
  private static let emptyTime: TimeInterval = 10
  private static let clockTolerance: TimeInterval = 2
  /// A file that was read sooner than this after a write may be written again without a new mark.
  private static let granularity: TimeInterval = 0.05

  /// Whether a change of the file from this time on would give it another mark.
  func isSteady(on date: Date) -> Bool { date.timeIntervalSince1970 - Double(nanoseconds) / 1e9 > Self.granularity }

  /// How long, in seconds, until the file's content counts as complete; nil if it did when the file was read.
  ///
  /// - Parameter dates: the times before and after reading it. It may have been written in between.
  func timeUntilSettled(readFrom dates: ClosedRange<Date>) -> TimeInterval? {
    let written = Double(nanoseconds) / 1e9
    let time = byteCount == 0 ? Self.emptyTime : Self.quietTime
    let rest = time - (dates.lowerBound.timeIntervalSince1970 - written)
    // The clock of another machine, such as a file server, may be ahead of ours.
    let isAhead = written - dates.upperBound.timeIntervalSince1970 > Self.clockTolerance
    return rest > 0 && !isAhead ? min(rest, max(time, Self.clockTolerance)) : nil
  }
}

/// The result of looking at a file.
public enum FileSight: Hashable, Sendable {
  case missing
  /// The file still has the given mark.
  case unchanged
  case found([UInt8], FileMark)
}

/// A lock that lasts as long as the object.
public protocol NoteClaim: AnyObject, Sendable {}

public enum WorkingFileError: Error, Hashable, Sendable {
  case tooLarge(String)
  case notAFile(String)
  case failed(String, reason: String)

  /// Whether the disk, or this user's quota, is full.
  var isDiskFull: Bool {
    guard case .failed(_, let reason) = self else { return false }
    return [ENOSPC, EDQUOT].contains { reason.hasSuffix(String(cString: strerror($0))) }
  }
}

extension WorkingFileError: CustomStringConvertible {
  /// One clause for the log, which people read in their editors.
  public var description: String {
    switch self {
    case .tooLarge(let path): "\(path) is too large for a note"
    case .notAFile(let path): "\(path) is not a file"
    case .failed(let path, let reason): "\(path): \(reason)"
    }
  }
}
