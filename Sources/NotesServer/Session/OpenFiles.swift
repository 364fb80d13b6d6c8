import Automerge
import AutomergeRepo

/// Synchronizes working files that no editor has open.
@AutomergeRepo
protocol WorkingFilePlanner: AnyObject {
  /// Keeps the files of the document up to date from now on.
  func watch(_ handle: DocHandle)
  /// Synchronizes this text of the document and its file a little later.
  func plan(_ handle: DocHandle, text: ObjId?)
}

/// The working files of the notes that the editor has open, or had open a moment ago.
@AutomergeRepo
final class OpenFiles {
  let environment: ServiceEnvironment
  let recoveredTexts: RecoveredTexts
  /// Takes over files that their editor has closed.
  weak var planner: (any WorkingFilePlanner)?
  private var files: [NoteKey: OpenFile] = [:]
  /// When the system last reported that a file was written, whether or not an editor had it open. The file's own date may be
  /// another calendar's: this machine's before it was set, or a file server's.
  private var reports: [NoteKey: Duration] = [:]

  init(_ environment: ServiceEnvironment, _ recoveredTexts: RecoveredTexts) {
    (self.environment, self.recoveredTexts) = (environment, recoveredTexts)
  }

  func open(_ binding: BufferBinding) -> OpenFile {
    if let file = files[binding.key], file.isShown {
      file.show(in: binding)
      return file
    }
    environment.forgetFile(binding.key)
    if let former = files[binding.key] { Task { await former.keepOverwritten() } }
    let file = OpenFile(binding, self)
    files[binding.key] = file
    return file
  }

  /// Call when this file may have been written. False if the note is not open here.
  func changed(_ key: NoteKey) -> Bool {
    reports[key] = environment.clock.now
    guard environment.openNotes.contains(key), let file = files[key] else { return false }
    file.changed()
    return true
  }

  /// How much longer than until this time a program may be writing to the file, by the reports of the system.
  func timeUntilQuiet(_ key: NoteKey, at time: Duration) -> Duration {
    reports[key].map { max(.zero, OpenFile.quietTime - (time - $0)) } ?? .zero
  }

  /// Returns when this file's content is known.
  func settle(_ key: NoteKey) async {
    await files[key]?.settle()
    // What the client wrote is compared with a file that is not finished yet.
    if !environment.openNotes.contains(key), files[key]?.isWaiting != true { files[key] = nil }
  }

  /// Returns when this file, which another program was writing, is complete.
  func settleUnfinished(_ key: NoteKey) async {
    for _ in 0..<Self.maximumLooks where isWaiting(key) {
      guard await environment.clock.pause(for: OpenFile.quietTime) else { return }
      await settle(key)
    }
  }

  /// An empty file may be unfinished for ten seconds.
  private static let maximumLooks = 60

  /// Whether this file is to be examined again in a moment.
  func isWaiting(_ key: NoteKey) -> Bool { files[key]?.isWaiting ?? false }

  /// Call at the end: returns when no file is being examined, and nothing that an editor overwrote is in memory only.
  func settleAll() async {
    for (key, file) in files {
      await settle(key)
      await file.keepOverwritten()
    }
  }

  /// Whether this file is still being examined.
  func isBusy(_ key: NoteKey) -> Bool { files[key]?.isBusy ?? false }

  /// The right to record what a working file holds, which one process has at a time. Nil after a while.
  func turn(of key: NoteKey) async -> (any NoteClaim)? {
    await environment.claim("file-" + key.lockName, within: .seconds(1))
  }
}
