import Automerge

/// A text that can be measured in every unit without being copied, at a cost that does not grow with its length.
///
/// The document's text is one; a text seen through a `TextDelta` (`TextView`) is another.
protocol TextSource {
  var measure: TextMeasure { get }

  /// The measure of the text before an offset. Offsets are clamped to the text, and to the start of a scalar.
  func measure(utf8Offset: Int) -> TextMeasure
  func measure(scalarOffset: Int) -> TextMeasure
  func measure(utf16Offset: Int) -> TextMeasure

  /// The measure of the text before line `line`, counted from 0; nil if there are fewer lines.
  func measure(line: Int) -> TextMeasure?

  func utf8(_ range: Range<Int>) -> [UInt8]
}

/// The unit of an offset.
enum TextUnit: Hashable, Sendable { case utf8, scalars, utf16 }

extension TextMeasure {
  /// Measures UTF-8.
  /// - Complexity: O(n)
  init(of bytes: some Sequence<UInt8>) {
    self.init()
    for byte in bytes { add(byte) }
  }

  private mutating func add(_ byte: UInt8) {
    utf8 += 1
    guard !byte.continuesScalar else { return }
    scalars += 1
    utf16 += byte >= 0xF0 ? 2 : 1
    if byte == 0x0A { newlines += 1 }
  }

  /// The measure of the longest prefix of `bytes`, in whole scalars, that fits.
  init(of bytes: some Sequence<UInt8>, whileFits fits: (TextMeasure) -> Bool) {
    self.init()
    var next = TextMeasure()
    for byte in bytes {
      if !byte.continuesScalar {
        guard fits(next) else { return }
        self = next
      }
      next.add(byte)
    }
    if fits(next) { self = next }
  }

  subscript(unit: TextUnit) -> Int {
    switch unit {
    case .utf8: utf8
    case .scalars: scalars
    case .utf16: utf16
    }
  }

  static func + (a: TextMeasure, b: TextMeasure) -> TextMeasure {
    TextMeasure(
      utf8: a.utf8 + b.utf8, scalars: a.scalars + b.scalars, utf16: a.utf16 + b.utf16, newlines: a.newlines + b.newlines
    )
  }

  static func - (a: TextMeasure, b: TextMeasure) -> TextMeasure {
    TextMeasure(
      utf8: a.utf8 - b.utf8, scalars: a.scalars - b.scalars, utf16: a.utf16 - b.utf16, newlines: a.newlines - b.newlines
    )
  }
}

extension UInt8 {
  /// True inside a UTF-8 sequence, false at its start.
  var continuesScalar: Bool { self & 0xC0 == 0x80 }
}

extension TextSource {
  func measure(_ unit: TextUnit, offset: Int) -> TextMeasure {
    switch unit {
    case .utf8: measure(utf8Offset: offset)
    case .scalars: measure(scalarOffset: offset)
    case .utf16: measure(utf16Offset: offset)
    }
  }

  var allUTF8: [UInt8] { utf8(0..<measure.utf8) }
}
