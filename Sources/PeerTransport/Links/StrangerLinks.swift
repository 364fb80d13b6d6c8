import UV

/// Decides which link makes room for a caller that has not proved to be a peer we know.
///
/// A caller is never turned away for the links of others: one address has only so many, and where all places are taken, the
/// address that holds most of them gives one up, its oldest first. Callers that hold idle links open thereby close
/// their own links and not those of a newcomer at another address. Links that our person waits for, such as that of a peer
/// with an open invitation, are closed only where there is no other.
package struct StrangerLinks {
  /// Source of both: PeerProtocol.md, "Links".
  package static let maximumCount = 32
  package static let maximumPerAddress = 8
  /// A stranger's link that no person waits for ends after this time.
  package static let maximumIdleTime: Duration = .seconds(60)

  package struct Link: Equatable {
    package let id: ObjectIdentifier
    package let host: String
    package let openedAt: Duration
    package let isAwaited: Bool

    package init(id: ObjectIdentifier, host: String, openedAt: Duration, isAwaited: Bool) {
      (self.id, self.host, self.openedAt, self.isAwaited) = (id, host, openedAt, isAwaited)
    }
  }

  /// The link to close before a caller from `host` is accepted; nil if there is a place.
  ///
  /// - Complexity: O(n log n) in the links.
  package static func evicted(
    for host: String, among links: [Link], maximumCount: Int = maximumCount, maximumPerAddress: Int = maximumPerAddress
  ) -> ObjectIdentifier? {
    let ofSource = Dictionary(grouping: links) { source(of: $0.host) }
    if let same = ofSource[source(of: host)], same.count >= maximumPerAddress { return first(of: same) }
    guard links.count >= maximumCount else { return nil }
    let most = ofSource.values.map(\.count).max()
    return first(of: ofSource.values.filter { $0.count == most }.flatMap(\.self))
  }

  private static func first(of links: [Link]) -> ObjectIdentifier? {
    links.min { ($0.isAwaited ? 1 : 0, $0.openedAt) < ($1.isAwaited ? 1 : 0, $1.openedAt) }?.id
  }

  /// What counts as one address: of IPv6 the network, since a machine may choose any address of its own, but on the local
  /// link, where all machines have the same network, the address itself.
  private static func source(of host: String) -> [UInt8] {
    let bytes = SocketAddress(host: host, port: 0)?.hostBytes ?? Array(host.utf8)
    let isLocal = bytes.starts(with: [0xfe, 0x80]) || host == "::1"
    return bytes.count == 16 && !isLocal ? Array(bytes.prefix(8)) : bytes
  }
}
