import Automerge

/// Some text and its measure, with marks in long texts, so that a look-up does not become slower with the length.
struct TextPiece: Hashable, Sendable {
  /// The distance between two marks in bytes, or a little more to avoid splitting a scalar.
  private static let stride = 256

  let bytes: [UInt8]
  let measure: TextMeasure
  /// The measures up to places inside the piece.
  private let marks: [TextMeasure]

  init(_ bytes: [UInt8]) {
    (self.bytes, (marks, measure)) = (bytes, TextPiece.marks(in: bytes, after: []))
  }

  private init(bytes: [UInt8], measure: TextMeasure, marks: [TextMeasure]) {
    (self.bytes, self.measure, self.marks) = (bytes, measure, marks)
  }

  /// - Parameter known: the first marks, if they are known
  private static func marks(
    in bytes: [UInt8], after known: [TextMeasure]
  ) -> (marks: [TextMeasure], whole: TextMeasure) {
    var (marks, place) = (known, known.last ?? .zero)
    while place.utf8 < bytes.count {
      var end = min(bytes.count, place.utf8 + stride)
      while end < bytes.count, bytes[end].continuesScalar { end += 1 }
      place = place + TextMeasure(of: bytes[place.utf8..<end])
      if end < bytes.count { marks.append(place) }
    }
    return (marks, place)
  }

  var count: Int { bytes.count }

  /// - Complexity: O(n) for copying the bytes, few of which are examined
  subscript(range: Range<Int>) -> TextPiece {
    if range == 0..<bytes.count { return self }
    let (lower, upper) = (measure(upToByte: range.lowerBound), measure(upToByte: range.upperBound))
    let inside = marks.drop { $0.utf8 <= range.lowerBound }.prefix { $0.utf8 < range.upperBound }
    return TextPiece(bytes: Array(bytes[range]), measure: upper - lower, marks: inside.map { $0 - lower })
  }

  private func measure(upToByte end: Int) -> TextMeasure {
    if end == bytes.count { return measure }
    let start = lastMark { $0.utf8 <= end }
    return start + TextMeasure(of: bytes[start.utf8..<end])
  }

  static func + (a: TextPiece, b: TextPiece) -> TextPiece {
    let bytes = a.bytes + b.bytes
    return TextPiece(
      bytes: bytes, measure: a.measure + b.measure, marks: TextPiece.marks(in: bytes, after: a.marks).marks)
  }

  static func == (a: TextPiece, b: TextPiece) -> Bool { a.bytes == b.bytes }

  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The measure of the part before an offset, clamped to the start of a scalar.
  /// - Complexity: O(log n)
  func measure(_ unit: TextUnit, offset: Int) -> TextMeasure {
    if offset >= measure[unit] { return measure }
    let start = lastMark { $0[unit] <= offset }
    return start + TextMeasure(of: bytes[start.utf8...]) { (start + $0)[unit] <= offset }
  }

  /// The measure up to and including the `count`-th line feed, which must exist.
  /// - Complexity: O(log n)
  func measure(throughNewline count: Int) -> TextMeasure {
    guard count > 0 else { return .zero }
    let start = lastMark { $0.newlines < count }
    var seen = start.newlines
    for index in bytes[start.utf8...].indices where bytes[index] == 0x0A {
      seen += 1
      if seen == count { return start + TextMeasure(of: bytes[start.utf8...index]) }
    }
    return measure
  }

  /// The last mark that satisfies a condition that all marks before it satisfy too; the start if there is none.
  private func lastMark(where condition: (TextMeasure) -> Bool) -> TextMeasure {
    var (low, high) = (0, marks.count)
    while low < high {
      let middle = (low + high) / 2
      if condition(marks[middle]) { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? .zero : marks[low - 1]
  }
}
