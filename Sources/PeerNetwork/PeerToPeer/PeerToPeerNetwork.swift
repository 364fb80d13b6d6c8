import AutomergeRepo
import PeerTransport
import UV

/// The parts that a provider of nearby peers uses while it listens: the loop, connections, and discovery.
@AutomergeRepo
final class PeerToPeerNetwork {
  let tcp: TCPProvider
  let clock: LoopClock
  /// Called for each change among the peers nearby.
  var onChange: (@AutomergeRepo (NearbyPeers.Change) -> Void)?
  private let loop: Loop
  private let configuration: PeerToPeerProviderConfiguration
  private var discovery: MulticastDiscovery?
  /// What we say about ourselves.
  private var metadata = PeerMetadata()

  init(_ configuration: PeerToPeerProviderConfiguration, loop: Loop) throws(PeerToPeerError) {
    (self.configuration, self.loop, clock) = (configuration, loop, LoopClock(loop))
    do throws(TLSError) {
      tcp = try TCPProvider(
        loop: loop, clock: clock, identity: configuration.identity, logger: configuration.logger)
    } catch {
      throw .network(.insecure(error))
    }
  }

  /// The loop that all parts of the process share.
  static func loop() async throws(PeerToPeerError) -> Loop {
    do throws(UVError) {
      return try await AutomergeRepo.sharedLoop()
    } catch {
      throw .unavailable(reason: error.message)
    }
  }

  func start(as metadata: PeerMetadata, name: String, delegate: any NetworkDelegate) throws(PeerNetworkError) {
    self.metadata = metadata
    self.metadata.name = name
    tcp.start(as: LocalPeer(peerId: configuration.identity.peerId, metadata: self.metadata), delegate: delegate)
    do throws(PeerNetworkError) {
      try tcp.listen(at: configuration.address)
    } catch {
      tcp.stop()
      throw error
    }
    guard configuration.isDiscoverable else { return }
    let discovery = MulticastDiscovery(
      loop: loop, clock: clock, announcement: announcement(name), logger: configuration.logger)
    discovery.onChange = { [weak self] change in self?.onChange?(change) }
    discovery.start()
    self.discovery = discovery
  }

  private func announcement(_ name: String) -> Announcement {
    Announcement(
      peer: configuration.identity.peerId, name: name, port: tcp.listening?.port ?? 0, service: configuration.service)
  }

  func stop() {
    discovery?.stop()
    discovery = nil
    tcp.stop()
  }

  func update(name: String) {
    metadata.name = name
    tcp.update(metadata)
    discovery?.update(announcement(name))
  }

  /// The peers that announce themselves nearby, by name.
  var nearby: [NearbyPeers.Peer] { discovery?.nearby.peers ?? [] }

  func nearby(_ peer: PeerId) -> NearbyPeers.Peer? { discovery?.nearby[peer] }
}
