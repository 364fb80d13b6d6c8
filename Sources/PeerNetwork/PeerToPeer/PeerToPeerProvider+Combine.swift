#if canImport(Combine)
  import AutomergeRepo
  import Combine

  extension PeerToPeerProvider {
    /// `availablePeerUpdates()` as a publisher.
    public nonisolated var availablePeerPublisher: AnyPublisher<[AvailablePeer], Never> {
      SequencePublisher { [weak self] in await self?.availablePeerUpdates() }.eraseToAnyPublisher()
    }

    /// `connectionUpdates()` as a publisher.
    public nonisolated var connectionPublisher: AnyPublisher<[PeerConnectionInfo], Never> {
      SequencePublisher { [weak self] in await self?.connectionUpdates() }.eraseToAnyPublisher()
    }
  }
#endif
