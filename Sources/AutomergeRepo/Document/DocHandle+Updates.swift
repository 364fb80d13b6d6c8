import Automerge

/// A document's status and messages as sequences.
extension DocHandle {
  /// The document's present status.
  /// - Complexity: O(n) in the peers
  public var status: DocumentStatus {
    let peers = Set(peers)
    return DocumentStatus(
      heads: currentHeads, isStored: isStored, storageProblem: storageProblem, peers: peers,
      peersInSync: peers.filter { inSync(with: $0) }, refusedBy: peers.filter { isRefused(by: $0) },
      isDeleted: membership.isDeleted)
  }

  /// The status now, and again whenever something in it may have changed, until the document is deleted or released,
  /// or the repo is shut down. A
  /// slow reader misses values in between, but never the last one. `Document.updates()` reports changes of the content
  /// alone.
  public func statusUpdates() -> AsyncStream<DocumentStatus> {
    observers.stream(.bufferingNewest(1), first: status) { [weak self] event in
      switch event {
      case .headsChanged, .peersChanged, .storageChanged, .discarded, .deleted: self?.status
      case .textEdits, .ephemeral, .refusedChanges, .forgedChanges, .preparingToDiscard, .discarding: nil
      }
    }
  }

  /// The peers' ephemeral messages from now on, each once, until the document is deleted or the repo is shut down. A reader
  /// that falls behind by more than 1024 misses the oldest.
  public func ephemeralMessages() -> AsyncStream<RepoMessage.EphemeralMessage> {
    observers.stream(.bufferingNewest(1024)) { event in
      if case .ephemeral(let message, _) = event { message } else { nil }
    }
  }
}
