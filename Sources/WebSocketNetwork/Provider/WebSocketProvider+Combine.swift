#if canImport(Combine)
  import AutomergeRepo
  import Combine

  extension WebSocketProvider {
    /// `serverStateUpdates()` as a publisher.
    public nonisolated var statePublisher: AnyPublisher<[WebSocketURL: WebSocketServerState], Never> {
      SequencePublisher { [weak self] in await self?.serverStateUpdates() }.eraseToAnyPublisher()
    }
  }
#endif
