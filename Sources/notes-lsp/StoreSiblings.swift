import AutomergeRepo
import PeerNetwork
import PeerTransport
import PostgresStorage
import UV

/// The other servers on one database: finds them, exchanges changes of the documents that both have open, and takes in
/// what they store.
@AutomergeRepo
final class StoreSiblings {
  private let news: StoreNews
  private let heartbeat: StoreHeartbeat
  private let siblings: StoreSiblingProvider

  /// - Parameter address: where the other servers connect; its port is chosen freely
  init(of store: PostgresStore, for repo: Repo, at address: PeerAddress, loop: Loop, clock: LoopClock) throws {
    siblings = try StoreSiblingProvider(loop: loop, clock: clock) { [weak repo] id in repo?.handle(of: id) != nil }
    repo.add(siblings)
    try siblings.listen(at: PeerAddress(host: address.host, port: 0))
    news = StoreNews(of: store, for: repo)
    heartbeat = StoreHeartbeat(
      of: store, addresses: siblings.addresses.map(\.description), key: siblings.key.description, clock: clock)
    heartbeat.onProcesses = { [siblings] processes in
      let known = processes.map { (PeerId($0.key), $0.addresses.compactMap { PeerAddress($0) }) }
      siblings.found(Dictionary(known) { first, _ in first })
    }
    siblings.onUnknown = { [weak heartbeat] in heartbeat?.beat() }
    heartbeat.start()
  }

  func stop() async {
    news.stop()
    siblings.stop()
    await heartbeat.stop()
  }
}
