/// Past states of the document. A state is named by its heads. Heads that are not changes of this document are ignored,
/// so unknown heads alone name the empty document; call `unknown` where that matters.
///
/// Each method takes O(n) in the runs of the object, and O(m) in the changes made since that state.
extension Document {
  /// The value that won at a key.
  public func getAt(obj: ObjId, key: String, heads: Set<ChangeHash>) throws -> Value? {
    try withCore { core in
      let slot = try core.map(obj).map[MapKey(key)], clock = core.past(heads)
      return slot.winner(at: clock).map { core.value(of: $0, in: slot, at: clock) }
    }
  }

  /// The value that won at an index.
  public func getAt(obj: ObjId, index: UInt64, heads: Set<ChangeHash>) throws -> Value? {
    try withCore { core in
      let clock = core.past(heads)
      guard let slot = try core.slot(obj, index, textEncoding, at: clock) else { return nil }
      return slot.winner(at: clock).map { core.value(of: $0, in: slot, at: clock) }
    }
  }

  /// All values at a key that had been put there concurrently.
  public func getAllAt(obj: ObjId, key: String, heads: Set<ChangeHash>) throws -> Set<Value> {
    try withCore { core in
      let slot = try core.map(obj).map[MapKey(key)], clock = core.past(heads)
      return Set(slot.visible(at: clock).map { core.value(of: $0, in: slot, at: clock) })
    }
  }

  /// All values at an index that had been put there concurrently.
  public func getAllAt(obj: ObjId, index: UInt64, heads: Set<ChangeHash>) throws -> Set<Value> {
    try withCore { core in
      let clock = core.past(heads)
      guard let slot = try core.slot(obj, index, textEncoding, at: clock) else { return [] }
      return Set(slot.visible(at: clock).map { core.value(of: $0, in: slot, at: clock) })
    }
  }

  /// The keys that had a value, in the order of their UTF-8. Empty if `obj` is not a map of this document.
  public func keysAt(obj: ObjId, heads: Set<ChangeHash>) -> [String] {
    withCore { core in
      let clock = core.past(heads)
      return core.opId(obj).flatMap { core.store.map($0) }?.keys(at: clock).map(\.string) ?? []
    }
  }

  /// The values of a map in the order of its keys, or the elements of a list or text.
  /// - Complexity: O(n) in the elements.
  public func valuesAt(obj: ObjId, heads: Set<ChangeHash>) throws -> [Value] {
    try withCore { try $0.values(obj, at: $0.past(heads)) }
  }

  /// The keys of a map with the values that won there, in the order of the keys' UTF-8.
  public func mapEntriesAt(obj: ObjId, heads: Set<ChangeHash>) throws -> [(String, Value)] {
    try withCore { try $0.mapEntries(obj, at: $0.past(heads)) }
  }

  /// The number of a map's keys, a list's elements, or a text's units in `textEncoding` at that time. 0 if there is no
  /// such object.
  public func lengthAt(obj: ObjId, heads: Set<ChangeHash>) -> UInt64 {
    withCore { $0.length(obj, at: $0.past(heads), textEncoding) }
  }

  public func textAt(obj: ObjId, heads: Set<ChangeHash>) throws -> String {
    try withCore { core in
      let tree = try core.text(obj).tree
      return String(decoding: tree.utf8(at: core.past(heads)), as: UTF8.self)
    }
  }
}

extension DocumentCore {
  /// The state that consists of these changes and their ancestors, without what is pending.
  func past(_ heads: Set<ChangeHash>) -> Clock {
    var clock = clock(at: heads)
    if let transaction {
      clock.set(min(clock.limit(actor: transaction.author), transaction.startOp - 1), actor: transaction.author)
    }
    return clock
  }

  func slot(_ object: ObjId, _ index: UInt64, _ encoding: TextEncoding, at clock: Clock) throws(DocError) -> Slot? {
    let unit = try unit(of: object, encoding)
    guard let index = Int(exactly: index) else { return nil }
    return try sequence(object).tree.slot(at: index, unit, clock: clock)
  }

  func length(_ object: ObjId, at clock: Clock, _ encoding: TextEncoding) -> UInt64 {
    guard let id = opId(object) else { return 0 }
    switch store[id] {
    case .map(let map): return UInt64(map.count(at: clock))
    case .sequence(let tree):
      let unit = store.type(of: id) == .makeText ? encoding.unit : .elements
      return UInt64(clock.isNow ? tree.total[unit] : tree.sums(at: clock)[unit])
    case nil: return 0
    }
  }

  func values(_ object: ObjId, at clock: Clock) throws(DocError) -> [Value] {
    switch try self.object(object) {
    case .map(let map):
      return map.sortedSlots.compactMap { _, slot in
        slot.winner(at: clock).map { value(of: $0, in: slot, at: clock) }
      }
    case .sequence(let tree):
      var values: [Value] = []
      tree.forEachStretch(at: clock) { stretch in
        switch stretch {
        case .plain(_, _, let text):
          for scalar in String(decoding: bytes.bytes[text], as: UTF8.self).unicodeScalars {
            values.append(.Scalar(.String(String(scalar))))
          }
        case .irregular(let slot, let winner): values.append(value(of: winner, in: slot, at: clock))
        case .mark: break
        }
        return true
      }
      return values
    }
  }

  func mapEntries(_ object: ObjId, at clock: Clock) throws(DocError) -> [(String, Value)] {
    try map(object).map.sortedSlots.compactMap { key, slot in
      slot.winner(at: clock).map { (key.string, value(of: $0, in: slot, at: clock)) }
    }
  }

  func value(of op: StoredOp, in slot: Slot, at clock: Clock = .now) -> Value {
    op.action.makesObject ? .Object(objId(op.id), objectType(op.id)) : .Scalar(slot.scalar(of: op, at: clock, actors))
  }
}
