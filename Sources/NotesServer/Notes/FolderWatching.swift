import AutomergeRepo

/// Reports what other programs do in folders.
@AutomergeRepo
public protocol FolderWatching: AnyObject {
  /// Calls `onChange` with the name of each file that is created, written or renamed in the folder, until the result is
  /// released. Nil if the folder cannot be watched.
  func watch(_ folder: String, onChange: @escaping @AutomergeRepo (String) -> Void) -> (any FolderWatch)?
}

/// Watches a folder while this object lives.
public protocol FolderWatch: AnyObject {}
