import AutomergeRepo
import Foundation
import NotesServer

/// Folders whose changes a test reports.
@AutomergeRepo
final class MemoryFolders: FolderWatching {
  private final class Watch: FolderWatch {}

  private var watches: [String: (watch: () -> Watch?, onChange: @AutomergeRepo (String) -> Void)] = [:]

  /// The folders that are watched now.
  var watched: [String] { watches.filter { $0.value.watch() != nil }.keys.sorted() }

  func watch(_ folder: String, onChange: @escaping @AutomergeRepo (String) -> Void) -> (any FolderWatch)? {
    let watch = Watch()
    watches[folder] = ({ [weak watch] in watch }, onChange)
    return watch
  }

  /// The system reports that this file was created, written or renamed.
  func changed(_ path: String) {
    let folder = (path as NSString).deletingLastPathComponent
    guard let found = watches[folder], found.watch() != nil else { return }
    found.onChange((path as NSString).lastPathComponent)
  }
}
