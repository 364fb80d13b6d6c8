import Automerge
import AutomergeRepo
import JSONRPC

/// What a client shows of a file.
enum Buffer {
  /// Not a note, but it may be adopted as one.
  case plain(PlainBuffer)
  /// A note whose document is being fetched; further messages wait.
  case opening(Opening)
  case attached(BufferBinding)
}

/// Messages that arrived for a buffer before its document, in order.
struct Opening {
  /// The number of its `didOpen` in the session, since the same file may be opened again meanwhile.
  let number: Int
  let key: NoteKey
  let version: Int
  let text: [UInt8]
  var waiting: [@AutomergeRepo (BufferBinding) -> Void] = []
  /// The person or event that the document waits for, in words for the person; nil while it may come at any moment.
  var waitsFor: String?
  /// Whether the person was told that it takes long.
  var isSlow = false
  /// The client's text, kept up to date in case the document cannot be fetched.
  var plain: PlainBuffer
  /// Whether the buffer has outlived a service.
  let isReattached: Bool
  /// Whether the client has closed the buffer.
  var isClosed = false

  /// Whether the text may contain words that only this buffer has.
  var mayHaveNews: Bool { isReattached || plain.text != plain.opened }
}

/// An open buffer that is not a note: its text, so that it can become one.
struct PlainBuffer {
  var version: Int
  /// UTF-8.
  var text: [UInt8]
  /// What the client had at first, which is what the file contained then.
  let opened: [UInt8]
  /// For a buffer that was a note: the event that told the client so, which is sent again if the client treats the
  /// buffer as a note.
  var farewell: JSONValue?
  /// Whether it was attached to a note's document.
  var wasAttached = false

  init(version: Int, text: [UInt8], farewell: JSONValue? = nil) {
    (self.version, self.text, opened, self.farewell) = (version, text, text, farewell)
  }

  /// Applies a client's changes, one after the other. A full text that a later one has overtaken is dropped.
  mutating func apply(_ changes: [ContentChange], version: Int, in encoding: PositionEncoding) {
    if version < self.version, changes.contains(where: \.isWhole) { return }
    for change in changes {
      switch change {
      case .fullText(let new): text = new
      case .difference(let difference): text = difference.applied(to: text)
      case .replace(let range, let new):
        let source = PlainText(text)
        let start = source.utf8Offset(of: range.start, in: encoding)
        let end = max(start, source.utf8Offset(of: range.end, in: encoding))
        text.replaceSubrange(start..<end, with: new)
      }
    }
    self.version = version
  }
}

/// A buffer that becomes a plain file's, and the event that says so.
struct LeftBuffer {
  let uri: String
  let farewell: JSONValue
}
