import AutomergeRepo

/// A provider's links, the current link of each peer, and the limits that all of them share.
@AutomergeRepo
package final class LinkTable {
  package struct Entry {
    package let link: PeerLink
    /// The other end's address.
    package let address: PeerAddress
    /// Waits for the outcome of the call that made the link.
    package var attempt: LinkAttempt?
  }

  package private(set) lazy var unfinished = UnfinishedFrames { [weak self] in self?.all ?? [] }
  package private(set) lazy var unsent = UnsentBytes { [weak self] in self?.all ?? [] }
  private let share: WorkShare
  private var entries: [ObjectIdentifier: Entry] = [:]
  private var linkOfPeer: [PeerId: PeerLink] = [:]

  /// - Parameter clock: real time, which is divided among the links
  package nonisolated init(clock: any RepoClock) { share = WorkShare(clock: clock) }

  package var budgets: LinkBudgets { LinkBudgets(share: share, unsent: unsent, unfinished: unfinished) }

  /// The number of links of any kind, including those of strangers.
  package var count: Int { entries.count }
  package var all: [PeerLink] { entries.values.map(\.link) }
  package var ofPeers: [PeerLink] { Array(linkOfPeer.values) }

  package subscript(_ peer: PeerId) -> PeerLink? { linkOfPeer[peer] }

  package func entry(of peer: PeerId) -> Entry? { linkOfPeer[peer].flatMap { entries[ObjectIdentifier($0)] } }

  package func entry(of link: PeerLink) -> Entry? { entries[ObjectIdentifier(link)] }

  package func link(_ id: ObjectIdentifier) -> PeerLink? { entries[id]?.link }

  /// Whether a link is the current one of its peer.
  package func isCurrent(_ link: PeerLink) -> Bool { link.peer.flatMap { linkOfPeer[$0] } === link }

  package func add(_ link: PeerLink, at address: PeerAddress, for attempt: LinkAttempt?) {
    entries[ObjectIdentifier(link)] = Entry(link: link, address: address, attempt: attempt)
  }

  /// The attempt that made the link; nil from the second call on.
  package func takeAttempt(of link: PeerLink) -> LinkAttempt? {
    defer { entries[ObjectIdentifier(link)]?.attempt = nil }
    return entries[ObjectIdentifier(link)]?.attempt
  }

  /// Makes this the current link of the peer; with nil, the peer has none.
  package func setCurrent(_ link: PeerLink?, for peer: PeerId) { linkOfPeer[peer] = link }

  /// Returns nil if the link was removed before.
  package func remove(_ link: PeerLink) -> Entry? { entries.removeValue(forKey: ObjectIdentifier(link)) }

  /// The incoming links of strangers, and of peers that are not identified yet.
  package func strangers(isAwaited: (PeerId) -> Bool) -> [StrangerLinks.Link] {
    entries.values.filter { !$0.link.isTrusted && $0.link.direction == .incoming }.map { entry in
      StrangerLinks.Link(
        id: ObjectIdentifier(entry.link), host: entry.address.host, openedAt: entry.link.openedAt,
        isAwaited: entry.link.peer.map { isAwaited($0) } ?? false)
    }
  }
}
