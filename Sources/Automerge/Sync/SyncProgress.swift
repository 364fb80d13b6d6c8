/// The state of syncing one document with one peer.
///
/// Each side says what it has and needs, and sends what it believes the other lacks; both are done when the heads are
/// equal. Source: automerge-format, section 7.3.
struct SyncProgress: Equatable {
  /// Heads of what both certainly have.
  var sharedHeads: [ChangeHash] = []
  /// Our heads in the last message to them, which need not be sent again while they stay the same.
  var lastSentHeads: [ChangeHash] = []
  /// The heads in their last message; nil before the first.
  var theirHeads: [ChangeHash]?
  var theirNeed: [ChangeHash]?
  var theirHave: [SyncMessage.Have]?
  /// Changes sent that they have not confirmed yet. Not sent again.
  var sentHashes = ChangeHashSet()
  /// Whether a message was sent that is not answered yet.
  var inFlight = false
  /// Whether a message has been sent since the heads became equal.
  var haveResponded = false
  /// Whether a request to start over was sent that is not answered yet.
  var resetInFlight = false
  /// Nil until they have sent a message; then whether they read v2, and their flags.
  var theirCapabilities: Capabilities?
  /// Whether we refuse their changes.
  private(set) var isReadOnly = false
  var isPeerReadOnly = false
  /// Whether the next message asks them to forget what they have sent us.
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
    writer.hashes(sharedHeads.upTo(SyncMessage.Limit.heads))
    return writer.bytes
  }

  /// Asks the peer to send everything again that it has sent and we do not have.
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
