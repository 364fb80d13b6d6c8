/// The members of a JSON object, in the order in which they were first set.
///
/// Most objects in messages have a handful of members, which are found by comparing each. A larger one has an index, so
/// that an object of a million keys costs no more per key.
public struct JSONObject: Sendable {
  public struct Member: Sendable {
    public let key: String
    public fileprivate(set) var value: JSONValue
  }

  public private(set) var members: [Member] = []
  private var positions: [ByteExactKey: Int]?

  /// With more members than this, a hash look-up is faster than comparing.
  private static let scanLimit = 16

  public init() {}

  /// The members in this order. If a key occurs twice, the last value counts.
  public init(_ pairs: some Sequence<(String, JSONValue)>) {
    for (key, value) in pairs { self[key] = value }
  }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }

  /// The value of a member. Setting `nil` removes it.
  /// - Complexity: O(1); removing is O(n) in the members
  public subscript(key: String) -> JSONValue? {
    get { position(of: key).map { members[$0].value } }
    set {
      switch (position(of: key), newValue) {
      case (let position?, let value?): members[position].value = value
      case (let position?, nil): remove(at: position)
      case (nil, let value?): append(key, value)
      case (nil, nil): break
      }
    }
  }

  /// Sets a member for the parser, without copying anything.
  mutating func set(_ key: consuming String, _ value: consuming JSONValue) {
    if let position = position(of: key) { members[position].value = value } else { append(key, value) }
  }

  private func position(of key: String) -> Int? {
    if let positions { return positions[ByteExactKey(text: key)] }
    for position in members.indices where members[position].key.hasSameBytes(as: key) { return position }
    return nil
  }

  private mutating func append(_ key: String, _ value: JSONValue) {
    if members.isEmpty { members.reserveCapacity(4) }
    positions?[ByteExactKey(text: key)] = members.count
    members.append(Member(key: key, value: value))
    if positions == nil, members.count > Self.scanLimit { indexMembers() }
  }

  private mutating func remove(at position: Int) {
    members.remove(at: position)
    positions = nil
    if members.count > Self.scanLimit { indexMembers() }
  }

  private mutating func indexMembers() {
    var index: [ByteExactKey: Int] = [:]
    index.reserveCapacity(members.count * 2)
    for (position, member) in members.enumerated() { index[ByteExactKey(text: member.key)] = position }
    positions = index
  }
}

extension JSONObject: Hashable {
  public static func == (a: JSONObject, b: JSONObject) -> Bool {
    a.count == b.count && a.members.allSatisfy { b[$0.key] == $0.value }
  }

  public func hash(into hasher: inout Hasher) {
    // The order does not matter, so the hashes of the members are added.
    var sum = 0
    for member in members {
      var memberHasher = Hasher()
      memberHasher.combine(member.key)
      memberHasher.combine(member.value)
      sum &+= memberHasher.finalize()
    }
    hasher.combine(sum)
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral pairs: (String, JSONValue)...) { self.init(pairs) }
}

/// A key that equals another one only if the bytes are equal.
private struct ByteExactKey: Hashable {
  let text: String

  static func == (a: ByteExactKey, b: ByteExactKey) -> Bool { a.text.hasSameBytes(as: b.text) }

  // Equal bytes have equal hashes under String's coarser equality, too.
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension String {
  /// Whether both have the same UTF-8 bytes; `==` on strings also equates different spellings of a character.
  func hasSameBytes(as other: String) -> Bool {
    // Keys of one length mostly differ in their first byte; the full comparison is for those that do not.
    guard utf8.count == other.utf8.count, utf8.first == other.utf8.first else { return false }
    let same = utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable { bytes.elementsEqual($0) }
    }
    return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
