import Automerge
import Foundation

/// Why a repo has no such document, or refused one.
public enum RepoError: Error, Hashable, Sendable {
  /// A document with this id is already in the repo: in memory, or in the store.
  case alreadyExists(DocumentId)
  /// The document is not here, and no peer that we may ask has it.
  case unavailable(DocumentId)
  /// The document was deleted here. `undelete` allows it again.
  case deleted(DocumentId)
  /// The store, or a peer that was asked, has not answered yet.
  case timedOut(DocumentId)
  /// The store could not be read.
  case storage(StorageError)
  /// The bytes are not an Automerge document; `reason` says why.
  case notADocument(reason: String)
  /// The document has no such version: one of its heads is not here.
  case unknownVersion(DocumentId)
  /// The repo was shut down.
  case stopped
}

extension RepoError: LocalizedError, CustomStringConvertible {
  /// One sentence that can be shown to a person.
  public var description: String {
    switch self {
    case .alreadyExists(let id): "There is already a document \(id)."
    case .unavailable(let id): "No peer has the document \(id)."
    case .deleted(let id): "The document \(id) was deleted here."
    case .timedOut(let id): "The search for the document \(id) has not been answered in time."
    case .storage(let error): "The store cannot be used: \(error)."
    case .notADocument(let reason): "The bytes are not an Automerge document: \(reason)."
    case .unknownVersion(let id): "The document \(id) has no such version here."
    case .stopped: "The repo was shut down."
    }
  }

  public var errorDescription: String? { description }
}
