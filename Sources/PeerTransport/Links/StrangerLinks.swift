import UV

/// Decides which link makes room for a caller that has not proved to be a peer we know.
///
/// A caller is never turned away because of other callers' links: each address has a limit, and when all places are
/// taken, the address with the most links loses its oldest one. So callers that hold idle links open close their own
/// links, and not those of a newcomer at another address. Links that this person waits for, such as that of a peer with
/// an open invitation, are closed only if there are no others.
package struct StrangerLinks {
  /// Source of both limits: PeerProtocol.md, "Links".
  package static let maximumCount = 32
  package static let maximumPerAddress = 8
  /// A stranger's link that this person does not wait for ends after this time.
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

  /// What counts as one address: for IPv6 the network, because a machine may choose any address in it; but the address
  /// itself on the local link, where all machines have the same network.
  private static func source(of host: String) -> [UInt8] {
    let bytes = SocketAddress(host: host, port: 0)?.hostBytes ?? Array(host.utf8)
    let isLocal = bytes.starts(with: [0xfe, 0x80]) || host == "::1"
    return bytes.count == 16 && !isLocal ? Array(bytes.prefix(8)) : bytes
  }
}
