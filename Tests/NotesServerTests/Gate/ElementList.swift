/// A text as a CRDT: every element ever inserted, the deleted ones as tombstones. The oracle of the gate's tests.
struct ElementList {
  struct Element: Hashable {
    var id: Int
    var scalar: Unicode.Scalar
    var isDeleted = false

    var utf8Count: Int { UTF8.width(scalar) }
  }

  /// A client's operation on the elements that it named.
  struct Operation: Hashable {
    /// Nil for the start of the text.
    var left: Int?
    var inserted: [Element]
    var deleted: Set<Int>
  }

  private(set) var elements: [Element] = []

  var visible: [Element] { elements.filter { !$0.isDeleted } }
  var bytes: [UInt8] { visible.bytes }

  /// Inserts right after the element, visible or not, and before anything else there.
  mutating func make(_ operation: Operation) {
    let place = operation.left.flatMap { left in elements.firstIndex { $0.id == left } }.map { $0 + 1 } ?? 0
    elements.insert(contentsOf: operation.inserted, at: place)
    for index in elements.indices where operation.deleted.contains(elements[index].id) {
      elements[index].isDeleted = true
    }
  }

  /// The number of visible bytes up to the end of an element.
  func utf8Offset(after id: Int?) -> Int {
    guard let id, let place = elements.firstIndex(where: { $0.id == id }) else { return 0 }
    return elements[...place].reduce(0) { $0 + ($1.isDeleted ? 0 : $1.utf8Count) }
  }
}

extension [ElementList.Element] {
  var bytes: [UInt8] {
    var text = String.UnicodeScalarView()
    for element in self { text.append(element.scalar) }
    return [UInt8](String(text).utf8)
  }
}
