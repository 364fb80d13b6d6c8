import AutomergeRepo
internal import CAvahi
import Foundation
import Logging
import UV

/// Finds peers on the local network and lets them find us: DNS-SD over multicast DNS, in this process.
///
///     off ──start──► looking ──stop──► off
///                      │ ▲ no socket to be had, or the responder failed: again after a while
///                      └─┘
///
/// It needs no daemon and works beside one: it has a host name and address records of its own.
@AutomergeRepo
public final class MulticastDiscovery {
  /// The pause before a responder that could not start is tried again.
  static let retryPause: Duration = .seconds(20)
  private static let maximumResolvers = 512
  // Avahi's macros import as `Int`.
  private static let anyInterface = AvahiIfIndex(AVAHI_IF_UNSPEC)
  private static let anyProtocol = AvahiProtocol(AVAHI_PROTO_UNSPEC)

  /// Called for each change among the peers nearby.
  public var onChange: (@AutomergeRepo (NearbyPeers.Change) -> Void)?
  /// Why discovery finds no peers, in words for a person; nil if it works.
  public private(set) var problem: String?
  public private(set) var nearby: NearbyPeers

  let logger: Logger
  private let clock: any RepoClock
  private var announcement: Announcement
  private let avahiLoop: AvahiLoop
  // Avahi's objects. `server` owns all of them and frees them, in `close` and nowhere else, except for resolvers, which
  // are freed one by one when their service is gone.
  private var server: OpaquePointer?
  private var group: OpaquePointer?
  private var browser: OpaquePointer?
  private var resolvers: [NearbyPeers.Source: OpaquePointer] = [:]
  private var addresses: Set<NetworkInterface> = []
  private var timer: (any ScheduledAction)?
  private var isRunning = false

  public init(
    loop: Loop, clock: any RepoClock, announcement: Announcement, logger: Logger = Logger(label: "discovery")
  ) {
    (self.clock, self.announcement, self.logger) = (clock, announcement, logger)
    avahiLoop = AvahiLoop(loop)
    nearby = NearbyPeers(local: announcement.peer)
  }

  /// Announces and looks from now on, until `stop`. The object must live until then.
  public func start() {
    guard !isRunning else { return }
    isRunning = true
    AvahiLog.connect()
    open()
  }

  /// Says goodbye to the others and forgets them.
  public func stop() {
    guard isRunning else { return }
    isRunning = false
    timer?.cancel()
    close()
  }

  /// Call when the name or the port has changed.
  public func update(_ announcement: Announcement) {
    guard announcement != self.announcement else { return }
    self.announcement = announcement
    if let server, avahi_server_get_state(server) == AVAHI_SERVER_RUNNING { publish(on: server) }
  }

  // MARK: The responder

  private func open() {
    var configuration = AvahiServerConfig()
    avahi_server_config_init(&configuration)
    defer { avahi_server_config_free(&configuration) }
    configuration.host_name = avahi_strdup(announcement.label)
    // Beside a daemon, both would own the same reverse records and rename each other forever.
    configuration.publish_addresses = 0
    configuration.publish_hinfo = 0
    configuration.publish_workstation = 0
    configuration.publish_domain = 0
    configuration.add_service_cookie = 0
    configuration.enable_wide_area = 0
    var code: Int32 = 0
    server = avahi_server_new(
      avahiLoop.api, &configuration,
      { server, state, context in
        nonisolated(unsafe) let server = server
        MulticastDiscovery.enter(context) { $0.serverChanged(server, state) }
      }, Unmanaged.passUnretained(self).toOpaque(), &code)
    guard let server else {
      return fail(
        code == AVAHI_ERR_NO_NETWORK
          ? "no peer nearby can be found: another program has UDP port 5353 to itself, or there is no network"
          : "looking for peers nearby does not work: \(MulticastDiscovery.text(code))")
    }
    browse(on: server)
  }

  private func close() {
    group = nil
    browser = nil
    resolvers.removeAll()
    if let server { avahi_server_free(server) }
    server = nil
    for change in nearby.loseAll() { onChange?(change) }
  }

  /// Not inside a callback of avahi, which would use freed memory afterwards.
  private func fail(_ reason: String) {
    problem = reason
    logger.notice("\(reason)")
    timer?.cancel()
    timer = clock.schedule(after: .zero) { [weak self] in
      guard let self, self.isRunning else { return }
      self.close()
      self.timer = self.clock.schedule(after: Self.retryPause) { [weak self] in
        if let self, self.isRunning { self.open() }
      }
    }
  }

  private func serverChanged(_ server: OpaquePointer?, _ state: AvahiServerState) {
    guard let server else { return }
    switch state {
    case AVAHI_SERVER_RUNNING: publish(on: server)
    case AVAHI_SERVER_COLLISION:
      guard let name = avahi_alternative_host_name(avahi_server_get_host_name(server)) else { return }
      avahi_server_set_host_name(server, name)
      avahi_free(name)
    case AVAHI_SERVER_FAILURE:
      fail("looking for peers nearby has failed: \(MulticastDiscovery.text(avahi_server_errno(server)))")
    default: break
    }
  }

  /// Call when the machine's addresses have changed: announces the new ones.
  func addressesChanged() {
    guard isRunning, let server, Set(NetworkInterface.reachable) != addresses else { return }
    if avahi_server_get_state(server) == AVAHI_SERVER_RUNNING { publish(on: server) }
  }

