import AutomergeRepo

/// Tells what other programs do in folders.
@AutomergeRepo
public protocol FolderWatching: AnyObject {
  /// Calls `onChange` with the name of whatever is made, written or renamed in the folder, for as long as the result is
  /// kept. Nil if the folder cannot be watched.
  func watch(_ folder: String, onChange: @escaping @AutomergeRepo (String) -> Void) -> (any FolderWatch)?
}

/// A folder is watched as long as this object lives.
public protocol FolderWatch: AnyObject {}
