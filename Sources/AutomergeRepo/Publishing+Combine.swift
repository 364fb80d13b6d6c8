#if canImport(Combine)
  import Combine

  // The sequences of `Repo` and `DocHandle`, for programs that observe with Combine. A publisher keeps nothing alive.

  extension Repo {
    /// `peerUpdates()` as a publisher.
    public nonisolated var peerPublisher: AnyPublisher<[ConnectedPeer], Never> {
      SequencePublisher { [weak self] in await self?.peerUpdates() }.eraseToAnyPublisher()
    }

    /// `remoteHeadsUpdates()` as a publisher.
    public nonisolated var remoteHeadsPublisher: AnyPublisher<RemoteHeads, Never> {
      SequencePublisher { [weak self] in await self?.remoteHeadsUpdates() }.eraseToAnyPublisher()
    }
  }

  extension DocHandle {
    /// `statusUpdates()` as a publisher.
    public nonisolated var statusPublisher: AnyPublisher<DocumentStatus, Never> {
      SequencePublisher { [weak self] in await self?.statusUpdates() }.eraseToAnyPublisher()
    }

    /// `ephemeralMessages()` as a publisher.
    public nonisolated var ephemeralMessagePublisher: AnyPublisher<RepoMessage.EphemeralMessage, Never> {
      SequencePublisher { [weak self] in await self?.ephemeralMessages() }.eraseToAnyPublisher()
    }
  }
#endif
