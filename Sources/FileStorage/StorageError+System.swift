import AutomergeRepo
import Foundation

extension StorageError {
  /// Translates an `errno` into a storage error.
  package init(operation: String, code: Int32) {
    self =
      switch code {
      case ENOSPC, EDQUOT: .full
      case EACCES, EPERM, EROFS: .notPermitted
      default: .failed(operation: operation, code: code)
      }
  }
}
