import Automerge
import AutomergeRepo
import Foundation
import Logging

/// Keeps the working files of notes that no client has open up to date: decides when a `FileReconciler` synchronizes
/// each, and removes those of deleted notes.
@AutomergeRepo
final class WorkingFileSync: WorkingFilePlanner {
  /// The pause between a change and writing the file; more changes in between cost nothing.
  static let writeDelay: Duration = .milliseconds(500)
  /// The longer pause for a large text, per megabyte, so that one that keeps growing is not written all the time.
  private static let writeDelayOfMegabyte: Duration = .seconds(1)
  private static let maximumWriteDelay: Duration = .seconds(20)
  /// While the note keeps changing, the file waits at most this many pauses.
  private static let maximumDelays = 20
  /// The pause after a failure, such as a full disk.
  private static let retryDelay: Duration = .seconds(5)
  /// How long another call or process may take to synchronize a file.
  private static let claimTime: Duration = .seconds(2)

  private let environment: ServiceEnvironment
  let reconciler: FileReconciler
  let agendas: MeetingAgendas
  private let remover: WorkingFileRemover
  let meetings: MeetingFiles
  let movedFiles: MovedFiles
  let outdated: OutdatedFiles
  private var watched: [DocumentId: Observation] = [:]
  private var planned: [DocumentId: any ScheduledAction] = [:]
  /// Since when each file has been waiting.
  private var plannedSince: [DocumentId: Duration] = [:]
  /// The deletions for everyone that were announced, by their dates.
  private var followed: [DocumentId: Date] = [:]
  private var troubles = FileTroubles()
  private let log = Logger(label: "files")

  private var notebook: Notebook { environment.notebook }

  init(_ environment: ServiceEnvironment, _ recoveredTexts: RecoveredTexts, _ openFiles: OpenFiles) {
    self.environment = environment
    reconciler = FileReconciler(environment, recoveredTexts, openFiles)
    agendas = MeetingAgendas(environment)
    remover = WorkingFileRemover(environment, recoveredTexts)
    meetings = MeetingFiles(environment, remover, reconciler, agendas)
    movedFiles = MovedFiles(environment)
    outdated = OutdatedFiles(environment)
    reconciler.planner = self
    movedFiles.planner = self
    meetings.planner = self
    outdated.fileSync = self
  }

  /// Keeps the note's file up to date from now on. Further calls do nothing.
  func watch(_ handle: DocHandle) {
    guard watched[handle.id] == nil else { return }
    meetings.examineAll(of: handle.id)
    watched[handle.id] = handle.observe { [weak self, weak handle] event in
      switch event {
      case .textEdits(let edits, _): if let handle { self?.meetings.textsChanged(edits, in: handle) }
      case .headsChanged(by: .some): if let handle { self?.noteChanged(handle) }
      default: break
      }
    }
  }

  /// Call when another program's changes have reached the document in another way than through the working file.
  func changedOutside(_ handle: DocHandle) {
    meetings.examineAll(of: handle.id)
    noteChanged(handle)
  }

  private func noteChanged(_ handle: DocHandle) {
    let id = handle.id
    if followDeletion(of: handle) { return }
    let isMeeting = notebook[id]?.folder != nil
    if isMeeting { environment.events.send(.agendaChanged(handle)) }
    let isOpen = environment.openNotes.contains(id)
    if isOpen, !isMeeting { environment.events.send(.changedWhileOpen(handle)) }
    guard isMeeting || !isOpen else { return }
    notebook.update(id) {
      $0.modified = environment.clock.date
      if !isOpen { $0.isUnread = true }
    }
    environment.events.send(.changedByOthers(id))
    plan(handle)
  }

  /// When the note was deleted for everyone; nil if it was not, or the person has seen that deletion.
  private func deletionForEveryone(_ handle: DocHandle) -> Date? {
    guard let record = notebook[handle.id], record.deletedSince == nil,
      let date = NoteDocument.deletion(of: handle.document)
    else { return nil }
    return record.deletionSeen.map { $0.milliseconds < date.milliseconds } ?? true ? date : nil
  }

