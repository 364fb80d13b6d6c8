/// One entry of a client's `contentChanges`.
enum ContentChange: Hashable, Sendable {
  /// Replaces a part of the text that results from the earlier changes of the batch.
  case replace(PositionRange, [UInt8])
  case fullText([UInt8])
  /// A `fullText` that has been compared with the client's earlier text.
  case difference(TextDelta)
}

extension ContentChange {
  /// Whether it replaces the whole text.
  var isWhole: Bool {
    switch self {
    case .fullText, .difference: true
    case .replace: false
    }
  }
}

/// Why a document's text changes, as `notes/edit` names it.
enum EditCause: String, Hashable, Sendable, Codable { case remote, undo, restore, reload }

/// The content of a `notes/edit`.
struct BufferEdit: Hashable, Sendable {
  struct Replacement: Hashable, Sendable {
    var range: PositionRange
    var newText: [UInt8]
  }

  /// The last client version that was known when the edit was made.
  var version: Int
  var rev: Int
  /// In the coordinates of the text before any of them, from left to right, not adjacent to one another.
  var edits: [Replacement]
  /// The text's UTF-8 length afterwards.
  var bytes: Int
  var cause: EditCause
}

/// A message that contradicts what the gate knows; `notes/resync` tells the client.
enum Contradiction: Hashable, Sendable {
  case version(Int, expected: Int)
  case rev(Int?, lastSent: Int)
  case range(PositionRange)

  /// One sentence for `notes/resync`.
  var reason: String {
    switch self {
    case .version(let version, let expected): "version \(version) came where \(expected) was due"
    case .rev(nil, _): "the change names no rev"
    case .rev(let rev?, let lastSent):
      "rev \(rev) is not one that could have been applied; the last one sent is \(lastSent)"
    case .range(let range):
      "a range ends before it starts (line \(range.start.line), character \(range.start.character))"
    }
  }
}

/// The outcome of a client's change.
enum ChangeOutcome: Hashable, Sendable {
  /// Splices to make in the document, in this order. Then `pendingEdit` returns what to send.
  case splices([TextSplice])
  /// Send `notes/resync`. Incremental changes are ignored until the full text arrives.
  case resync(Contradiction)
  /// The change is ignored, because the full text is awaited, or a later one is here already.
  case ignored
}
