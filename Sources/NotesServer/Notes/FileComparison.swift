/// What a note's working file is to hold, compared with what it holds: all that takes long for a large text.
struct FileComparison: Sendable {
  /// What is to stand in the file.
  let bytes: [UInt8]
  /// What the file has besides the text.
  let shape: FileShape
  /// Whether the file holds that already.
  let isSame: Bool
  /// From the text that the file holds to the note's; nil if there is no file, or nothing to be done.
  let step: TextDelta?
  let finalNewlineStep: TextDelta
  let wordCount: Int

  /// - Complexity: O(n) in the texts, and what `TextDiff` takes.
  init(_ text: [UInt8], _ contents: FileContents?, orElse shape: FileShape) {
    let file = FileContents(text: text, shape: contents?.shape ?? shape)
    (bytes, self.shape, finalNewlineStep) = (file.bytes, file.shape, file.finalNewlineStep)
    isSame = contents.map { $0.bytes == file.bytes } ?? false
    step = isSame ? nil : contents.map { TextDiff.delta(from: $0.text, to: text) }
    wordCount = Words.count(text)
  }

  /// The same, off the loop if it takes long.
  static func of(_ text: [UInt8], _ contents: FileContents?, orElse shape: FileShape) async -> FileComparison {
    guard max(text.count, contents?.text.count ?? 0) >= Session.largestComparedAtOnce else {
      return FileComparison(text, contents, orElse: shape)
    }
    return await offLoop(text, contents, shape)
  }

  @concurrent
  private static func offLoop(_ text: [UInt8], _ contents: FileContents?, _ shape: FileShape) async -> FileComparison {
    FileComparison(text, contents, orElse: shape)
  }
}

extension FileContents {
  /// Takes a file's bytes apart, off the loop if that takes long.
  static func reading(_ bytes: [UInt8]) async throws -> FileContents {
    bytes.count < Session.largestComparedAtOnce ? try FileContents(reading: bytes) : try await offLoop(bytes)
  }

  @concurrent
  private static func offLoop(_ bytes: [UInt8]) async throws -> FileContents { try FileContents(reading: bytes) }
}
