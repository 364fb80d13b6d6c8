/// The name of a column: its number, its type of data, and whether it is deflated.
struct ColumnSpec: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt32

  enum Kind: UInt8 {
    case group, actor, integer, delta, boolean, string, valueMetadata, valueRaw
  }

  static let deflateBit: UInt32 = 8

  init(rawValue: UInt32) { self.rawValue = rawValue }

  init(_ id: UInt32, _ kind: Kind) { rawValue = id << 4 | UInt32(kind.rawValue) }

  var id: UInt32 { rawValue >> 4 }
  var kind: Kind { Kind(rawValue: UInt8(rawValue & 7)) ?? .group }
  var isDeflated: Bool { rawValue & Self.deflateBit != 0 }
  /// The same column, not deflated. Columns ascend in the order of this.
  var inflated: ColumnSpec { ColumnSpec(rawValue: rawValue & ~Self.deflateBit) }
  var deflated: ColumnSpec { ColumnSpec(rawValue: rawValue | Self.deflateBit) }
}

extension ColumnSpec {
  /// Columns of operations, in changes and in documents. Source: automerge-format, sections 3 and 4.
  enum Op {
    static let objectActor = ColumnSpec(0, .actor)
    static let objectCounter = ColumnSpec(0, .integer)
    static let keyActor = ColumnSpec(1, .actor)
    static let keyCounter = ColumnSpec(1, .delta)
    static let keyString = ColumnSpec(1, .string)
    /// Only in documents.
    static let idActor = ColumnSpec(2, .actor)
    /// Only in documents.
    static let idCounter = ColumnSpec(2, .delta)
    static let insert = ColumnSpec(3, .boolean)
    static let action = ColumnSpec(4, .integer)
    static let valueMetadata = ColumnSpec(5, .valueMetadata)
    static let valueRaw = ColumnSpec(5, .valueRaw)
    /// Only in changes.
    static let predecessorCount = ColumnSpec(7, .group)
    /// Only in changes.
    static let predecessorActor = ColumnSpec(7, .actor)
    /// Only in changes.
    static let predecessorCounter = ColumnSpec(7, .delta)
    /// Only in documents.
    static let successorCount = ColumnSpec(8, .group)
    /// Only in documents.
    static let successorActor = ColumnSpec(8, .actor)
    /// Only in documents.
    static let successorCounter = ColumnSpec(8, .delta)
    static let expand = ColumnSpec(9, .boolean)
    static let markName = ColumnSpec(10, .string)
  }

  /// Columns of a document's changes. Source: automerge-format, section 4.
  enum Change {
    static let actor = ColumnSpec(0, .actor)
    static let sequence = ColumnSpec(0, .delta)
    static let maxOp = ColumnSpec(1, .delta)
    static let time = ColumnSpec(2, .delta)
    static let message = ColumnSpec(3, .string)
    static let dependencyCount = ColumnSpec(4, .group)
    static let dependencyIndex = ColumnSpec(4, .delta)
    static let extraMetadata = ColumnSpec(5, .valueMetadata)
    static let extraRaw = ColumnSpec(5, .valueRaw)
  }
}
