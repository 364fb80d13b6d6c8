/// What the text of an opened buffer grew out of.
enum BufferOrigin {
  /// The working file's text.
  case file
  /// Nothing: the file is missing, and the buffer is empty.
  case missingFile
  /// Another text than the note's: the buffer existed before the note did, so both texts are kept.
  case unrelated
  /// Not the file's text, but what a client had whose buffer stayed when the note was deleted, or what the file held
  /// once. Also for a buffer that has outlived a service, if that service left no trace of it.
  case stayed([TextBase])
  /// Exactly this text; for a meeting's item, as long as its text object is the same.
  case known(TextBase, object: String?)
  /// One of these.
  case oneOf([TextBase])

  /// Whether it is certainly the working file's text.
  var isFile: Bool {
    if case .file = self { true } else { false }
  }

  /// Whether another process of this person may have merged it from the file.
  var mayBeKnownElsewhere: Bool {
    switch self {
    case .file, .stayed: true
    case .missingFile, .unrelated, .known, .oneOf: false
    }
  }

  /// Whether the person at the buffer typed the new text in it.
  var isTyped: Bool {
    switch self {
    case .stayed, .known, .oneOf: true
    case .file, .missingFile, .unrelated: false
    }
  }

  /// Whether the buffer may lack words that its person did not delete.
  var isDoubtful: Bool {
    switch self {
    case .stayed, .missingFile: true
    case .file, .unrelated, .known, .oneOf: false
    }
  }
}

/// What the editor of a buffer that has outlived services knows about them.
struct Reattachment {
  /// The name of the last one.
  var run: String?
  /// What the client remembers of each, the last one first.
  var memories: [KilledJournals.Memory] = []
  /// The text that the client opened first, if no service has confirmed having it.
  var opened: [UInt8]?

  /// Whether the client has read the file since the last service: what it had of that one does not count.
  var isReread: Bool { run == nil && memories.isEmpty && opened != nil }
}

extension FileContents {
  /// Whether an editor shows a file with these bytes as this text.
  @concurrent
  static func holds(_ file: [UInt8], _ text: [UInt8]) async -> Bool {
    (try? FileContents(reading: file))?.text(besides: text) == text
  }
}
