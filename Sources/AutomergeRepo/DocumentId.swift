import Synchronization

/// Identifies a document everywhere: 16 bytes, written in Base58 with a checksum.
public struct DocumentId: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  /// The id's text form for people and messages.
  public let description: String

  /// Nil unless there are exactly 16 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(bytes, description: Base58Check.encode(bytes))
  }

  private init(_ bytes: [UInt8], description: String) {
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
    self.description = description
  }

  /// Nil unless `text` is the Base58 form of 16 bytes with the right checksum. A prefix `automerge:` is allowed.
  public init?(_ text: String) {
    let prefix = "automerge:"
    let bare = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
    if let last = Self.lastRead.withLock({ $0 }), last.description == bare {
      self = last
      return
    }
    guard let bytes = Base58Check.decode(bare), bytes.count == 16 else { return nil }
    // The same bytes have only one text form.
    self.init(bytes, description: String(bare))
    Self.lastRead.withLock { [self] in $0 = self }
  }

  /// The same for an optional text.
  public init?(_ text: String?) {
    guard let text else { return nil }
    self.init(text)
  }

  /// The last id read. Consecutive messages are mostly about one document, and checking an id's text takes as long as
  /// reading the rest of a short message.
  private static let lastRead = Mutex<DocumentId?>(nil)

  /// A new id, in the form of a random UUID.
  public static func random(using random: inout some RandomNumberGenerator) -> DocumentId {
    let high = random.next() & 0xffff_ffff_ffff_0fff | 0x4000
    let low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
    return DocumentId(high: high, low: low)
  }

  private init(high: UInt64, low: UInt64) {
    (self.high, self.low) = (high, low)
    description = Base58Check.encode(DocumentId.bytes(high, low))
  }

  /// Always 16.
  public var bytes: [UInt8] { DocumentId.bytes(high, low) }

  private static func bytes(_ high: UInt64, _ low: UInt64) -> [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
  }

  public static func == (left: DocumentId, right: DocumentId) -> Bool {
    left.high == right.high && left.low == right.low
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }
}
