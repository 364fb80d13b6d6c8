import AutomergeRepo

/// Decides which news about peers the person sees, and how often.
@AutomergeRepo
final class PeerNews {
  private let registry: PeerRegistry
  private let clock: any RepoClock
  private var arrivals = ArrivalLimit()
  var onEvent: (@AutomergeRepo (SharingEvent) -> Void)?

  init(_ registry: PeerRegistry, clock: any RepoClock) { (self.registry, self.clock) = (registry, clock) }

  func tell(_ event: SharingEvent) { onEvent?(event) }

  /// Reports that a peer connected or left, if this person has met it and has not seen too many such reports. Lists of
  /// people are refreshed in any case.
  func tell(_ event: SharingEvent, ofArrivalOf peer: PeerId) {
    guard !registry.isBlocked(peer) else { return }
    if registry.hasMet(peer), arrivals.allows(peer, at: clock.now) {
      tell(event)
    } else if arrivals.beginPause() {
      _ = clock.schedule(after: ArrivalLimit.pause) { [weak self] in
        self?.arrivals.endPause()
        self?.tell(.peersChanged)
      }
    }
  }

  /// Warns when a peer that was not met uses the name of one that was.
  func warnOfNamesake(_ peer: PeerId) {
    guard let owner = registry.namesake(of: peer), arrivals.allowsWarning(of: owner, at: clock.now) else { return }
    tell(.namesake(peer, name: registry.name(of: owner)))
  }
}
