import Automerge
import TestSupport

@testable import NotesServer

/// A text in an array, which answers every question by counting.
struct ArrayText: TextSource {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }
  init(_ string: String) { bytes = Array(string.utf8) }

  var string: String { String(decoding: bytes, as: UTF8.self) }
  var measure: TextMeasure { TextMeasure(of: bytes) }

  func measure(utf8Offset: Int) -> TextMeasure { TextMeasure(of: bytes) { $0.utf8 <= utf8Offset } }
  func measure(scalarOffset: Int) -> TextMeasure { TextMeasure(of: bytes) { $0.scalars <= scalarOffset } }
  func measure(utf16Offset: Int) -> TextMeasure { TextMeasure(of: bytes) { $0.utf16 <= utf16Offset } }

  func measure(line: Int) -> TextMeasure? {
    if line == 0 { return .zero }
    var (place, seen) = (0, 0)
    for byte in bytes {
      place += 1
      if byte == 0x0A { seen += 1 }
      if seen == line { return measure(utf8Offset: place) }
    }
    return nil
  }

  func utf8(_ range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

  /// Makes the replacements, one after the other, and returns the edits. Inserted text comes before the deleted text,
  /// so a replacement that begins where the last one ends is one edit with it.
  @discardableResult
  mutating func make(_ splices: [TextSplice]) -> [TextEdit] {
    var edits: [TextEdit] = []
    for splice in splices {
      let range = splice.utf8Offset..<splice.utf8Offset + splice.deleteUTF8
      let deleted = Array(bytes[range])
      bytes.replaceSubrange(range, with: splice.insert)
      if let last = edits.last, last.utf8Offset + last.inserted.count == splice.utf8Offset {
        edits[edits.count - 1].deleted += deleted
        edits[edits.count - 1].inserted += splice.insert
      } else {
        edits.append(
          TextEdit(object: .ROOT, utf8Offset: splice.utf8Offset, deleted: deleted, inserted: splice.insert))
      }
    }
    return edits
  }
}

/// Makes awkward texts: scalars of several lengths in every encoding, combining marks, empty lines, repetitions.
enum RandomText {
  static let scalars = ["a", "b", " ", "\n", "é", "e\u{301}", "中", "𝄞", "👨‍👩‍👧", "\r", "\u{10FFFF}", "ß"]

  static func make(upTo count: Int, using generator: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...count, using: &generator)).map { _ in
      scalars[Int.random(in: 0..<scalars.count, using: &generator)]
    }.joined()
  }

  /// An offset at the start of a scalar, or the end.
  static func offset(in bytes: [UInt8], using generator: inout SeededGenerator) -> Int {
    var offset = Int.random(in: 0...bytes.count, using: &generator)
    while offset < bytes.count, bytes[offset].continuesScalar { offset -= 1 }
    return offset
  }

  /// A range between two such offsets, usually a short one.
  static func range(in bytes: [UInt8], using generator: inout SeededGenerator) -> Range<Int> {
    let (a, b) = (offset(in: bytes, using: &generator), offset(in: bytes, using: &generator))
    if Bool.random(using: &generator) { return min(a, b)..<max(a, b) }
    var end = min(bytes.count, a + 5)
    while end < bytes.count, bytes[end].continuesScalar { end -= 1 }
    return a..<max(a, end)
  }

  /// A delta of several replacements in `text`.
  static func delta(of text: [UInt8], using generator: inout SeededGenerator) -> TextDelta {
    var text = text
    var delta = TextDelta.identity
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      let range = range(in: text, using: &generator)
      let inserted = Array(make(upTo: 4, using: &generator).utf8)
      delta = delta.composed(
        with: TextDelta(utf8Offset: range.lowerBound, deleted: Array(text[range]), inserted: inserted))
      text.replaceSubrange(range, with: inserted)
    }
    return delta
  }
}
