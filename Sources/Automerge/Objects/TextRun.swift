/// A stretch of a sequence that one writer inserted from front to back, and that is deleted as a whole or not at all.
///
/// Element `k` has the id `id + k`; the first one was inserted after `origin`, each later one after its predecessor. An
/// element that does not fit this (another value than a one-scalar string, a mark, an update, a second successor) is a
/// run of length one with `isIrregular`, and `text` is then its index in the tree's `slots`.
struct TextRun: BitwiseCopyable, Equatable {
  var id: OpId
  var origin: OpId
  /// The operation that deleted the first element; zero while the run is visible.
  var deletion = OpId.zero
  var text: UInt32
  var count: UInt16
  var utf8: UInt16
  var utf16: UInt16
  var newlines: UInt16
  /// Element `k` was deleted by `deletion + k * step`; 1 or -1, and 0 if there is only one element.
  var step: Int8 = 0
  var isIrregular = false

  /// Longer text is divided into several runs, so that splitting one stays cheap.
  static let maximumByteCount = 1024

  init(id: OpId, origin: OpId, text: Int, measure: TextMeasure) {
    self.id = id
    self.origin = origin
    self.text = UInt32(text)
    count = UInt16(measure.scalars)
    utf8 = UInt16(measure.utf8)
    utf16 = UInt16(measure.utf16)
    newlines = UInt16(measure.newlines)
  }

  init(irregular id: OpId, origin: OpId, slot: Int) {
    self.init(id: id, origin: origin, text: slot, measure: TextMeasure(scalars: 1))
    isIrregular = true
  }

  @inline(__always) var isVisible: Bool { deletion.isZero }
  var isASCII: Bool { utf8 == count }
  var lastId: OpId { id.advanced(by: Int(count) - 1) }
  var textStart: Int { Int(text) }
  var textEnd: Int { Int(text) + Int(utf8) }

  @inline(__always)
  func contains(_ element: OpId) -> Bool {
    element.actor == id.actor && element.counter >= id.counter && element.counter - id.counter < UInt32(count)
  }

  func deletion(of element: Int) -> OpId {
    deletion.isZero ? .zero : deletion.advanced(by: element * Int(step))
  }

  /// The measure of the text, whether it is visible or not.
  var measure: TextMeasure {
    TextMeasure(utf8: Int(utf8), scalars: Int(count), utf16: Int(utf16), newlines: Int(newlines))
  }

  /// Whether `next`, directly after this run, continues it in every respect.
  func canMerge(_ next: TextRun) -> Bool {
    guard !isIrregular, !next.isIrregular, next.id.actor == id.actor, next.id.counter == id.counter + UInt32(count),
      next.origin == lastId, Int(next.text) == textEnd, Int(utf8) + Int(next.utf8) <= Self.maximumByteCount
    else { return false }
    return joinedStep(next) != nil
  }

  /// The step of the joined deletion; nil if there is no single one.
  private func joinedStep(_ next: TextRun) -> Int8? {
    if deletion.isZero || next.deletion.isZero { return deletion.isZero && next.deletion.isZero ? 0 : nil }
    guard deletion.actor == next.deletion.actor else { return nil }
    let last = Int64(deletion.counter) + Int64(step) * Int64(count - 1)
    let difference = Int64(next.deletion.counter) - last
    guard difference == 1 || difference == -1 else { return nil }
    let joined = Int8(difference)
    return (count == 1 || step == joined) && (next.count == 1 || next.step == joined) ? joined : nil
  }

  /// Appends `next`, for which `canMerge` must be true.
  mutating func merge(_ next: TextRun) {
    step = joinedStep(next) ?? 0
    count += next.count
    utf8 += next.utf8
    utf16 += next.utf16
    newlines += next.newlines
  }

  /// Splits the run after `element` elements, 0 < element < count, and returns the second part.
  mutating func split(at element: Int, bytes: TextBytes) -> TextRun {
    var first = TextMeasure(utf8: element, scalars: element, utf16: element)
    if !isASCII || newlines > 0 {
      let end = isASCII ? textStart + element : bytes.advance(textStart, scalars: element)
      first = bytes.measure(textStart..<end)
    }
    let rest = TextMeasure(
      utf8: Int(utf8) - first.utf8, scalars: Int(count) - element, utf16: Int(utf16) - first.utf16,
      newlines: Int(newlines) - first.newlines)
    var second = TextRun(
      id: id.advanced(by: element), origin: id.advanced(by: element - 1), text: textStart + first.utf8, measure: rest)
    second.deletion = deletion(of: element)
    second.step = second.count > 1 ? step : 0
    count = UInt16(element)
    utf8 = UInt16(first.utf8)
    utf16 = UInt16(first.utf16)
    newlines = UInt16(first.newlines)
    if count == 1 { step = 0 }
    return second
  }
}
