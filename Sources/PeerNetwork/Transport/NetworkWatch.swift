import AutomergeRepo
import UV

/// Notices when this machine's network changes: from the system's messages if there are any, otherwise by polling the
/// addresses.
///
/// Works without discovery: peers that were out of reach are called at once, however they are found.
@AutomergeRepo
final class NetworkWatch {
  enum Change {
    /// The machine's addresses have changed.
    case addresses
    /// Something else may be different: a route, a network whose addresses are the same.
    case other
  }

  /// How long after a message of the system the addresses are examined.
  static let settlingTime: Duration = .milliseconds(100)
  /// How often the addresses are examined if the system sends no messages.
  static let checkPause: Duration = .seconds(3)

  private let loop: Loop
  private let clock: any RepoClock
  private let onChange: @AutomergeRepo (Change) -> Void
  private var addresses: Set<NetworkInterface>
  private var monitor: AddressMonitor?
  private var settling: (any ScheduledAction)?
  private var check: (any ScheduledAction)?
  private var isRunning = true

  /// Watches until `stop`.
  init(loop: Loop, clock: any RepoClock, onChange: @escaping @AutomergeRepo (Change) -> Void) {
    (self.loop, self.clock, self.onChange) = (loop, clock, onChange)
    addresses = Set(NetworkInterface.reachable)
    // One change arrives as several messages.
    monitor = AddressMonitor(on: loop) { [weak self] in
      AutomergeRepo.assumeIsolated { self?.noticed() }
    }
    look()
  }

  func stop() {
    isRunning = false
    settling?.cancel()
    check?.cancel()
    monitor?.close()
    monitor = nil
  }

  private func noticed() {
    guard isRunning, settling == nil else { return }
    settling = clock.schedule(after: Self.settlingTime) { [weak self] in
      guard let self, self.isRunning else { return }
      self.settling = nil
      self.onChange(self.haveAddressesChanged() ? .addresses : .other)
    }
  }

  private func look() {
    check = clock.schedule(after: Self.checkPause) { [weak self] in
      guard let self, self.isRunning else { return }
      if self.haveAddressesChanged() { self.onChange(.addresses) }
      self.look()
    }
  }

  private func haveAddressesChanged() -> Bool {
    let now = Set(NetworkInterface.reachable)
    defer { addresses = now }
    return now != addresses
  }
}

extension NetworkInterface {
  /// The interfaces that others can reach; if there are none, those within this machine.
  static var reachable: [NetworkInterface] {
    // A link-local address of IPv6 is used only if there is nothing better: it comes and goes while a network is set
    // up.
    let everything = NetworkInterface.all
    let all = everything.filter { entry in
      !entry.address.host.hasPrefix("fe80:")
        || !everything.contains { $0.name == entry.name && !$0.address.host.hasPrefix("fe80:") }
    }
    let external = all.filter { !$0.isInternal }
    return external.isEmpty ? all : external
  }
}
