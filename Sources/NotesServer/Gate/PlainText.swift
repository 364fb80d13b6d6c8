import Automerge

/// UTF-8 bytes as a text that can be measured in every unit.
struct PlainText: TextSource, Sendable {
  /// How many bytes are walked to answer a query.
  private static let stretch = 1024

  let bytes: [UInt8]
  let measure: TextMeasure
  /// The measure before each stretch; each stretch begins with a scalar.
  private let marks: [TextMeasure]

  /// - Complexity: O(n)
  init(_ bytes: [UInt8]) {
    var marks = [TextMeasure.zero]
    var (start, next) = (0, Self.stretch)
    var measure = TextMeasure.zero
    while next < bytes.count {
      while next < bytes.count, bytes[next].continuesScalar { next += 1 }
      measure = measure + TextMeasure(of: bytes[start..<next])
      marks.append(measure)
      (start, next) = (next, next + Self.stretch)
    }
    self.measure = measure + TextMeasure(of: bytes[start...])
    (self.bytes, self.marks) = (bytes, marks)
  }

  func measure(utf8Offset: Int) -> TextMeasure { measure(.utf8, upTo: utf8Offset) }
  func measure(scalarOffset: Int) -> TextMeasure { measure(.scalars, upTo: scalarOffset) }
  func measure(utf16Offset: Int) -> TextMeasure { measure(.utf16, upTo: utf16Offset) }

  func measure(line: Int) -> TextMeasure? {
    guard line > 0 else { return .zero }
    guard line <= measure.newlines else { return nil }
    let mark = lastMark { $0.newlines < line }
    var missing = line - mark.newlines
    var end = mark.utf8
    while missing > 0, end < bytes.count {
      if bytes[end] == 0x0A { missing -= 1 }
      end += 1
    }
    return mark + TextMeasure(of: bytes[mark.utf8..<end])
  }

  func utf8(_ range: Range<Int>) -> [UInt8] { Array(bytes[range.clamped(to: 0..<bytes.count)]) }

  private func measure(_ unit: TextUnit, upTo offset: Int) -> TextMeasure {
    guard offset > 0 else { return .zero }
    guard offset < measure[unit] else { return measure }
    let mark = lastMark { $0[unit] <= offset }
    let stretch = Array(bytes[mark.utf8..<min(bytes.count, mark.utf8 + Self.stretch + 4)])
    return mark + TextMeasure(of: stretch) { mark[unit] + $0[unit] <= offset }
  }

  /// The last mark that satisfies a condition which all marks before it satisfy, too; the first one always does.
  private func lastMark(where condition: (TextMeasure) -> Bool) -> TextMeasure {
    var (low, high) = (0, marks.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if condition(marks[middle]) { low = middle } else { high = middle }
    }
    return marks[low]
  }
}
