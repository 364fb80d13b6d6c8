/// What a part of a sequence shows: its text in every unit, and its visible elements. The numbers fit because a
/// document's text is limited (`TextBytes.limit`).
struct TextSums: Equatable {
  var utf8: Int32 = 0
  var scalars: Int32 = 0
  var utf16: Int32 = 0
  var newlines: Int32 = 0
  var elements: Int32 = 0
  /// Grapheme clusters, counted for each element separately, even if they would combine in the text.
  var graphemes: Int32 = 0

  static let zero = TextSums()

  init() {}

  init(_ measure: TextMeasure, elements: Int) {
    utf8 = Int32(truncatingIfNeeded: measure.utf8)
    scalars = Int32(truncatingIfNeeded: measure.scalars)
    utf16 = Int32(truncatingIfNeeded: measure.utf16)
    newlines = Int32(truncatingIfNeeded: measure.newlines)
    self.elements = Int32(truncatingIfNeeded: elements)
    graphemes = self.elements
  }

  /// Adds what a plain, visible run shows.
  @inline(__always)
  mutating func add(_ run: UnsafePointer<TextRun>) {
    utf8 &+= Int32(run.pointee.utf8)
    scalars &+= Int32(run.pointee.count)
    utf16 &+= Int32(run.pointee.utf16)
    newlines &+= Int32(run.pointee.newlines)
    elements &+= Int32(run.pointee.count)
    graphemes &+= Int32(run.pointee.count)
  }

  /// Subtracts what a plain, visible run shows.
  @inline(__always)
  mutating func remove(_ run: UnsafePointer<TextRun>) {
    utf8 &-= Int32(run.pointee.utf8)
    scalars &-= Int32(run.pointee.count)
    utf16 &-= Int32(run.pointee.utf16)
    newlines &-= Int32(run.pointee.newlines)
    elements &-= Int32(run.pointee.count)
    graphemes &-= Int32(run.pointee.count)
  }

  var measure: TextMeasure {
    TextMeasure(utf8: Int(utf8), scalars: Int(scalars), utf16: Int(utf16), newlines: Int(newlines))
  }

  @inline(__always)
  subscript(unit: TextUnit) -> Int {
    switch unit {
    case .utf8: Int(utf8)
    case .scalars: Int(scalars)
    case .utf16: Int(utf16)
    case .newlines: Int(newlines)
    case .elements: Int(elements)
    case .graphemes: Int(graphemes)
    }
  }

  static func += (left: inout TextSums, right: TextSums) {
    left.utf8 &+= right.utf8
    left.scalars &+= right.scalars
    left.utf16 &+= right.utf16
    left.newlines &+= right.newlines
    left.elements &+= right.elements
    left.graphemes &+= right.graphemes
  }

  static func -= (left: inout TextSums, right: TextSums) {
    left.utf8 &-= right.utf8
    left.scalars &-= right.scalars
    left.utf16 &-= right.utf16
    left.newlines &-= right.newlines
    left.elements &-= right.elements
    left.graphemes &-= right.graphemes
  }

  static func + (left: TextSums, right: TextSums) -> TextSums {
    var sum = left
    sum += right
    return sum
  }

  static func - (left: TextSums, right: TextSums) -> TextSums {
    var difference = left
    difference -= right
    return difference
  }
}

/// The units that positions in a sequence are counted in.
enum TextUnit { case utf8, scalars, utf16, newlines, elements, graphemes }
