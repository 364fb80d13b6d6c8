import Cryptography
import Foundation

/// Compares what a note's working file should contain with what it contains: everything that takes long for a large
/// text.
struct FileComparison: Sendable {
  /// The bytes that the file should contain.
  let bytes: [UInt8]
  /// The file's encoding and line ends.
  let shape: FileShape
  /// Whether the file already contains them.
  let isSame: Bool
  /// The delta from the file's text to the note's; nil if there is no file, or no difference.
  let step: TextDelta?
  let finalNewlineStep: TextDelta
  let wordCount: Int

  /// Longer texts are compared off the loop, which they would block for milliseconds.
  static let maximumBytesAtOnce = 32 << 10

  /// - Parameter known: the file's shape before, for a file that is missing, or breaks off in the middle of a line.
  /// - Complexity: O(n) in the texts, plus that of `TextDiff`.
  init(_ text: [UInt8], _ contents: FileContents?, orElse known: FileShape) {
    var shape = contents?.shape ?? known
    if let contents, shape.lacksFinalNewline, text.count > contents.text.count,
      text.starts(with: contents.text.dropLast())
    {
      shape.lacksFinalNewline = known.lacksFinalNewline
    }
    let file = FileContents(text: text, shape: shape)
    (bytes, self.shape, finalNewlineStep) = (file.bytes, file.shape, file.finalNewlineStep)
    isSame = contents.map { $0.bytes == file.bytes } ?? false
    step = isSame ? nil : contents.map { TextDiff.delta(from: $0.text, to: text) }
    wordCount = Words.count(text)
  }

  /// The same, off the loop if it takes long.
  static func of(_ text: [UInt8], _ contents: FileContents?, orElse shape: FileShape) async -> FileComparison {
    guard max(text.count, contents?.text.count ?? 0) >= Self.maximumBytesAtOnce else {
      return FileComparison(text, contents, orElse: shape)
    }
    return await offLoop(text, contents, shape)
  }

  @concurrent
  private static func offLoop(_ text: [UInt8], _ contents: FileContents?, _ shape: FileShape) async -> FileComparison {
    FileComparison(text, contents, orElse: shape)
  }
}

/// A large working file as this process has written it, to recognise it without comparing texts.
struct WrittenFile: Sendable {
  private let base: TextBase
  private let digest: Data

  /// - Complexity: O(n), off the loop.
  init(_ bytes: [UInt8], _ base: TextBase) async { (self.base, digest) = (base, await Self.digest(of: bytes)) }

  /// Whether a file still contains exactly that, and the note is still known to continue from there.
  func isStill(_ contents: FileContents, _ base: TextBase?, of note: NoteDocument) async -> Bool {
    guard base == self.base, base?.object == note.textObject else { return false }
    return await Self.digest(of: contents.bytes) == digest
  }

  @concurrent
  private static func digest(of bytes: [UInt8]) async -> Data { Data(SHA256.hash(data: bytes)) }
}

extension FileContents {
  /// Decodes a file's bytes, off the loop if that takes long.
  static func reading(_ bytes: [UInt8], known: FileShape? = nil) async throws -> FileContents {
    if bytes.count < FileComparison.maximumBytesAtOnce { return try FileContents(reading: bytes, known: known) }
    return try await offLoop(bytes, known)
  }

  @concurrent
  private static func offLoop(_ bytes: [UInt8], _ known: FileShape?) async throws -> FileContents {
    try FileContents(reading: bytes, known: known)
  }
}
