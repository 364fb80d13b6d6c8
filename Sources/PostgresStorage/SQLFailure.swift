import AutomergeRepo
import Foundation

/// Why statements failed.
enum SQLFailure: Error, Equatable {
  /// The connection has ended; it is unknown whether the statements took effect.
  case lost(String)
  /// The server refused a statement, and nothing of its transaction is stored.
  case refused(state: String, message: String)

  /// Another transaction interfered; the same may succeed now. Source: PostgreSQL's appendix "Error Codes".
  var isTransient: Bool {
    guard case .refused(let state, _) = self else { return false }
    // Serialization failure, deadlock, lock not available, too many locks at once.
    return ["40001", "40P01", "55P03", "53200"].contains(state)
  }

  /// A later connection of ours took over the right to write. See `WriterClaim`.
  var isFenced: Bool {
    if case .refused(state: "22012", _) = self { true } else { false }
  }

  var storageError: StorageError {
    guard case .refused(let state, let message) = self else { return .unreachable(description) }
    switch state {
    case "53100": return .full
    // No privilege, or a read-only server or transaction.
    case "42501", "25006": return .notPermitted
    case _ where isTransient: return .busy
    default: return .failed(operation: message, code: EIO)
    }
  }
}

extension SQLFailure: CustomStringConvertible {
  var description: String {
    switch self {
    case .lost(let reason): reason
    case .refused(let state, let message): "\(message) (\(state))"
    }
  }
}
