import AutomergeRepo

/// The text of a note in which the editor's positions count: that of its own buffer, or the document's if the editor
/// does not have the note open.
@AutomergeRepo
struct ShownText {
  let source: DocumentText
  let binding: BufferBinding?
  private let encoding: PositionEncoding

  init(_ past: PastNote, _ editor: Editor) {
    source = DocumentText(past.note)
    binding = editor.buffers.binding(at: past.record.key, uri: past.uri)
    encoding = editor.client.encoding
  }

  /// A part of the text as offsets in the document; empty if it ends before it starts.
  func utf8Range(of range: PositionRange) -> Range<Int> {
    if let binding { return binding.documentRange(of: range) }
    let start = source.utf8Offset(of: range.start, in: encoding)
    return start..<max(start, source.utf8Offset(of: range.end, in: encoding))
  }

  /// - Parameter offset: in the document
  func position(of offset: Int) -> Position {
    binding?.clientPosition(ofDocument: offset) ?? source.position(utf8Offset: offset, in: encoding)
  }

  /// Whether a stretch of the text is within one line, with its end.
  func areOnOneLine(_ start: Int, _ end: Int) -> Bool {
    let (first, last) = (position(of: start), position(of: end))
    return first.line == last.line || (first.line + 1 == last.line && last.character == 0)
  }
}
