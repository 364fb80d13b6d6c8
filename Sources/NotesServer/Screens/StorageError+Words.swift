import AutomergeRepo
import Foundation

extension StorageError {
  /// Why something is not stored, short enough for a status line.
  var words: String {
    switch self {
    case .notPermitted: "no permission for the store"
    case .busy: "the store is busy"
    case .unreachable: "the database cannot be reached"
    case .failed(_, EIO), .failed(_, 0): "disk error"
    case .failed(_, let code): String(cString: strerror(code))
    case .full, .newerVersion, .foreign, .invalidKey, .damaged, .deleted: description
    }
  }
}
