/// An item of a run-length encoded column.
protocol RunItem: Equatable {
  static func read(from reader: inout ByteReader) throws(FormatError) -> Self
  func write(to writer: inout ByteWriter)
  /// Whether two neighbours belong to one run.
  static func sameItem(_ left: Self, _ right: Self) -> Bool
}

extension RunItem {
  static func sameItem(_ left: Self, _ right: Self) -> Bool { left == right }
}

extension UInt64: RunItem {
  static func read(from reader: inout ByteReader) throws(FormatError) -> UInt64 { try reader.uleb() }
  func write(to writer: inout ByteWriter) { writer.uleb(self) }
}

extension Int64: RunItem {
  static func read(from reader: inout ByteReader) throws(FormatError) -> Int64 { try reader.sleb() }
  func write(to writer: inout ByteWriter) { writer.sleb(self) }
}

extension String: RunItem {
  static func read(from reader: inout ByteReader) throws(FormatError) -> String { try reader.string() }
  func write(to writer: inout ByteWriter) { writer.string(self) }

  /// Whether both have the same bytes. `==` also equates canonically equivalent strings, which columns distinguish.
  static func sameItem(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}

/// Writes a column of runs in the one canonical form.
///
/// Equal neighbours form one group, however they were appended. A group of nulls becomes a null run, a group of two or
/// more values a repeat run, and consecutive single values one literal run. Source: automerge-format, section 2.1.
struct RunLengthEncoder<Item: RunItem> {
  private var output = ByteWriter()
  private var literals = ByteWriter()
  private var literalCount = 0
  private var groupValue: Item?
  private var groupCount = 0
  /// Rows appended so far, nulls included.
  private(set) var count = 0
  /// Whether any row is not null. Most columns are omitted from a chunk if none is.
  private(set) var hasValues = false

  init() {}

  mutating func append(_ value: Item, count: Int = 1) {
    guard count > 0 else { return }
    hasValues = true
    extend(value, count)
  }

  mutating func appendNull(count: Int = 1) {
    guard count > 0 else { return }
    extend(nil, count)
  }

  mutating func append(_ value: Item?, count: Int = 1) {
    if let value { append(value, count: count) } else { appendNull(count: count) }
  }

  /// The column's bytes. The encoder is empty afterwards.
  mutating func finish() -> [UInt8] {
    closeGroup()
    closeLiterals()
    defer { self = RunLengthEncoder() }
    return output.bytes
  }

  /// Like `finish`, but empty for a column of only nulls.
  mutating func finishUnlessNull() -> [UInt8] {
    guard hasValues else {
      self = RunLengthEncoder()
      return []
    }
    return finish()
  }

  private mutating func extend(_ value: Item?, _ count: Int) {
    self.count += count
    if groupCount > 0, same(value, groupValue) {
      groupCount += count
    } else {
      closeGroup()
      (groupValue, groupCount) = (value, count)
    }
  }

  private func same(_ left: Item?, _ right: Item?) -> Bool {
    switch (left, right) {
    case (let left?, let right?): Item.sameItem(left, right)
    case (nil, nil): true
    case (nil, _?), (_?, nil): false
    }
  }

  private mutating func closeGroup() {
    guard groupCount > 0 else { return }
    defer { groupCount = 0 }
    guard let value = groupValue else {
      closeLiterals()
      output.sleb(0)
      output.uleb(groupCount)
      return
    }
    if groupCount == 1 {
      value.write(to: &literals)
      literalCount += 1
    } else {
      closeLiterals()
      output.sleb(Int64(groupCount))
      value.write(to: &output)
    }
  }

  private mutating func closeLiterals() {
    guard literalCount > 0 else { return }
    output.sleb(-Int64(literalCount))
    output.raw(literals.bytes)
    literals.removeAll()
    literalCount = 0
  }
}
