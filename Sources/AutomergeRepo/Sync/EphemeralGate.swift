import Foundation

/// Delivers each ephemeral message once, in its author's order, whichever links it came over.
///
/// Every link has its own count of every stream (one run of an author's program, on one document), so nothing that comes over
/// one link can silence what comes over another. A count that leaps is refused, unless the next message continues from there:
/// then the stream does so too, and an invented count silences an author for one message at most. What has the count of
/// another link's message is an echo of it only if it says the same, and a link that brings much is forgotten before others.
struct EphemeralGate {
  /// Source of all limits: PeerProtocol.md, "Presence".
  static let maximumByteCount = 64 << 10
  static let maximumIdBytes = 256
  /// The most streams of one link that are remembered; older ones are forgotten.
  static let maximumStreams = 256
  /// How far a count may be ahead of the last one. An author counts its messages on all documents together.
  static let maximumLeap: UInt64 = 1 << 14
  /// The rate limit of one link: this many at once, and this many more each second, of its own and as many of others.
  static let maximumAtOnce = 1000
  static let maximumPerSecond = 500
  /// The rate limit of each author whose messages a link passes on.
  static let maximumOfAuthorAtOnce = 250
  static let maximumOfAuthorPerSecond = 125
  /// How many of a stream's last messages are remembered, to recognise them when they come over another link.
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

  /// How many messages may come, as of a moment.
  private struct Allowance {
    var count: Double
    var countedAt: Duration

    init(_ atOnce: Int, at now: Duration) { (count, countedAt) = (Double(atOnce), now) }

    mutating func earn(_ perSecond: Int, upTo atOnce: Int, at now: Duration) {
      count = min(Double(atOnce), count + (now - countedAt) / .seconds(1) * Double(perSecond))
      countedAt = now
    }
  }

  private struct Link {
    var streams: [Stream: Progress] = [:]
    /// For the link's own messages.
    var own: Allowance
    /// For all that it passes on together, and for the messages of each author.
    var others: Allowance
    var authors: [PeerId: Allowance] = [:]

    init(at now: Duration) {
      own = Allowance(EphemeralGate.maximumAtOnce, at: now)
      others = Allowance(EphemeralGate.maximumAtOnce, at: now)
    }
  }

  /// A message that came: its count, a hash of what it says, and the link that brought it first.
  private struct Arrival {
    var count: UInt64
    var content: Int
    var link: PeerId
  }

  private struct Window {
    var arrivals: [Arrival] = []
    /// The link that the stream came over first.
    var link: PeerId
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
    // Taken out, so that its streams are not copied.
    var record = links.removeValue(forKey: link) ?? Link(at: now)
    defer { links[link] = record }
    guard Self.allows(message.senderId.owner, via: link, &record, at: now) else { return false }
    let stream = Stream(author: message.senderId, sessionId: message.sessionId, document: message.documentId)
    seen += 1
    guard Self.goesOn(&record, stream, message.count, seen) else { return false }
    if record.streams.count > Self.maximumStreams { record.streams = Self.recentHalf(of: record.streams, by: \.seen) }
    return isFirst(Arrival(count: message.count, content: Self.hash(of: message.data), link: link), of: stream)
  }

  /// Drops the streams of a link that is gone.
  mutating func forget(_ link: PeerId) { links[link] = nil }

  /// Nothing that a link passes on uses up what the peer there may say itself, and no author uses up all that may be passed on.
  private static func allows(_ author: PeerId, via peer: PeerId, _ link: inout Link, at now: Duration) -> Bool {
    guard author != peer else {
      link.own.earn(maximumPerSecond, upTo: maximumAtOnce, at: now)
      guard link.own.count >= 1 else { return false }
      link.own.count -= 1
      return true
    }
    link.others.earn(maximumPerSecond, upTo: maximumAtOnce, at: now)
    var own = link.authors[author] ?? Allowance(maximumOfAuthorAtOnce, at: now)
    own.earn(maximumOfAuthorPerSecond, upTo: maximumOfAuthorAtOnce, at: now)
    let isAllowed = link.others.count >= 1 && own.count >= 1
    if isAllowed {
      link.others.count -= 1
      own.count -= 1
    }
    if link.authors.count >= maximumStreams, link.authors[author] == nil {
      // The least busy ones lose nothing.
      let middle = link.authors.values.map(\.count).sorted()[link.authors.count / 2]
      link.authors = link.authors.filter { $0.value.count < middle }
    }
    link.authors[author] = own
    return isAllowed
  }

  /// Of all bytes, unlike `Data.hashValue`, and not to be foreseen by a peer.
  private static func hash(of data: Data) -> Int {
    var hasher = Hasher()
    data.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
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

  /// Whether it has not come over another link already.
  private mutating func isFirst(_ arrival: Arrival, of stream: Stream) -> Bool {
    var window = windows.removeValue(forKey: stream) ?? Window(link: arrival.link, seen: seen)
    defer { windows[stream] = window }
    if window.arrivals.contains(where: { $0.count == arrival.count && $0.content == arrival.content }) { return false }
    if window.arrivals.count == Self.windowCount, let busiest = Self.busiest(window.arrivals.lazy.map(\.link)),
      let oldest = window.arrivals.firstIndex(where: { $0.link == busiest })
    {
      window.arrivals.remove(at: oldest)
    }
    window.arrivals.append(arrival)
    window.seen = seen
    if windows.count >= 4 * Self.maximumStreams { forgetWindows() }
    return true
  }

  /// Forgets older streams of the link that has brought the most, if it has brought more than its share, or else of all.
  private mutating func forgetWindows() {
    let busiest = Self.busiest(windows.values.lazy.map(\.link))
    let its = windows.filter { $0.value.link == busiest }
    guard its.count > Self.maximumStreams / 2 else { return windows = Self.recentHalf(of: windows, by: \.seen) }
    let recent = Self.recentHalf(of: its, by: \.seen)
    windows = windows.filter { $0.value.link != busiest || recent[$0.key] != nil }
  }

  /// Of two that occur equally often, either.
  private static func busiest(_ links: some Sequence<PeerId>) -> PeerId? {
    var counts: [PeerId: Int] = [:]
    for link in links { counts[link, default: 0] += 1 }
    return counts.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
  }

  private static func recentHalf<Value>(
    of all: [Stream: Value], by seen: KeyPath<Value, UInt64>
  ) -> [Stream: Value] {
    let middle = all.values.map { $0[keyPath: seen] }.sorted()[all.count / 2]
    return all.filter { $0.value[keyPath: seen] >= middle }
  }
}
