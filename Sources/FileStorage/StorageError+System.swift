import AutomergeRepo
import Foundation

extension StorageError {
  /// What an `errno` means for a store.
  package init(operation: String, code: Int32) {
    self =
      switch code {
      case ENOSPC, EDQUOT: .full
      case EACCES, EPERM, EROFS: .notPermitted
      default: .failed(operation: operation, code: code)
      }
  }
}
