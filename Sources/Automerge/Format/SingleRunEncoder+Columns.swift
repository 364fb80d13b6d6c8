/// Where a `SingleRunEncoder` writes. All parts are appended, into room that the encoder has reserved.
struct ColumnCursor {
  /// The next byte's place.
  var end: UnsafeMutablePointer<UInt8>
  /// Where the list of columns continues, and where the column that is being written begins.
  var listEnd: UnsafeMutablePointer<UInt8>
  var columnStart: UnsafeMutablePointer<UInt8>

  init(_ end: UnsafeMutablePointer<UInt8>) { (self.end, listEnd, columnStart) = (end, end, end) }

  @inline(__always)
  mutating func byte(_ byte: UInt8) {
    end.pointee = byte
    end += 1
  }

  @inline(__always)
  mutating func bytes(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
    end.update(from: start, count: bytes.count)
    end += bytes.count
  }

  @inline(__always)
  mutating func uleb(_ value: UInt64) {
    var value = value
    while value >= 0x80 {
      byte(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    byte(UInt8(truncatingIfNeeded: value))
  }

  @inline(__always)
  mutating func sleb(_ value: Int64) {
    var value = value
    while value < -64 || value >= 64 {
      byte(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    byte(UInt8(truncatingIfNeeded: value) & 0x7f)
  }

  /// A column of equal rows.
  @inline(__always)
  mutating func same(_ value: UInt64, _ count: Int) {
    sleb(count == 1 ? -1 : Int64(count))
    uleb(value)
  }

  /// A column of one row that is null or not zero, followed by zeros.
  @inline(__always)
  mutating func first(_ value: UInt64?, thenZero count: Int) {
    if let value {
      sleb(count == 1 ? -2 : -1)
      uleb(value)
      if count == 1 {
        byte(0)
        return
      }
    } else {
      byte(0)
      byte(1)
    }
    if count > 0 { same(0, count) }
  }

  /// A column of differences: `first` once, `second` `secondCount` times, and `third` `thirdCount` times.
  mutating func deltas(_ first: Int64, _ second: Int64, _ secondCount: Int, _ third: Int64, _ thirdCount: Int) {
    var groups = ((first, 1), (second, max(secondCount, 0)), (third, max(thirdCount, 0)))
    if groups.1.1 > 0, groups.1.0 == groups.0.0 { (groups.0.1, groups.1.1) = (groups.0.1 + groups.1.1, 0) }
    if groups.1.1 == 0 { (groups.1, groups.2) = (groups.2, (0, 0)) }
    if groups.1.1 > 0, groups.1.0 == groups.0.0 {
      groups.0.1 += groups.1.1
      (groups.1, groups.2) = (groups.2, (0, 0))
    }
    if groups.2.1 > 0, groups.2.0 == groups.1.0 { (groups.1.1, groups.2) = (groups.1.1 + groups.2.1, (0, 0)) }
    let isSingle = (groups.0.1 == 1, groups.1.1 == 1, groups.2.1 == 1)
    var literals: Int64 = 0
    if isSingle.0 { literals = isSingle.1 ? (isSingle.2 ? 3 : 2) : 1 }
    if isSingle.0 { sleb(-literals) } else { sleb(Int64(groups.0.1)) }
    sleb(groups.0.0)
    guard groups.1.1 > 0 else { return }
    if !isSingle.1 {
      sleb(Int64(groups.1.1))
    } else if !isSingle.0 {
      sleb(isSingle.2 ? -2 : -1)
    }
    sleb(groups.1.0)
    guard groups.2.1 > 0 else { return }
    if !isSingle.2 {
      sleb(Int64(groups.2.1))
    } else if !isSingle.1 {
      sleb(-1)
    }
    sleb(groups.2.0)
  }

  /// Ends a column and adds it to the list.
  @inline(__always)
  mutating func close(_ spec: UInt8) {
    listEnd.pointee = spec
    listEnd += 1
    var length = end - columnStart
    while length >= 0x80 {
      listEnd.pointee = UInt8(truncatingIfNeeded: length) | 0x80
      listEnd += 1
      length >>= 7
    }
    listEnd.pointee = UInt8(truncatingIfNeeded: length)
    listEnd += 1
    columnStart = end
  }
}
