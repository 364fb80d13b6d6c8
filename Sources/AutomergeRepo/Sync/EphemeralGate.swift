/// Delivers each ephemeral message once, in its author's order, over whichever links it came.
///
/// Every link has its own count of every stream (one run of an author's program, on one document), so nothing that
/// comes over one link can silence what comes over another. A message whose count leaps is refused. If the next message
/// continues from that count, so does the stream; an invented count thus silences an author for one message at most.
struct EphemeralGate {
  /// Source of all limits: PeerProtocol.md, "Presence".
  static let maximumByteCount = 64 << 10
  static let maximumIdBytes = 256
  /// The most streams of one link that are remembered; older ones are forgotten.
  static let maximumStreams = 256
  /// How far a count may be ahead of the last one. An author counts its messages on all documents together.
  static let maximumLeap: UInt64 = 1 << 14
  /// The rate limit of one link: this many messages at once, and this many more each second.
  static let maximumAtOnce = 1000
  static let maximumPerSecond = 500
  /// How many of a stream's last counts are remembered, to recognise messages that come again over another link.
  private static let windowCount = 64

  private struct Stream: Hashable {
    var author: PeerId
    var sessionId: String
    var document: DocumentId
  }

  private struct Progress {
    var last: UInt64
    /// A refused count that the stream may continue from.
    var leap: UInt64?
    var seen: UInt64
  }

  private struct Link {
    var streams: [Stream: Progress] = [:]
    /// How many messages the link may bring, at the moment `countedAt`.
    var allowance = Double(EphemeralGate.maximumAtOnce)
    var countedAt: Duration
  }

  private struct Window {
    var counts: [UInt64] = []
    var seen: UInt64
  }

  private var links: [PeerId: Link] = [:]
  private var windows: [Stream: Window] = [:]
  private var seen: UInt64 = 0

  /// How many streams are remembered, of all links together.
  var streamCount: Int { max(windows.count, links.values.reduce(0) { $0 + $1.streams.count }) }

  /// Whether the message is new; it then counts as seen.
  ///
  /// - Parameter link: the peer that brought it.
  mutating func accepts(_ message: RepoMessage.EphemeralMessage, via link: PeerId, at now: Duration) -> Bool {
    guard message.data.count <= Self.maximumByteCount, message.sessionId.utf8.count <= Self.maximumIdBytes,
      message.senderId.description.utf8.count <= Self.maximumIdBytes
    else { return false }
    // Removed while it changes, so that its streams are not copied.
    var record = links.removeValue(forKey: link) ?? Link(countedAt: now)
    defer { links[link] = record }
    guard Self.allows(&record, at: now) else { return false }
    let stream = Stream(author: message.senderId, sessionId: message.sessionId, document: message.documentId)
    seen += 1
    guard Self.goesOn(&record, stream, message.count, seen) else { return false }
    if record.streams.count > Self.maximumStreams { record.streams = Self.recentHalf(of: record.streams, by: \.seen) }
    return isFirst(message.count, of: stream)
  }

  /// Drops the streams of a link that is gone.
  mutating func forget(_ link: PeerId) { links[link] = nil }

  private static func allows(_ link: inout Link, at now: Duration) -> Bool {
    let (seconds, attoseconds) = (now - link.countedAt).components
    let passed = Double(seconds) + Double(attoseconds) / 1e18
    link.allowance = min(Double(maximumAtOnce), link.allowance + passed * Double(maximumPerSecond))
    link.countedAt = now
    guard link.allowance >= 1 else { return false }
    link.allowance -= 1
    return true
  }

  /// Whether a count continues from the last one of its link, or from one that was refused as a leap.
  private static func goesOn(_ link: inout Link, _ stream: Stream, _ count: UInt64, _ seen: UInt64) -> Bool {
    guard let known = link.streams[stream] else {
      link.streams[stream] = Progress(last: count, seen: seen)
      return true
    }
    func follows(_ earlier: UInt64) -> Bool { count > earlier && count - earlier <= maximumLeap }
    guard follows(known.last) || known.leap.map(follows) == true else {
      link.streams[stream] = Progress(last: known.last, leap: count, seen: seen)
      return false
    }
    link.streams[stream] = Progress(last: count, seen: seen)
    return true
  }

  /// Whether the message has not come over another link already.
  private mutating func isFirst(_ count: UInt64, of stream: Stream) -> Bool {
    var window = windows[stream] ?? Window(seen: seen)
    guard !window.counts.contains(count) else { return false }
    if window.counts.count == Self.windowCount { window.counts.removeFirst() }
    window.counts.append(count)
    window.seen = seen
    windows[stream] = window
    if windows.count > 4 * Self.maximumStreams { windows = Self.recentHalf(of: windows, by: \.seen) }
    return true
  }

  private static func recentHalf<Value>(
    of all: [Stream: Value], by seen: KeyPath<Value, UInt64>
  ) -> [Stream: Value] {
    let middle = all.values.map { $0[keyPath: seen] }.sorted()[all.count / 2]
    return all.filter { $0.value[keyPath: seen] >= middle }
  }
}
