import Automerge

/// A note's text in the form that the gate needs. The text object is known to exist, so an error can only mean an empty
/// text.
struct DocumentText: TextSource {
  let document: Document
  let content: ObjId

  init(_ note: NoteDocument) { (document, content) = (note.document, note.content) }

  var measure: TextMeasure { (try? document.textMeasure(obj: content)) ?? .zero }

  func measure(utf8Offset: Int) -> TextMeasure {
    (try? document.textMeasure(obj: content, utf8Offset: utf8Offset)) ?? .zero
  }

  func measure(scalarOffset: Int) -> TextMeasure {
    (try? document.textMeasure(obj: content, scalarOffset: scalarOffset)) ?? .zero
  }

  func measure(utf16Offset: Int) -> TextMeasure {
    (try? document.textMeasure(obj: content, utf16Offset: utf16Offset)) ?? .zero
  }

  func measure(line: Int) -> TextMeasure? { (try? document.textMeasure(obj: content, line: line)) ?? nil }

  func utf8(_ range: Range<Int>) -> [UInt8] { (try? document.textUTF8(obj: content, range)) ?? [] }
}
