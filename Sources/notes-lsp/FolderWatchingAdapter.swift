import AutomergeRepo
import Foundation
import NotesServer
import UV

/// The loop's folder watchers in the form that the server needs.
@AutomergeRepo
final class FolderWatchingAdapter: FolderWatching {
  private let loop: Loop

  init(loop: Loop) { self.loop = loop }

  func watch(_ folder: String, onChange: @escaping @AutomergeRepo (String) -> Void) -> (any FolderWatch)? {
    let watcher = try? FolderWatcher(on: loop, folder: folder) { name in
      guard let name else { return }
      AutomergeRepo.assumeIsolated { onChange(name) }
    }
    return watcher.map(Watch.init)
  }

  func target(ofLink path: String) -> String? {
    var info = stat()
    guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFLNK, let target = realpath(path, nil) else {
      return nil
    }
    defer { free(target) }
    return String(validatingCString: target)
  }

  /// Closes the watcher when it is released.
  @AutomergeRepo
  private final class Watch: FolderWatch {
    private let watcher: FolderWatcher

    init(_ watcher: FolderWatcher) { self.watcher = watcher }

    isolated deinit { watcher.close() }
  }
}
