import AutomergeRepo
import Foundation
import JSONRPC
import NotesHarness
import NotesServer
import RepoTestSupport

/// A person with a disk and some services, one of which is the hub of the others, and one of which has the network.
@AutomergeRepo
final class SimulatedPerson {
  let name: String
  let key: [UInt8]
  let clock: MachineClock
  let disk: SimulatedDisk
  let siblingNetwork: SimulatedNetwork
  private let network: SimulatedNetwork
  private(set) var services: [SimulatedService] = []
  /// Whether a service has ended before any other had found it: the next one finds what it left.
  private(set) var hasLeftovers = false
  /// Whether the services find each other. Until then the disk alone tells them of each other.
  var areLinked = true
  /// The texts with which this person's editors have closed buffers.
  var closedTexts: [String] = []
  /// Called when a service tells its editor that everything in the note is stored, before the text can change again.
  var onStored: (SimulatedService) -> Void = { _ in }
  private var count = 0

  init(_ name: String, _ network: SimulatedNetwork, clock: ManualClock, random: inout RandomSource) {
    (self.name, self.network) = (name, network)
    key = random.bytes(8)
    self.clock = MachineClock(clock)
    disk = SimulatedDisk(clock: self.clock)
    siblingNetwork = SimulatedNetwork(
      clock: self.clock, random: RandomSource(SplitMix64(seed: random.next())), longestDelay: .milliseconds(3))
  }

  func start(random: inout RandomSource) -> SimulatedService {
    count += 1
    let service = SimulatedService(self, number: count, random: &random)
    services.append(service)
    hasLeftovers = false
    return service
  }

  func crash(_ service: SimulatedService) {
    hasLeftovers = hasLeftovers || service.repo.siblings.isEmpty && services.count > 1
    siblingNetwork.disconnectAll(of: service.name)
    if service.sharing.hasNetwork { network.disconnectAll(of: PeerId(name)) }
    service.crash()
    services.removeAll { $0 === service }
  }

  /// What the processes of a person do at intervals: elect a hub, connect to it, and take over the network.
  func tidy() {
    guard let hub = services.first else { return }
    hub.service.becameHub()
    guard areLinked else { return }
    for other in services.dropFirst() where other.isToBeFound { siblingNetwork.connect(hub.name, other.name) }
    // A service takes over the network once it has loaded.
    guard !services.contains(where: \.sharing.hasNetwork), let heir = services.first(where: \.isLoaded) else { return }
    heir.repo.add(network.provider())
    heir.sharing.tookNetwork()
  }

  var hasNetwork: Bool { services.contains(where: \.sharing.hasNetwork) }
}
