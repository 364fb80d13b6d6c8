import AutomergeRepo

/// How many moves of one host a guest takes in an hour: each makes records that are kept, and brings a document. Further
/// ones wait.
struct MoveLimit {
  /// Source: PeerProtocol.md, "Removing a guest".
  static let maximumPerHour = 128
  private static let maximumWaiting = 64
  private static let hour: Duration = .seconds(60 * 60)

  private var times: [PeerId: [Duration]] = [:]
  /// The moves that wait, in order of arrival.
  private var waiting: [PeerId: [(move: DocumentMove, fields: [String: CBOR])]] = [:]

  /// Whether a host's move may be taken now. Those that arrived before it come first.
  mutating func allows(_ host: PeerId, at now: Duration) -> Bool {
    times = times.mapValues { $0.filter { now - $0 < Self.hour } }.filter { !$0.value.isEmpty }
    guard waiting[host] == nil, times[host]?.count ?? 0 < Self.maximumPerHour else { return false }
    times[host, default: []].append(now)
    return true
  }

  /// Keeps a move until the next one may be taken. Of two moves of one document the later one counts. One that finds no
  /// place is dropped: the host repeats it at the beginning of the next link.
  ///
  /// - Returns: the pause after which to call `takeWaiting`; nil if that is planned already
  mutating func wait(_ move: DocumentMove, _ fields: [String: CBOR], from host: PeerId, at now: Duration) -> Duration? {
    let isFirst = waiting[host] == nil
    var moves = waiting[host] ?? []
    moves.removeAll { $0.move.document == move.document }
    if moves.count < Self.maximumWaiting { moves.append((move, fields)) }
    waiting[host] = moves
    return isFirst ? (times[host]?.first).map { max($0 + Self.hour - now, .zero) } ?? .zero : nil
  }

  /// Whether a move that waits leads to this document, whose own moves then have to wait, too.
  func brings(_ document: DocumentId, from host: PeerId) -> Bool {
    waiting[host]?.contains { $0.move.successor == document } ?? false
  }

  /// The moves of a host that have waited. They wait no more.
  mutating func takeWaiting(_ host: PeerId) -> [[String: CBOR]] {
    (waiting.removeValue(forKey: host) ?? []).map(\.fields)
  }
}
