/// The outcome of looking for a document.
public enum FindOutcome: Sendable {
  case found(DocHandle)
  /// The document is not here, and no peer that we may ask has it.
  case unavailable
  /// The document was deleted here.
  case deleted
  /// The store, or a peer that was asked, has not answered yet.
  case timedOut
  /// The store could not be read, so nothing is known.
  case failed(StorageError)
  /// The repo was shut down.
  case stopped

  /// Returns the document, or throws why there is none.
  func handle(of id: DocumentId) throws(RepoError) -> DocHandle {
    switch self {
    case .found(let handle): return handle
    case .unavailable: throw .unavailable(id)
    case .deleted: throw .deleted(id)
    case .timedOut: throw .timedOut(id)
    case .failed(let error): throw .storage(error)
    case .stopped: throw .stopped
    }
  }
}