  /// Removes the file of a note if another person has deleted the note for everyone, which buffers that show it are told.
  /// First merges what other programs wrote to the file. Returns whether the note was deleted so.
  func followDeletion(of handle: DocHandle) -> Bool {
    guard let date = deletionForEveryone(handle) else { return false }
    let isNews = followed.updateValue(date, forKey: handle.id) != date
    environment.events.send(.deletedForEveryone(handle, isNews: isNews))
    Task { @AutomergeRepo in
      do {
        guard let left = try await leave(handle) else { return }
        defer { withExtendedLifetime(left) {} }
        do {
          try await removeFile(of: left.record, handle)
        } catch {
          // What another person has deleted is no note here, even if its file stays.
          log.warning("The working file of \(handle.id), which was deleted, was not removed: \(error)")
          if let path = left.record.path, error is WorkingFileError { tell("could not be removed", of: path) }
        }
        notebook.update(handle.id) { $0.deletionSeen = date }
        try await notebook.save(handle.id, withBase: false)
      } catch {
        // Another process of this person may have the note open, and be about to close it.
        planAgain(handle, error)
      }
    }
    return true
  }

  /// Call when the document was released from memory.
  func forget(_ id: DocumentId) {
    watched.removeValue(forKey: id)?.cancel()
    meetings.forget(id)
    agendas.forget(id)
    reconciler.forget(id)
  }

  func isPlanned(_ id: DocumentId) -> Bool { planned[id] != nil }

  /// Synchronizes note and file a little later.
  ///
  /// - Parameter text: which text has changed, if the document has several
  func plan(_ handle: DocHandle, text: ObjId?) {
    if let text { meetings.textChanged(text, of: handle.id) }
    plan(handle, after: delay(before: handle))
  }

  func plan(_ handle: DocHandle) { plan(handle, text: nil) }

  /// Retries after a failure. The person was told of a file that is not UTF-8.
  func planAgain(_ handle: DocHandle, _ error: any Error) {
    if !(error is NotTextError) {
      log.warning("The working file of \(handle.id) was not brought up to date: \(error)")
    }
    if !isPlanned(handle.id) { plan(handle, after: Self.retryDelay) }
  }

  private func place(of id: DocumentId) -> String? { notebook[id]?.path ?? notebook[id]?.folder }

  private func tell(_ trouble: String, of path: String) {
    if let message = troubles.message(trouble, of: path) { environment.events.send(.fileNews(message: message)) }
  }

  private func plan(_ handle: DocHandle, after delay: Duration) {
    let id = handle.id
    planned[id]?.cancel()
    planned[id] = environment.clock.schedule(after: delay) { [weak self] in
      self?.planned[id] = nil
      self?.plannedSince[id] = nil
      Task { @AutomergeRepo in
        guard let self else { return }
        do {
          try await self.synchronize(handle, makingFiles: false)
          if let path = self.place(of: handle.id) { self.troubles.end(of: path) }
        } catch {
          if error is WorkingFileError, let path = self.place(of: handle.id) {
            self.tell("could not be written; trying again", of: path)
          }
          self.planAgain(handle, error)
        }
      }
    }
  }

  /// How long the note's file waits for more changes.
  private func delay(before handle: DocHandle) -> Duration {
    let now = environment.clock.now, since = plannedSince[handle.id] ?? now
    plannedSince[handle.id] = since
    let byteCount = NoteDocument(handle.document).map { DocumentText($0).measure.utf8 } ?? 0
    let delay = min(Self.writeDelay + Self.writeDelayOfMegabyte * (byteCount >> 20), Self.maximumWriteDelay)
    return max(.zero, min(delay, since + delay * Self.maximumDelays - now))
  }

  /// How long the files may take at the end of this process.
  private static let finishTime: Duration = .seconds(1)
  /// The file of a larger note is left to the next process.
  private static let maximumBytesAtEnd = 1 << 20

  /// Call at the end: brings the files up to date that wait for more changes. Those that take too long are left to the next process.
  func finish() async {
    let waiting = planned.keys.compactMap { environment.repo.handle(of: $0) }
    guard !waiting.isEmpty else { return }
    for handle in waiting {
      planned.removeValue(forKey: handle.id)?.cancel()
      meetings.examineAll(of: handle.id)
      for key in notebook.keys(of: handle.id)
      where !environment.openNotes.contains(key) && outdated.examine(key, handle) {
        do {
          try await notebook.save(key, withBase: false)
        } catch {
          log.warning("The store was not told that the working file of \(key.document) is out of date: \(error)")
        }
      }
    }
    await OneReply.wait(otherwise: ()) { reply in
      environment.clock.schedule(after: Self.finishTime) { reply.resume(returning: ()) }
      Task { @AutomergeRepo in
        for handle in waiting where handle.document.textByteCount <= Self.maximumBytesAtEnd {
          do {
            try await synchronize(handle, makingFiles: false)
          } catch {
            log.warning("The working file of \(handle.id) was not brought up to date: \(error)")
          }
        }
        reply.resume(returning: ())
      }
    }
  }

