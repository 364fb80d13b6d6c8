import Foundation

/// A stretch of a text that one change wrote.
public struct BlameSpan: Hashable, Sendable {
  /// The first unit, in the document's text encoding.
  public let start: UInt64
  /// The first unit after the stretch.
  public let end: UInt64
  /// The change that wrote the present text of the stretch.
  public let change: ChangeHash
  /// The author of the change.
  public let actor: ActorId
  /// The time by the author's clock, in whole seconds.
  public let timestamp: Date

  public init(start: UInt64, end: UInt64, change: ChangeHash, actor: ActorId, timestamp: Date) {
    (self.start, self.end, self.change, self.actor, self.timestamp) = (start, end, change, actor, timestamp)
  }
}

extension Document {
  /// The authors and times of a text: spans from front to back that cover all of it. Neighbouring spans are from
  /// different changes.
  /// - Complexity: O(n log m) for n runs and spans among m changes.
  public func blame(obj: ObjId) throws -> [BlameSpan] { try blame(obj: obj, in: 0..<UInt64.max) }

  /// The same for a part of a text. The spans are cut to the part; if it goes beyond the text's end, they end there.
  /// - Complexity: O(log n + k log m) for k runs and spans in the part, of n in the text, among m changes; the first time after
  ///   changes also O(m) in those.
  public func blame(obj: ObjId, in range: Range<UInt64>) throws -> [BlameSpan] {
    try withCore { core in
      core.commitPending()
      let tree = try core.text(obj).tree
      core.computeHashes()
      let authors = TextAuthors(of: tree, in: core, unit: textEncoding.unit)
      return authors.stretches(in: range).map(authors.span(of:))
    }
  }

  /// The same for a text as it was at a past state, from front to back.
  /// - Complexity: O(n log m) for n runs and spans among m changes.
  public func blameAt(obj: ObjId, heads: Set<ChangeHash>) throws -> [BlameSpan] {
    try withCore { core in
      core.commitPending()
      let tree = try core.text(obj).tree
      core.computeHashes()
      let authors = TextAuthors(of: tree, in: core, unit: textEncoding.unit)
      return authors.stretches(at: core.past(heads)).map(authors.span(of:))
    }
  }

  /// The authors of the changes that one state has and another one lacks.
  /// - Complexity: that of finding both states' changes, and O(n) in the document's authors.
  package func authors(of heads: Set<ChangeHash>, since earlier: Set<ChangeHash>) -> Set<ActorId> {
    withCore { core in
      core.commitPending()
      let (old, new) = (core.past(earlier), core.past(heads))
      let found = (0..<UInt32(core.actors.count)).filter { new.limit(actor: $0) > old.limit(actor: $0) }
      return Set(found.map { core.actors[$0] })
    }
  }
}

extension Document {
  /// The change that made an object. Nil for the root and for an unknown object.
  /// - Complexity: O(log m) in the changes of its author; the first time after changes also O(m) in those.
  public func change(thatMade obj: ObjId) -> Change? {
    withCore { core in
      core.commitPending()
      guard obj != .ROOT, let id = core.opId(obj) else { return nil }
      core.computeHashes()
      core.lookups.changeLookup.update(from: core.graph)
      return core.lookups.changeLookup.row(of: id).map { core.change(ofRow: $0) }
    }
  }
}