  // MARK: Announcing

  private func publish(on server: OpaquePointer) {
    let usable = NetworkInterface.reachable
    addresses = Set(usable)
    problem = usable.contains { !$0.isInternal } ? nil : "there is no network: only peers on this machine are found"
    guard announcement.port != 0 else { return }
    if let group {
      avahi_s_entry_group_reset(group)
    } else {
      group = avahi_s_entry_group_new(
        server,
        { _, _, state, context in
          if state == AVAHI_ENTRY_GROUP_COLLISION || state == AVAHI_ENTRY_GROUP_FAILURE {
            MulticastDiscovery.enter(context) { $0.notAnnounced() }
          }
        }, Unmanaged.passUnretained(self).toOpaque())
    }
    guard let group else { return notAnnounced() }
    // Announces each address only on its own network: elsewhere it would lead nowhere, or to another machine.
    for interface in usable {
      var address = AvahiAddress()
      guard avahi_address_parse(interface.address.host, Self.anyProtocol, &address) != nil else {
        continue
      }
      avahi_server_add_address(
        server, group, Int32(if_nametoindex(interface.name)), Self.anyProtocol, AVAHI_PUBLISH_NO_REVERSE,
        nil,
        &address)
    }
    var texts: UnsafeMutablePointer<AvahiStringList>?
    for (key, value) in announcement.texts { texts = avahi_string_list_add_pair(texts, key, value) }
    defer { avahi_string_list_free(texts) }
    let status = avahi_server_add_service_strlst(
      server, group, Self.anyInterface, Self.anyProtocol, AvahiPublishFlags(0),
      announcement.label,
      announcement.service, nil, nil, announcement.port, texts)
    guard status >= 0, avahi_s_entry_group_commit(group) >= 0 else { return notAnnounced() }
  }

  private func notAnnounced() {
    problem = "peers nearby cannot find us: another program announces itself with our name"
    logger.notice("\(problem ?? "")")
  }

  // MARK: Looking

  private func browse(on server: OpaquePointer) {
    browser = avahi_s_service_browser_new(
      server, Self.anyInterface, Self.anyProtocol, announcement.service, nil,
      AvahiLookupFlags(0),
      { _, interface, networkProtocol, event, name, _, _, _, context in
        guard let name else { return }
        let source = NearbyPeers.Source(
          interface: interface, networkProtocol: networkProtocol, service: String(cString: name))
        MulticastDiscovery.enter(context) { discovery in
          switch event {
          case AVAHI_BROWSER_NEW: discovery.resolve(source)
          case AVAHI_BROWSER_REMOVE: discovery.lost(source)
          default: break
          }
        }
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func resolve(_ source: NearbyPeers.Source) {
    guard let server, resolvers[source] == nil, resolvers.count < Self.maximumResolvers,
      source.service != announcement.label
    else { return }
    resolvers[source] = avahi_s_service_resolver_new(
      server, source.interface, source.networkProtocol, source.service, announcement.service, nil,
      Self.anyProtocol, AvahiLookupFlags(0),
      { _, interface, networkProtocol, event, name, _, _, _, address, port, texts, _, context in
        guard let name else { return }
        let source = NearbyPeers.Source(
          interface: interface, networkProtocol: networkProtocol, service: String(cString: name))
        guard event == AVAHI_RESOLVER_FOUND, let address else {
          return MulticastDiscovery.enter(context) { $0.notResolved(source) }
        }
        let host = AvahiText.host(of: address.pointee, interface: interface)
        let pairs = AvahiText.pairs(in: texts)
        MulticastDiscovery.enter(context) { $0.resolved(source, at: host, port: port, texts: pairs) }
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func resolved(_ source: NearbyPeers.Source, at host: String, port: UInt16, texts: [String: String]) {
    for change in nearby.hear(Announcement(texts: texts, port: port), at: host, from: source) { report(change) }
  }

  /// The service exists but its host did not answer. Asks again, because packets get lost.
  private func notResolved(_ source: NearbyPeers.Source) {
    report(nearby.lose(source))
    if let resolver = resolvers.removeValue(forKey: source) { avahi_s_service_resolver_free(resolver) }
    resolve(source)
  }

  private func lost(_ source: NearbyPeers.Source) {
    if let resolver = resolvers.removeValue(forKey: source) { avahi_s_service_resolver_free(resolver) }
    report(nearby.lose(source))
  }

  /// In a turn of its own, because the receiver may stop us.
  private func report(_ change: NearbyPeers.Change?) {
    guard let change else { return }
    _ = clock.schedule(after: .zero) { [weak self] in self?.onChange?(change) }
  }

  /// Avahi calls back on the loop's thread, which is where the actor lives.
  private nonisolated static func enter(
    _ context: UnsafeMutableRawPointer?, _ body: @AutomergeRepo (MulticastDiscovery) -> Void
  ) {
    guard let context else { return }
    let discovery = Unmanaged<MulticastDiscovery>.fromOpaque(context).takeUnretainedValue()
    AutomergeRepo.assumeIsolated { body(discovery) }
  }

  private static func text(_ code: Int32) -> String { avahi_strerror(code).map { String(cString: $0) } ?? "\(code)" }
}