  /// Plans every note in memory. Call when a process that had some of them open has ended.
  func planAll() {
    for handle in environment.repo.handles where notebook[handle.id]?.hasPlace ?? false {
      meetings.examineAll(of: handle.id)
      plan(handle)
    }
  }

  /// Merges what other programs wrote to the note's file since we last wrote it, then writes the note's text to the
  /// file if the two differ. Does nothing while a client has it open, here or in another process, which is then
  /// responsible for it.
  ///
  /// - Parameter makingFiles: whether to create a missing file again although the note has nothing new. The person removed it
  ///   on purpose, so only opening the note does that.
  func synchronize(_ handle: DocHandle, makingFiles: Bool = true) async throws {
    watch(handle)
    if followDeletion(of: handle) { return }
    if notebook[handle.id]?.folder != nil {
      return try await meetings.synchronize(handle, makingFiles: makingFiles)
    }
    try await reconciler.synchronize(NoteKey(handle.id), handle, makingFiles: makingFiles)
  }

  /// Makes the note's file if it is still missing after `synchronize`: another call, or another process, may have been
  /// synchronizing the two, and does not make a file that the person removed.
  func makeMissingFile(of handle: DocHandle) async throws {
    let key = NoteKey(handle.id)
    guard let path = notebook[key]?.path, !environment.openNotes.contains(key),
      case .missing = try await environment.files.look(path, since: nil),
      let claim = await environment.claim(key.lockName, within: Self.claimTime)
    else { return }
    try await reconciler.synchronize(key, handle, holding: claim)
  }

  /// The same for one text of the document.
  func synchronize(_ key: NoteKey, _ handle: DocHandle) async throws { try await reconciler.synchronize(key, handle) }

  /// Deletes a note, and removes its working file. If that fails, the note is as before.
  func putAway(_ handle: DocHandle) async throws {
    guard let left = try await leave(handle) else { return }
    defer { withExtendedLifetime(left) {} }
    do {
      try await removeFile(of: left.record, handle)
    } catch {
      await bringBack(left.record, handle)
      throw error
    }
  }

  /// A note that was deleted, with the right to its file.
  private struct Left {
    let record: NoteRecord
    let claim: any NoteClaim
  }

  /// Makes the record of a note one of a deleted note, after merging what other programs wrote to its file. An editor that had the
  /// note open has closed it by now. Nil if it was deleted meanwhile.
  private func leave(_ handle: DocHandle) async throws -> Left? {
    let id = handle.id
    let claim = try await reconciler.claimToRemove(NoteKey(id), "The note")
    guard notebook[id]?.deletedSince == nil else { return nil }
    // Synchronizing may give the file the name of the title.
    let shown = notebook[id]?.path
    do {
      if notebook[id]?.folder == nil {
        try await reconciler.synchronize(NoteKey(id), handle, holding: claim)
      } else {
        // The system may not have reported yet what other programs wrote.
        meetings.examineAll(of: id)
        try await meetings.synchronize(handle, makingFiles: false)
      }
    } catch is NotTextError {
      // The bytes of such a file become a recovered text.
    }
    if notebook[id]?.folder != nil { try await meetings.putAway(handle) }
    guard let record = notebook[id] else { return nil }
    planned.removeValue(forKey: id)?.cancel()
    plannedSince[id] = nil
    watched.removeValue(forKey: id)?.cancel()
    notebook.update(id) {
      $0.leftPath = $0.hasLeftBuffers ? shown : nil
      ($0.deletedSince, $0.path, $0.folder) = (environment.clock.date, nil, nil)
      $0.fileBase = nil
    }
    return Left(record: record, claim: claim)
  }

  private func removeFile(of record: NoteRecord, _ handle: DocHandle) async throws {
    try await handle.flush()
    try await notebook.save(handle.id, withBase: false)
    try await remover.remove(fileOf: record, handle)
  }

  /// Undoes that the note was put away: its file could not be removed, or the store did not take the news.
  private func bringBack(_ record: NoteRecord, _ handle: DocHandle) async {
    notebook.update(record.key) {
      ($0.deletedSince, $0.path, $0.folder) = (nil, record.path, record.folder)
      ($0.leftPath, $0.fileBase) = (record.leftPath, record.fileBase)
    }
    watch(handle)
    do {
      try await notebook.save(record.key)
    } catch {
      log.warning("The next process may find \(record.id) deleted, and its file in place: \(error)")
    }
  }
}
