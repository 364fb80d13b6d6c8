import AutomergeRepo
import JSONRPC

/// What the text of an opened buffer grew out of.
enum BufferOrigin {
  /// The working file's text.
  case file
  /// Nothing: the file is missing, and the buffer is empty.
  case missingFile
  /// Another text than the note's: the buffer was there before the note was, so both texts are kept.
  case unrelated
  /// Another text than the file's: what a client had whose buffer stayed when the note was put away, or what the file held
  /// once. So with a buffer that has outlived a service which left no trace of it.
  case stayed([TextBase])
  /// Exactly this text; for a meeting's item, as long as its text object is the same.
  case known(TextBase, object: String?)
  /// One of these.
  case oneOf([TextBase])

  /// Whether it is certainly the working file's text.
  var isFile: Bool {
    if case .file = self { true } else { false }
  }

  /// Whether the buffer may lack words that its person did not delete.
  var isDoubtful: Bool {
    switch self {
    case .stayed, .missingFile: true
    case .file, .unrelated, .known, .oneOf: false
    }
  }
}

/// The notifications about working files: what the editor writes, and what other programs do.
extension Session {
  func didSave(_ params: Parameters) throws {
    let uri = try params.object("textDocument").string("uri")
    whenAttached(uri) { $0.didSave() }
  }

  /// An editor has noticed that other programs wrote files. Only their paths are taken from it.
  func didChangeWatchedFiles(_ params: Parameters) throws {
    for change in try params.array("changes") {
      if let path = FileURI.path(uri: try change.string("uri")) { service.fileChanged(path) }
    }
  }

  /// An editor is about to write over a file that another program wrote, and says what it found there.
  func fileFound(_ params: Parameters) throws {
    let bytes = Array(try params.string("text").utf8)
    whenAttached(try params.string("uri")) { $0.file.found(bytes) }
  }

  /// Finds out where the text of a newly opened buffer comes from: the file, as a rule. A buffer that stayed while the note was
  /// put away, or is older than the file for another reason, lacks what others wrote meanwhile.
  ///
  /// - Parameter opened: what the client had before it changed the text; nil if unknown
  func origin(
    of text: [UInt8], at path: String, _ key: NoteKey, openedAs opened: [UInt8]? = nil
  ) async throws -> BufferOrigin {
    if let opened {
      // The file may not be there yet, and the note has a text already.
      guard let bytes = try await service.files.read(path) else { return .unrelated }
      return await Self.holds(bytes, opened) ? .file : .unrelated
    }
    let bytes = try await service.files.read(path)
    // An editor shows an empty buffer for a missing file: the person has not deleted the text.
    if bytes == nil, text.isEmpty { return .missingFile }
    if let bytes, await Self.holds(bytes, text) { return .file }
    let left = service.notebook[key]?.hasLeftBuffers == true ? try await service.notebook.leftBases(of: key) : []
    return .stayed(left)
  }

  @concurrent
  static func holds(_ file: [UInt8], _ text: [UInt8]) async -> Bool {
    (try? FileContents(reading: file))?.text(besides: text) == text
  }
}
