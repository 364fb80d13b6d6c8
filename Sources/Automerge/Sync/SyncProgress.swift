/// How far syncing one document with one peer has come.
///
/// Each side says what it has and needs, and sends what it believes the other lacks; both are done when the heads are
/// equal. Source: automerge-format, section 7.3.
struct SyncProgress: Equatable {
  /// Heads of what both are known to have.
  var sharedHeads: [ChangeHash] = []
  /// Our heads in the last message to them; the same heads need not be said twice.
  var lastSentHeads: [ChangeHash] = []
  /// From their last message; nil before the first.
  var theirHeads: [ChangeHash]?
  var theirNeed: [ChangeHash]?
  var theirHave: [SyncMessage.Have]?
  /// Changes sent that they have not yet confirmed. Not sent again.
  var sentHashes: Set<ChangeHash> = []
  /// A message is out and no answer has come yet.
  var inFlight = false
  /// A message has been sent since the states met.
  var haveResponded = false
  /// A request to start over is out and no answer has come yet.
  var resetInFlight = false
  /// Nil until they have said, then whether they read v2, and with it flags.
  var theirCapabilities: Capabilities?
  /// We take no changes from them.
  private(set) var isReadOnly = false
  var isPeerReadOnly = false
  /// The next message asks them to forget what they sent us.
  var needsReset = false

  struct Capabilities: Equatable {
    var syncReset = false
  }

  private static let persistedMark: UInt8 = 0x43

  init() {}

  init(persisted bytes: ArraySlice<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == Self.persistedMark else { throw .invalid(.syncState, at: bytes.startIndex) }
    sharedHeads = try reader.hashes(atMost: SyncMessage.Limit.heads)
    try reader.expectEnd()
    theirHave = []
  }

  var persisted: [UInt8] {
    var writer = ByteWriter()
    writer.byte(Self.persistedMark)
    writer.hashes(sharedHeads)
    return writer.bytes
  }

  /// Has everything sent again that the peer has sent and we do not have.
  mutating func askAgain() {
    var fresh = SyncProgress()
    (fresh.sharedHeads, fresh.theirHave) = (sharedHeads, [])
    (fresh.theirCapabilities, fresh.isReadOnly, fresh.isPeerReadOnly) = (theirCapabilities, isReadOnly, isPeerReadOnly)
    fresh.needsReset = true
    self = fresh
  }

  mutating func setReadOnly(_ readOnly: Bool) {
    guard readOnly != isReadOnly else { return }
    if readOnly {
      isReadOnly = true
      (inFlight, haveResponded) = (false, false)
    } else {
      let capabilities = theirCapabilities
      self = SyncProgress()
      theirCapabilities = capabilities
      needsReset = true
    }
  }
}
