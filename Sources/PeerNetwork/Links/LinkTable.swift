import AutomergeRepo

/// The links of a provider, and which one counts for each peer; with what all of them share.
@AutomergeRepo
final class LinkTable {
  struct Entry {
    let link: PeerLink
    /// The other end's.
    let address: PeerAddress
    /// Waits for the outcome of the call that made the link.
    var attempt: TCPProvider.Attempt?
  }

  private(set) lazy var unfinished = UnfinishedFrames { [weak self] in self?.all ?? [] }
  private(set) lazy var unsent = UnsentBytes { [weak self] in self?.all ?? [] }
  private let share: WorkShare
  private var entries: [ObjectIdentifier: Entry] = [:]
  private var linkOfPeer: [PeerId: PeerLink] = [:]

  /// - Parameter clock: real time, of which the links have a share.
  init(clock: any RepoClock) { share = WorkShare(clock: clock) }

  var budgets: LinkBudgets { LinkBudgets(share: share, unsent: unsent, unfinished: unfinished) }

  /// Links of any kind, those of strangers included.
  var count: Int { entries.count }
  var all: [PeerLink] { entries.values.map(\.link) }
  var ofPeers: [PeerLink] { Array(linkOfPeer.values) }

  subscript(_ peer: PeerId) -> PeerLink? { linkOfPeer[peer] }

  func entry(of peer: PeerId) -> Entry? { linkOfPeer[peer].flatMap { entries[ObjectIdentifier($0)] } }

  func entry(of link: PeerLink) -> Entry? { entries[ObjectIdentifier(link)] }

  func link(_ id: ObjectIdentifier) -> PeerLink? { entries[id]?.link }

  /// Whether a link is the one that counts for its peer.
  func isCurrent(_ link: PeerLink) -> Bool { link.peer.flatMap { linkOfPeer[$0] } === link }

  func add(_ link: PeerLink, at address: PeerAddress, for attempt: TCPProvider.Attempt?) {
    entries[ObjectIdentifier(link)] = Entry(link: link, address: address, attempt: attempt)
  }

  /// The attempt that made the link, the first time.
  func takeAttempt(of link: PeerLink) -> TCPProvider.Attempt? {
    defer { entries[ObjectIdentifier(link)]?.attempt = nil }
    return entries[ObjectIdentifier(link)]?.attempt
  }

  /// From now on this link counts for the peer; nil for none.
  func setCurrent(_ link: PeerLink?, for peer: PeerId) { linkOfPeer[peer] = link }

  /// Nil if the link has been removed before.
  func remove(_ link: PeerLink) -> Entry? { entries.removeValue(forKey: ObjectIdentifier(link)) }

  /// The incoming links of strangers, and of peers that are not identified yet.
  func strangers(isAwaited: LinkPolicy.Question) -> [StrangerLinks.Link] {
    entries.values.filter { !$0.link.isTrusted && $0.link.direction == .incoming }.map { entry in
      StrangerLinks.Link(
        id: ObjectIdentifier(entry.link), host: entry.address.host, openedAt: entry.link.openedAt,
        isAwaited: entry.link.peer.map { isAwaited($0) } ?? false)
    }
  }
}
