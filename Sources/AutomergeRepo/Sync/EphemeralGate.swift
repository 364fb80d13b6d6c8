/// Lets each ephemeral message through once, in the order of its author, whichever ways it came.
///
/// Remembers the last count of each session, of the most recent sessions only, so that a flood of them costs no memory.
struct EphemeralGate {
  /// Source: PeerProtocol.md, "Limits".
  static let maximumByteCount = 64 << 10
  static let maximumSessions = 1024
  static let maximumIdBytes = 256

  private struct Session: Hashable {
    var author: PeerId
    var sessionId: String
  }

  private var last: [Session: (count: UInt64, seen: UInt64)] = [:]
  private var seen: UInt64 = 0

  var sessionCount: Int { last.count }

  /// Whether the message is new; it then counts as seen.
  mutating func accepts(_ message: RepoMessage.EphemeralMessage) -> Bool {
    guard message.data.count <= EphemeralGate.maximumByteCount,
      message.sessionId.utf8.count <= EphemeralGate.maximumIdBytes,
      message.senderId.description.utf8.count <= EphemeralGate.maximumIdBytes
    else { return false }
    let session = Session(author: message.senderId, sessionId: message.sessionId)
    if let known = last[session], message.count <= known.count { return false }
    seen += 1
    last[session] = (message.count, seen)
    if last.count > EphemeralGate.maximumSessions { forgetOldHalf() }
    return true
  }

  private mutating func forgetOldHalf() {
    let middle = last.values.map(\.seen).sorted()[last.count / 2]
    last = last.filter { $0.value.seen >= middle }
  }
}
