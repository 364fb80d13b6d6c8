/// How the server reaches the notes' text files. Carried out off the loop.
public protocol WorkingFileAccess: Sendable {
  /// Nil if there is no such file.
  func read(_ path: String) async throws(WorkingFileError) -> [UInt8]?
  /// Makes a new file and its folders. Touches nothing and returns false if there is one already.
  func create(_ path: String, _ bytes: [UInt8]) async throws(WorkingFileError) -> Bool
  /// Replaces a file in one step, or makes it.
  func replace(_ path: String, _ bytes: [UInt8]) async throws(WorkingFileError)
}

public enum WorkingFileError: Error, Hashable, Sendable {
  case tooLarge(String)
  case notAFile(String)
  case failed(String, reason: String)
}
