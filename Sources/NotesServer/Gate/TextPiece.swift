import Automerge

/// Some text and its measure.
struct TextPiece: Hashable, Sendable {
  let bytes: [UInt8]
  let measure: TextMeasure

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    measure = TextMeasure(of: bytes)
  }

  private init(bytes: [UInt8], measure: TextMeasure) {
    self.bytes = bytes
    self.measure = measure
  }

  var count: Int { bytes.count }

  subscript(range: Range<Int>) -> TextPiece {
    range == 0..<bytes.count ? self : TextPiece(Array(bytes[range]))
  }

  static func + (a: TextPiece, b: TextPiece) -> TextPiece {
    TextPiece(bytes: a.bytes + b.bytes, measure: a.measure + b.measure)
  }

  /// The measure of the part before an offset, clamped to the start of a scalar.
  func measure(_ unit: TextUnit, offset: Int) -> TextMeasure {
    offset >= measure[unit] ? measure : TextMeasure(of: bytes) { $0[unit] <= offset }
  }

  /// The measure up to and with the `count`-th line feed, which must be there.
  func measure(throughNewline count: Int) -> TextMeasure {
    guard count > 0 else { return .zero }
    var seen = 0
    for (index, byte) in bytes.enumerated() where byte == 0x0A {
      seen += 1
      if seen == count { return TextMeasure(of: bytes[...index]) }
    }
    return measure
  }
}
