import AutomergeRepo
import NotesServer

/// Reports to one process what others write to the working files.
@AutomergeRepo
final class SimulatedFolders: FolderWatching {
  private let process: SimulatedProcess

  init(_ process: SimulatedProcess) { self.process = process }

  func watch(_ folder: String, onChange: @escaping @AutomergeRepo (String) -> Void) -> (any FolderWatch)? {
    let number = process.disk.watch(folder) { [weak process] name in if process?.isAlive ?? false { onChange(name) } }
    return Watch(number, process.disk)
  }

  @AutomergeRepo
  private final class Watch: FolderWatch {
    private let number: Int
    private let disk: SimulatedDisk

    init(_ number: Int, _ disk: SimulatedDisk) { (self.number, self.disk) = (number, disk) }

    isolated deinit { disk.endWatch(number) }
  }
}
