import Foundation

/// How the server reaches the notes' text files. Carried out off the loop.
public protocol WorkingFileAccess: Sendable {
  /// Nil if there is no such file.
  func read(_ path: String) async throws(WorkingFileError) -> [UInt8]?
  /// The same with the mark by which it is known again; nothing is read of a file that still has `mark`.
  func look(_ path: String, since mark: FileMark?) async throws(WorkingFileError) -> FileSight
  /// Makes a new file and its folders. Touches nothing and returns false if there is one already.
  func create(_ path: String, _ bytes: [UInt8]) async throws(WorkingFileError) -> Bool
  /// Replaces a file that holds `expected`, or makes it if that is nil, in one step.
  ///
  /// - Returns: what was there, if it was something else: another program wrote it a moment ago, and it is to be merged.
  func replace(_ path: String, _ bytes: [UInt8], of expected: [UInt8]?) async throws(WorkingFileError) -> [UInt8]?
  /// Writes a file beside its place and puts it there in one step; makes its folders. A symbolic link in its place is not
  /// followed. Touches nothing and returns false if there is something of that name, unless `replacing`.
  func write(_ path: String, _ bytes: [UInt8], replacing: Bool) async throws(WorkingFileError) -> Bool
  /// The names in a folder, in no particular order; nil if there is no such folder.
  func names(in folder: String) async throws(WorkingFileError) -> [String]?
  /// Gives a file another name in the same or another folder. Touches nothing and returns false if that name is taken.
  func move(_ path: String, to target: String) async throws(WorkingFileError) -> Bool
  /// Gives a folder another name. Touches nothing and returns false if that name is taken; does nothing if there is no such
  /// folder.
  func moveFolder(_ path: String, to target: String) async throws(WorkingFileError) -> Bool
  /// Does nothing if there is no such file.
  func remove(_ path: String) async throws(WorkingFileError)
  /// The right to a note's working file, held until the result is let go, or the process ends. Those who have the note
  /// open share it; who reads or writes the file by itself has it alone. Nil while others do not allow that. Takes no time.
  func claim(_ name: String, exclusively: Bool) -> (any NoteClaim)?
}

/// By what a file is known again without reading it.
public struct FileMark: Hashable, Sendable {
  public var inode: UInt64
  public var byteCount: Int
  /// Of the last change of the content, since 1970.
  public var nanoseconds: Int

  public init(inode: UInt64, byteCount: Int, nanoseconds: Int) {
    (self.inode, self.byteCount, self.nanoseconds) = (inode, byteCount, nanoseconds)
  }

  /// How long after it was written a file may be unfinished: programs write in several steps.
  private static let quietTime: TimeInterval = 0.2
  /// The same of an empty one. Most programs that do not replace a file empty it first.
  private static let emptyTime: TimeInterval = 2

  /// How long it is, in seconds, before what the file holds is what its writer meant; nil if it is so now.
  func timeUntilSettled(at date: Date) -> TimeInterval? {
    let age = date.timeIntervalSince1970 - Double(nanoseconds) / 1e9
    let rest = (byteCount == 0 ? Self.emptyTime : Self.quietTime) - age
    // A clock of another machine may be ahead of ours.
    return rest > 0 && age >= -Self.emptyTime ? min(rest, Self.emptyTime) : nil
  }
}

/// What looking at a file comes to.
public enum FileSight: Hashable, Sendable {
  case missing
  /// It still has the mark that was given.
  case unchanged
  case found([UInt8], FileMark)
}

/// A right that lasts as long as the object.
public protocol NoteClaim: AnyObject, Sendable {}

public enum WorkingFileError: Error, Hashable, Sendable {
  case tooLarge(String)
  case notAFile(String)
  case failed(String, reason: String)
}
