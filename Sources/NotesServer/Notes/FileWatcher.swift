import AutomergeRepo
import Foundation
import Logging

/// Notices at once what other programs write to the working files.
///
/// An event only says where to look; the file's content decides: `WorkingFileSync` compares it with what the file
/// contained when it was last written, and merges the difference; if an editor has the note open here, `OpenFile` does
/// so. Files are read one at a time.
@AutomergeRepo
final class FileWatcher {
  /// How long after the last event the file is read: programs write in several steps.
  static let quietTime: Duration = .milliseconds(200)
  /// The most folders watched at a time; in further folders changes are only noticed later.
  static let maximumFolders = 256
  /// The most files that wait to be read if they are no note's: one of them may be a note's that was moved.
  private static let maximumUnknownFiles = 64

  private let environment: ServiceEnvironment
  private let openFiles: OpenFiles
  private let documentFiles: DocumentFiles
  private let fileSync: WorkingFileSync
  private let folders: any FolderWatching
  private var watches: [String: any FolderWatch] = [:]
  /// Working files that are symbolic links, by the files that they lead to.
  private var links: [String: String] = [:]
  private var planned: [String: any ScheduledAction] = [:]
  private var waiting: [String] = []
  private var work: Task<Void, Never>?
  private let log = Logger(label: "files")

  init(
    _ environment: ServiceEnvironment, _ openFiles: OpenFiles, _ documentFiles: DocumentFiles,
    _ fileSync: WorkingFileSync, _ folders: any FolderWatching
  ) {
    (self.environment, self.openFiles, self.fileSync, self.folders) = (environment, openFiles, fileSync, folders)
    self.documentFiles = documentFiles
  }

  /// Watches the folder of this working file from now on.
  ///
  /// - Parameter isOpen: whether an editor has the note open. Its folder is then watched beyond the limit, and so is the folder
  ///   of the file to which a symbolic link in its place leads: other programs write that file by its own name.
  func watch(path: String, isOpen: Bool = false) {
    watchFolder(of: path, isOpen: isOpen)
    if isOpen, let target = folders.target(ofLink: path) {
      links[target] = path
      watchFolder(of: target, isOpen: isOpen)
    }
  }

  private func watchFolder(of path: String, isOpen: Bool) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return }
    let folder = String(path[..<slash])
    guard watches[folder] == nil, isOpen || watches.count < Self.maximumFolders else { return }
    watches[folder] = folders.watch(folder) { [weak self] name in
      self?.changed((folder as NSString).appendingPathComponent(name))
    }
  }

  func changed(_ place: String) {
    let path = links[place] ?? place
    guard !documentFiles.changed(path) else { return }
    if let record = environment.notebook.record(atPath: path) {
      if openFiles.changed(record.key) { return }
    } else {
      guard MovedFiles.mayBeNote(path), planned.count < Self.maximumUnknownFiles else { return }
    }
    planned[path]?.cancel()
    planned[path] = environment.clock.schedule(after: Self.quietTime) { [weak self] in
      guard let self else { return }
      self.planned[path] = nil
      self.waiting.append(path)
      self.look()
    }
  }

  private func look() {
    guard work == nil else { return }
    work = Task { @AutomergeRepo [weak self] in
      while let self, !self.waiting.isEmpty { await self.takeIn(self.waiting.removeFirst()) }
      self?.work = nil
    }
  }

  private func takeIn(_ path: String) async {
    guard let record = environment.notebook.record(atPath: path) else { return await fileSync.movedFiles.found(path) }
    guard !environment.openNotes.contains(record.key) else { return }
    do {
      // A removed or renamed file is written again only when the note is opened or changed.
      guard try await environment.files.read(path) != nil,
        case .found(let handle) = await environment.repo.search(record.id)
      else {
        return
      }
      try await fileSync.synchronize(record.key, handle)
    } catch {
      log.warning("Another program's changes to \(path) could not be merged: \(error)")
    }
  }
}
