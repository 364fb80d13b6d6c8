import AutomergeRepo

/// Keeps places free of the peers that this person knows only from hosts' lists of guests: a host can invent as many of
/// them as it likes.
///
/// A newcomer that finds all their places taken is turned away, so that links do not push each other out for ever; unless
/// another host's guests have more of the places than those of its own host: then the newest of these makes room.
struct IntroducedLinks {
  /// Source: PeerProtocol.md, "Links".
  static let maximumCount = 64

  struct Link: Equatable {
    let peer: PeerId
    /// The host that has introduced the peer.
    let host: PeerId
    let openedAt: Duration
  }

  enum Place: Equatable {
    case free
    /// The link to this peer makes room.
    case takenFrom(PeerId)
    case none
  }

  /// The place for another guest of this host.
  static func place(for host: PeerId, among links: [Link], maximumCount: Int = maximumCount) -> Place {
    guard links.count >= maximumCount else { return .free }
    let ofHost = Dictionary(grouping: links, by: \.host)
    let most = ofHost.values.map(\.count).max() ?? 0
    guard most > (ofHost[host]?.count ?? 0) + 1,
      let newest = ofHost.values.filter({ $0.count == most }).flatMap(\.self)
        .max(by: { ($0.openedAt, $0.peer) < ($1.openedAt, $1.peer) })
    else { return .none }
    return .takenFrom(newest.peer)
  }
}
