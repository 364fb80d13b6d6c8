import AutomergeRepo

/// Shows this person's other processes that a note is open here, in one of the editor's buffers.
@AutomergeRepo
final class NoteHold {
  /// The pause before claiming a note again that another process holds, which it usually does for milliseconds.
  ///
  /// A poll, because nothing reports that such a lock is free. A call that waits for it could not be ended at a deadline
  /// and would occupy one of libuv's four threads, which the holder may need to write the file and release the lock.
  static let interval: Duration = .milliseconds(20)

  let key: BufferKey
  private let files: any WorkingFileAccess
  private let clock: any RepoClock
  private var claim: (any NoteClaim)?
  private var hasEnded = false

  init(_ key: BufferKey, _ files: any WorkingFileAccess, _ clock: any RepoClock) {
    (self.key, self.files, self.clock) = (key, files, clock)
    take()
  }

  /// Another process may be writing the working file at this moment, which takes milliseconds.
  private func take() {
    claim = files.claim(key.note.lockName, exclusively: false)
    guard claim == nil else { return }
    clock.schedule(after: Self.interval) { [weak self] in
      guard let self, !self.hasEnded, self.claim == nil else { return }
      self.take()
    }
  }

  func end() {
    hasEnded = true
    claim = nil
  }
}
