/// A place where several values stand because they were put there concurrently.
public struct Conflict: Hashable, Sendable {
  public let path: [AnyCodingKey]
  /// The value that is read there.
  public let winner: Value
  /// All of them, the winner included.
  public let values: Set<Value>
}

extension Document {
  /// The places in maps and lists where values were put concurrently, outer ones first. Objects that lost are not looked
  /// into, nor what stands deeper than `CodableDecoder.depthLimit` objects.
  /// - Complexity: O(n log n) in what the document holds.
  public func conflicts() throws -> [Conflict] {
    var conflicts: [Conflict] = []
    var open: [(object: ObjId, type: ObjType, path: [AnyCodingKey])] = [(.ROOT, .Map, [])]
    var next = 0
    while next < open.count {
      let (object, type, path) = open[next]
      next += 1
      for (key, winner, values) in try places(of: object, type) {
        if values.count > 1 { conflicts.append(Conflict(path: path + [key], winner: winner, values: values)) }
        if case .Object(let child, let type) = winner, type != .Text, path.count < CodableDecoder.depthLimit {
          open.append((child, type, path + [key]))
        }
      }
    }
    return conflicts
  }

  private func places(of object: ObjId, _ type: ObjType) throws -> [(AnyCodingKey, Value, Set<Value>)] {
    switch type {
    case .Map:
      try mapEntries(obj: object).map { (AnyCodingKey($0), $1, try getAll(obj: object, key: $0)) }
    case .List:
      try values(obj: object).enumerated().map { index, value in
        (AnyCodingKey(UInt64(index)), value, try getAll(obj: object, index: UInt64(index)))
      }
    case .Text: []
    }
  }
}
