import Automerge

/// A text seen through a delta: the result of applying it to `base`, without building it.
/// - Complexity: O(s · log n) to make for s segments of the delta; O(log s + log n) for each query
struct TextView<Base: TextSource>: TextSource {
  let base: Base
  let delta: TextDelta
  let measure: TextMeasure
  /// The ends of each segment, and of what follows the last, in the view and in the base.
  private let ends: [(view: TextMeasure, base: TextMeasure)]

  init(of base: Base, through delta: TextDelta) {
    (self.base, self.delta) = (base, delta)
    let whole = base.measure
    var (view, place) = (TextMeasure.zero, TextMeasure.zero)
    var ends: [(view: TextMeasure, base: TextMeasure)] = []
    ends.reserveCapacity(delta.segments.count + 1)
    for segment in delta.segments {
      switch segment {
      case .retain(let count):
        let end = base.measure(utf8Offset: min(whole.utf8, place.utf8 + count))
        view = view + (end - place)
        place = end
      case .insert(let piece): view = view + piece.measure
      case .delete(let piece): place = place + piece.measure
      }
      ends.append((view, place))
    }
    measure = view + (whole - place)
    ends.append((measure, whole))
    self.ends = ends
  }

  func measure(utf8Offset: Int) -> TextMeasure { measure(.utf8, upTo: utf8Offset) }
  func measure(scalarOffset: Int) -> TextMeasure { measure(.scalars, upTo: scalarOffset) }
  func measure(utf16Offset: Int) -> TextMeasure { measure(.utf16, upTo: utf16Offset) }

  func measure(line: Int) -> TextMeasure? {
    guard line > 0 else { return .zero }
    guard line <= measure.newlines else { return nil }
    let index = firstSegment { $0.newlines >= line }
    let start = start(of: index)
    switch segment(index) {
    case .insert(let piece): return start.view + piece.measure(throughNewline: line - start.view.newlines)
    case .retain, .delete:
      let found = base.measure(line: start.base.newlines + line - start.view.newlines) ?? ends[index].base
      return start.view + (found - start.base)
    }
  }

  func utf8(_ range: Range<Int>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    var index = firstSegment { $0.utf8 > range.lowerBound }
    while index < ends.count {
      let start = start(of: index)
      guard start.view.utf8 < range.upperBound else { break }
      let lower = max(0, range.lowerBound - start.view.utf8)
      let upper = min(ends[index].view.utf8, range.upperBound) - start.view.utf8
      if lower < upper {
        switch segment(index) {
        case .insert(let piece): bytes += piece.bytes[lower..<upper]
        case .retain, .delete: bytes += base.utf8(start.base.utf8 + lower..<start.base.utf8 + upper)
        }
      }
      index += 1
    }
    return bytes
  }

  private func measure(_ unit: TextUnit, upTo offset: Int) -> TextMeasure {
    guard offset > 0 else { return .zero }
    guard offset < measure[unit] else { return measure }
    let index = firstSegment { $0[unit] >= offset }
    let start = start(of: index)
    switch segment(index) {
    case .insert(let piece): return start.view + piece.measure(unit, offset: offset - start.view[unit])
    case .retain, .delete:
      let found = base.measure(unit, offset: start.base[unit] + offset - start.view[unit])
      return start.view + (found - start.base)
    }
  }

  private func segment(_ index: Int) -> TextDelta.Segment {
    index < delta.segments.count ? delta.segments[index] : .retain(.max)
  }

  private func start(of index: Int) -> (view: TextMeasure, base: TextMeasure) {
    index > 0 ? ends[index - 1] : (.zero, .zero)
  }

  /// The first segment whose end in the view satisfies a condition that all later ends satisfy, too; one past the last
  /// if there is none.
  private func firstSegment(where condition: (TextMeasure) -> Bool) -> Int {
    var (low, high) = (0, ends.count)
    while low < high {
      let middle = (low + high) / 2
      if condition(ends[middle].view) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
