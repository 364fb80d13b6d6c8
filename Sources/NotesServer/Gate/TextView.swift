import Automerge

/// A text seen through a delta: what `base` becomes by it, without being made.
/// - Complexity: O(s · log n) a question, s the segments of the delta
struct TextView<Base: TextSource>: TextSource {
  let base: Base
  let delta: TextDelta
  let measure: TextMeasure

  init(of base: Base, through delta: TextDelta) {
    (self.base, self.delta) = (base, delta)
    var measure = base.measure
    for segment in delta.segments {
      switch segment {
      case .retain: break
      case .insert(let piece): measure = measure + piece.measure
      case .delete(let piece): measure = measure - piece.measure
      }
    }
    self.measure = measure
  }

  func measure(utf8Offset: Int) -> TextMeasure { measure(.utf8, upTo: utf8Offset) }
  func measure(scalarOffset: Int) -> TextMeasure { measure(.scalars, upTo: scalarOffset) }
  func measure(utf16Offset: Int) -> TextMeasure { measure(.utf16, upTo: utf16Offset) }

  func measure(line: Int) -> TextMeasure? {
    guard line > 0 else { return .zero }
    guard line <= measure.newlines else { return nil }
    var (place, baseStart) = (TextMeasure.zero, TextMeasure.zero)
    for part in parts {
      switch part {
      case .base(let end):
        let after = place + (end - baseStart)
        if after.newlines >= line {
          let found = base.measure(line: baseStart.newlines + line - place.newlines) ?? end
          return place + (found - baseStart)
        }
        (place, baseStart) = (after, end)
      case .inserted(let piece):
        let after = place + piece.measure
        if after.newlines >= line { return place + piece.measure(throughNewline: line - place.newlines) }
        place = after
      case .skipped(let measure): baseStart = baseStart + measure
      }
    }
    return nil
  }

  func utf8(_ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    var (place, baseStart) = (0, 0)
    for segment in segmentsWithTail {
      guard place < range.upperBound else { break }
      switch segment {
      case .retain(let count):
        let length = min(count, base.measure.utf8 - baseStart)
        let lower = max(0, range.lowerBound - place)
        let upper = min(length, range.upperBound - place)
        if lower < upper { bytes += base.utf8(baseStart + lower..<baseStart + upper) }
        place += length
        baseStart += length
      case .insert(let piece):
        let lower = max(0, range.lowerBound - place)
        let upper = min(piece.count, range.upperBound - place)
        if lower < upper { bytes += piece.bytes[lower..<upper] }
        place += piece.count
      case .delete(let piece): baseStart += piece.count
      }
    }
    return bytes
  }

  private func measure(_ unit: TextUnit, upTo offset: Int) -> TextMeasure {
    guard offset > 0 else { return .zero }
    guard offset < measure[unit] else { return measure }
    var (place, baseStart) = (TextMeasure.zero, TextMeasure.zero)
    for part in parts {
      switch part {
      case .base(let end):
        let after = place + (end - baseStart)
        if after[unit] >= offset {
          let found = base.measure(unit, offset: baseStart[unit] + offset - place[unit])
          return place + (found - baseStart)
        }
        (place, baseStart) = (after, end)
      case .inserted(let piece):
        let after = place + piece.measure
        if after[unit] >= offset { return place + piece.measure(unit, offset: offset - place[unit]) }
        place = after
      case .skipped(let measure): baseStart = baseStart + measure
      }
    }
    return measure
  }

  private var segmentsWithTail: [TextDelta.Segment] { delta.segments + [.retain(base.measure.utf8)] }

  private enum Part {
    /// Text of the base, up to this place in the base.
    case base(end: TextMeasure)
    case inserted(TextPiece)
    /// Text of the base that is not in the view.
    case skipped(TextMeasure)
  }

  /// The view from left to right; the base is asked only for as many parts as are looked at.
  private var parts: some Sequence<Part> {
    var baseOffset = 0
    return segmentsWithTail.lazy.map { segment in
      switch segment {
      case .retain(let count):
        baseOffset = min(base.measure.utf8, baseOffset + count)
        return .base(end: base.measure(utf8Offset: baseOffset))
      case .insert(let piece): return .inserted(piece)
      case .delete(let piece):
        baseOffset += piece.count
        return .skipped(piece.measure)
      }
    }
  }
}
