import AutomergeRepo

/// Reports what other programs do in folders.
@AutomergeRepo
public protocol FolderWatching: AnyObject {
  /// Calls `onChange` with the name of each file that is created, written or renamed in the folder, until the result is
  /// released. Nil if the folder cannot be watched.
  func watch(_ folder: String, onChange: @escaping @AutomergeRepo (String) -> Void) -> (any FolderWatch)?
  /// The file that a symbolic link at this path leads to, by its real path; nil if there is no link, or no such file.
  func target(ofLink path: String) -> String?
}

/// Folders without symbolic links.
extension FolderWatching {
  public func target(ofLink path: String) -> String? { nil }
}

/// Watches a folder while this object lives.
public protocol FolderWatch: AnyObject {}
