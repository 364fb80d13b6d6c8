/// Joins the marks of a text, during a walk through it from left to right.
/// - Complexity: O(1) for each change of a mark, however many others are in force
struct MarkCollector {
  private struct Stretch {
    var start: Int
    var end: Int
    let value: RawValue
  }

  private var offset = 0
  /// How many visible stretches of the text are passed. Some have no length.
  private var passed = 0
  /// The marks in force: where they began, and what was passed then.
  private var begun: [MapKey: (value: RawValue, start: Int, passed: Int)] = [:]
  /// The last stretch of each name, which may go on.
  private var last: [MapKey: Stretch] = [:]
  private var done: [(name: MapKey, mark: Stretch)] = []

  mutating func skip(_ length: Int) {
    offset += length
    passed += 1
  }

  /// Sets the value of a name from here on; nil for none.
  mutating func set(_ name: MapKey, _ value: RawValue?) {
    if let mark = begun.removeValue(forKey: name) { end(name, mark) }
    begun[name] = value.map { ($0, offset, passed) }
  }

  private mutating func end(_ name: MapKey, _ mark: (value: RawValue, start: Int, passed: Int)) {
    guard passed > mark.passed else { return }
    var stretch = Stretch(start: mark.start, end: offset, value: mark.value)
    if let before = last[name] {
      if before.end == stretch.start, before.value == stretch.value {
        stretch.start = before.start
      } else {
        done.append((name, before))
      }
    }
    last[name] = stretch
  }

  mutating func finish() -> [Mark] {
    for (name, mark) in begun { end(name, mark) }
    done += last.map { ($0.key, $0.value) }
    done.sort { $0.name == $1.name ? $0.mark.start < $1.mark.start : $0.name < $1.name }
    return done.map { name, mark in
      Mark(start: UInt64(mark.start), end: UInt64(mark.end), name: name.string, value: mark.value.scalar)
    }
  }
}
