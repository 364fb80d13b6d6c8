import AutomergeRepo
import Foundation
import PeerTransport

/// Where peers can reach us, and which of them are nearby: listening, the announcement on the local network, and
/// changes of this machine's network.
@AutomergeRepo
final class Reachability {
  private let provider: TCPProvider
  private let registry: PeerRegistry
  private let links: LinkKeeper
  private let news: PeerNews
  private let store: PeerStore
  /// For pauses.
  private var random: RandomSource
  private var wakeWatch = WakeWatch()
  /// Nil unless `watchNetwork` was called.
  private var networkWatch: NetworkWatch?
  /// Nil unless `startDiscovery` was called.
  private(set) var discovery: MulticastDiscovery?
  /// Why peers cannot reach us; nil when they can.
  private(set) var listenProblem: PeerNetworkError?

  init(
    _ provider: TCPProvider, _ registry: PeerRegistry, _ links: LinkKeeper, _ news: PeerNews, _ store: PeerStore,
    random: RandomSource
  ) {
    (self.provider, self.registry, self.links, self.news) = (provider, registry, links, news)
    (self.store, self.random) = (store, random)
  }

  private var network: any PeerMessaging { registry.network }
  private var clock: any RepoClock { network.clock }

  // MARK: Listening

  /// Listens on `HOST:PORT`. Port 0 means the last run's port if it is free, so that peers find us again; otherwise
  /// any.
  func listen(at text: String) async throws(PeerNetworkError) -> PeerAddress {
    do throws(PeerNetworkError) {
      guard let address = PeerAddress(text) else { throw .badAddress(text) }
      let actual = try await listen(at: address)
      listenProblem = nil
      announce()
      news.tell(.networkState)
      return actual
    } catch {
      listenProblem = error
      news.tell(.networkState)
      throw error
    }
  }

  private func listen(at address: PeerAddress) async throws(PeerNetworkError) -> PeerAddress {
    guard address.port == 0 else { return try provider.listen(at: address) }
    let record = try? await store.storage.record(at: ["network"])
    let last = (record ?? nil)?["port"]?.integer.flatMap { UInt16(exactly: $0) }
    if let last, let actual = try? provider.listen(at: PeerAddress(host: address.host, port: last)) { return actual }
    let actual = try provider.listen(at: address)
    store.keepSoon { storage throws(StorageError) in
      try await storage.saveRecord(.record(["port": .integer(Int(actual.port))]), at: ["network"])
    }
    return actual
  }

  // MARK: Discovery

  /// Announces us on the local network, at our listening port, and looks for peers there.
  func startDiscovery() {
    guard discovery == nil else { return }
    let discovery = MulticastDiscovery(loop: provider.loop, clock: clock, announcement: announcement)
    discovery.onChange = { [weak self] change in self?.discovered(change) }
    self.discovery = discovery
    discovery.start()
  }

  /// Watches this machine's network from now on.
  func watchNetwork() {
    guard networkWatch == nil else { return }
    networkWatch = NetworkWatch(loop: provider.loop, clock: clock) { [weak self] change in
      guard let self else { return }
      switch change {
      case .addresses:
        // Peers may have become reachable, or unreachable.
        self.provider.addressesChanged()
        self.discovery?.addressesChanged()
        self.news.tell(.networkState)
      case .other: self.provider.networkImproved()
      }
    }
  }

  /// Withdraws the announcement and stops looking, until discovery is started again.
  func hide() {
    guard let discovery else { return }
    discovery.stop()
    self.discovery = nil
    news.tell(.networkState)
  }

  /// Withdraws the announcement and stops looking.
  func stop() {
    discovery?.stop()
    discovery = nil
    networkWatch?.stop()
    networkWatch = nil
  }

  private var announcement: Announcement {
    Announcement(peer: network.peerId, name: network.metadata.name ?? "", port: provider.listening?.port ?? 0)
  }

  /// Call when our name or port has changed.
  func announce() { discovery?.update(announcement) }

  /// Applies a change that discovery reports. A peer with which something is shared is called, but not by all peers at
  /// the same moment.
  func discovered(_ change: NearbyPeers.Change) {
    let pause = Duration.milliseconds(Int.random(in: 50...500, using: &random))
    switch change {
    case .appeared(let peer):
      let isNew = registry.heard(peer)
      links.heard(peer.peer, callingAfter: pause)
      if isNew { news.tell(.nearby(peer.peer, name: registry.name(of: peer.peer)), ofArrivalOf: peer.peer) }
      news.warnOfNamesake(peer.peer)
    case .changed(let peer):
      let oldName = registry.name(of: peer.peer)
      _ = registry.heard(peer)
      links.heard(peer.peer, callingAfter: pause)
      links.movedPerhaps(peer)
      let name = registry.name(of: peer.peer)
      if oldName != name { news.tell(.networkState, ofArrivalOf: peer.peer) }
    case .vanished(let peer, _):
      let name = registry.name(of: peer)
      guard registry.lost(peer) else { return }
      news.tell(.gone(peer, name: name), ofArrivalOf: peer)
    }
  }

  // MARK: Sleep

  /// Notices from now on that the machine has slept.
  func watchForSleep() {
    if wakeWatch.look(now: clock.now, secondsSince1970: clock.date.timeIntervalSince1970) {
      store.logger.info("The machine has slept, or its clock was set.")
      provider.woke()
    }
    _ = clock.schedule(after: WakeWatch.interval) { [weak self] in self?.watchForSleep() }
  }
}
