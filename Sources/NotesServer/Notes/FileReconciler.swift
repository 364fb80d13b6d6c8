import Automerge
import AutomergeRepo
import Foundation
import Logging

/// Makes a text and its working file equal while no client has the note open:
///
///     claim ──► look at the file ──► merge what is new in it ──► write what is new in the text ──► store what the file holds
///
/// If a client opens the note at any step, the file is left to that client.
@AutomergeRepo
final class FileReconciler {
  /// How many times a large file is compared off the loop, if the note changes during the comparison.
  private static let maximumComparisons = 3

  private let environment: ServiceEnvironment
  private let recoveredTexts: RecoveredTexts
  private let openFiles: OpenFiles
  /// Called to ask for another synchronization where this one could not finish.
  weak var planner: (any WorkingFilePlanner)?
  /// The claims that calls of this process hold or held.
  private var claims: [NoteKey: WeakClaim] = [:]
  /// The large files as they were last written.
  private var written: [NoteKey: WrittenFile] = [:]
  private let log = Logger(label: "files")

  private var notebook: Notebook { environment.notebook }

  init(_ environment: ServiceEnvironment, _ recoveredTexts: RecoveredTexts, _ openFiles: OpenFiles) {
    (self.environment, self.recoveredTexts, self.openFiles) = (environment, recoveredTexts, openFiles)
  }

  /// Call when the document has been released from memory.
  func forget(_ id: DocumentId) {
    claims = claims.filter { $0.key.document != id }
    written = written.filter { $0.key.document != id }
  }

  private func isOpen(_ key: NoteKey) -> Bool { environment.openNotes.contains(key) }

  // MARK: Claims

  /// The exclusive claim on a file. Nil if another process has it, which is then responsible for the file. If another
  /// call of this process has it, also plans the note: that call may have read the text before its last change.
  func claim(_ key: NoteKey, _ handle: DocHandle) -> (any NoteClaim)? {
    guard let claim = environment.files.claim(key.lockName, exclusively: true) else {
      if claims[key]?.claim != nil {
        planner?.plan(handle, text: NoteDocument(handle.document, item: key.item)?.content)
      }
      return nil
    }
    claims[key] = WeakClaim(claim: claim)
    return claim
  }

  /// The exclusive claim on a file that is to be removed. A process that updates the file has the claim for a moment;
  /// one that has the note open keeps it.
  func claimToRemove(_ key: NoteKey, _ name: String) async throws -> any NoteClaim {
    if let claim = await environment.claim(key.lockName, within: .seconds(2)) { return claim }
    throw NotesError(.conflict, "\(name) is open in another editor of yours; close it there first.")
  }

  private struct WeakClaim {
    weak var claim: (any NoteClaim)?
  }

  // MARK: Synchronizing

  /// Merges what other programs wrote to the text's file since we last wrote it, then writes the text to the file if
  /// the two differ. Leaves the file alone while a client has it open, here or in another process, which is then
  /// responsible for it.
  ///
  /// - Parameters:
  ///   - item: the agenda item that `key` names, if the caller has it at hand.
  ///   - makingFiles: whether to create a missing file again although the note has nothing new.
  ///   - held: the exclusive claim on the file, if the caller has it.
  func synchronize(
    _ key: NoteKey, _ handle: DocHandle, item: MeetingDocument.Item? = nil, makingFiles: Bool = true,
    holding held: (any NoteClaim)? = nil
  ) async throws {
    await openFiles.settle(key)
    await openFiles.settleUnfinished(key)
    guard notebook[key]?.path != nil, !isOpen(key), let claim = held ?? claim(key, handle) else {
      return
    }
    defer { withExtendedLifetime(claim) {} }
    guard let pair = try await current(key, handle, item) else { return }
    let (note, record) = (pair.note, pair.record)
    // Nil if the person deleted the file. The note and its text still exist.
    let contents: FileContents?, found: [UInt8]?
    switch try await settledFile(pair.path, record, note) {
    case .found(let bytes, _): (contents, found) = (try await reading(bytes, record), bytes)
    case .missing, .unchanged:
      environment.forgetFile(key)
      (contents, found) = (nil, nil)
    }
    guard !isOpen(key) else { return }
    var turn: (any NoteClaim)?
    defer { withExtendedLifetime(turn) {} }
    if let contents, try await !merge(contents, pair, &turn) { return }
    if contents == nil, !makingFiles, holdsNothingNew(note, record.base(for: note)) { return }
    guard !isOpen(key) else { return }
    let text = DocumentText(note).allUTF8
    let heads = handle.document.heads()
    let file = await FileComparison.of(text, contents, orElse: record.shape)
    guard !isOpen(key) else { return }
    if let step = file.step {
      // If this process dies between writing the file and recording that, the file holds one of the two.
      let base = TextBase(heads: heads, steps: [step, file.finalNewlineStep], object: note.textObject)
      environment.fileHas(base, key)
      try await handle.flush()
      try await notebook.save(key)
    }
    if !file.isSame, let others = try await environment.files.replace(pair.path, file.bytes, of: found) {
      try await takeIn(recoveredTexts.overwrote(others, key), thatReplaced: contents, of: note, handle)
      try await makeDurable(pair.path, others, replacedBy: text, of: note, handle)
    }
    // A buffer that was opened meanwhile may have been saved, and its file's content be known.
    if isOpen(key), try await environment.files.read(pair.path) != file.bytes { return }
    let base = TextBase(writing: text, file.finalNewlineStep, at: heads, of: note)
    try await recordFile(file, base, pair)
    written[key] = text.count < FileComparison.maximumBytesAtOnce ? nil : await WrittenFile(file.bytes, base)
    try await followTitle(key, handle)
  }

  /// A note's text, and what is recorded of its file.
  private struct Pair {
    let key: NoteKey
    let handle: DocHandle
    let note: NoteDocument
    let record: NoteRecord
    let path: String
  }

  /// Reads what other processes have stored of the note. Nil if it has no file, or is not complete yet: then it is planned again.
  private func current(_ key: NoteKey, _ handle: DocHandle, _ item: MeetingDocument.Item?) async throws -> Pair? {
    // The file may have words that another process has merged: one that was killed, or that has ended since we read the
    // document.
    if let storage = environment.repo.storage { await environment.journal.killed.recover(environment.repo, storage) }
    try await handle.takeStored()
    try await environment.takeUnrecordedBases(of: key)
    // Another process may have written the file since we last did.
    try await notebook.refresh(key)
    let known = notebook[key]?.fileBase?.heads ?? []
    if !handle.document.unknown(known).isEmpty { try await handle.takeStored(with: known) }
    let note = item.map { NoteDocument(handle.document, item: $0) } ?? NoteDocument(handle.document, item: key.item)
    guard let record = notebook[key], let path = record.path, let note else { return nil }
    // That process also sends what it wrote there.
    guard handle.document.unknown(record.fileBase?.heads ?? []).isEmpty else {
      planner?.plan(handle, text: note.content)
      return nil
    }
    return Pair(key: key, handle: handle, note: note, record: record, path: path)
  }

  /// Merges the file's text into the note, unless it is what this process wrote. Returns whether the file may be written now.
  ///
  /// - Parameter turn: receives the turn to record what the file holds, if its text is news
  private func merge(_ contents: FileContents, _ pair: Pair, _ turn: inout (any NoteClaim)?) async throws -> Bool {
    let (key, note, base) = (pair.key, pair.note, pair.record.fileBase)
    // Comparing a large text with another one takes several times its memory.
    if await written[key]?.isStill(contents, base, of: note) == true { return true }
    if !holds(contents, base, note) {
      // A process whose editor has just closed the note may be merging the same words.
      turn = await openFiles.turn(of: key)
      guard turn != nil, try await !hasStoredNews(since: pair.record, pair.handle) else {
        planner?.plan(pair.handle, text: note.content)
        return false
      }
    }
    guard !isOpen(key) else { return false }
    return try await takeIn(contents, base, note, pair.handle)
  }

  /// Records what the file holds now.
  private func recordFile(_ file: FileComparison, _ base: TextBase, _ pair: Pair) async throws {
    let key = pair.key
    environment.fileHas(base, key)
    let isCountNews = notebook[key]?.words != file.wordCount
    notebook.update(key) {
      $0.textObject = pair.note.textObject
      $0.shape = file.shape
      $0.words = file.wordCount
      ($0.isFileOutdated, $0.isFileShown) = (false, false)
      $0.title = pair.note.title ?? $0.title
    }
    // Together with the changes that the base names: another process may read both at any moment.
    try await notebook.save(key, with: pair.handle)
    environment.journal.fileIsStored(key)
    // Lists on the screen have the former count.
    if isCountNews { environment.events.send(.changedByOthers(key.document)) }
  }

  /// Reads the document and the file base from the store again. Returns whether another process has changed either.
  private func hasStoredNews(since record: NoteRecord, _ handle: DocHandle) async throws -> Bool {
    let heads = handle.document.heads()
    try await handle.takeStored()
    try await notebook.refresh(record.key)
    return handle.document.heads() != heads || notebook[record.key]?.fileBase != record.fileBase
  }

  /// The finished file. A file that was written a moment ago, and has text that the note lacks, may be unfinished: it
  /// is read again until it no longer changes.
  private func settledFile(_ path: String, _ record: NoteRecord, _ note: NoteDocument) async throws -> FileSight {
    let (base, shape) = (record.fileBase, record.shape)
    while true {
      let (date, start) = (environment.clock.date, environment.clock.now)
      let sight = try await environment.files.look(path, since: nil)
      let dates = date...max(date, environment.clock.date)
      guard case .found(let bytes, let mark) = sight else { return sight }
      let untilQuiet = openFiles.timeUntilQuiet(record.key, at: start)
      let rest = max(mark.timeUntilSettled(readFrom: dates).map { .seconds($0) } ?? .zero, untilQuiet)
      guard rest > .zero else { return sight }
      if let contents = try? await FileContents.reading(bytes, known: shape), holds(contents, base, note) {
        return sight
      }
      guard await environment.clock.pause(for: rest) else { return sight }
    }
  }

  /// A file that is not UTF-8 is left as it is until it is again, and so is the note.
  private func reading(_ bytes: [UInt8], _ record: NoteRecord) async throws -> FileContents {
    do {
      let contents = try await FileContents.reading(bytes, known: record.shape)
      environment.fileIsText(true, record.key)
      return contents
    } catch {
      if error is NotTextError { environment.fileIsText(false, record.key) }
      throw error
    }
  }

  /// Whether the file has nothing that the note lacks, as far as a quick look can tell.
  private func holds(_ contents: FileContents, _ base: TextBase?, _ note: NoteDocument) -> Bool {
    guard contents.text.count < FileComparison.maximumBytesAtOnce else { return false }
    return ThreeWayMerge(note: note, bases: base.map { [$0] } ?? [], encoding: .utf8, gate: .plain)
      .takeIn(contents).splices.isEmpty
  }

  /// Whether the missing file held the note's present text.
  private func holdsNothingNew(_ note: NoteDocument, _ base: TextBase?) -> Bool {
    base?.texts(of: note).contains(DocumentText(note).allUTF8) ?? false
  }

  /// Merges what another program wrote to the file between our reading and our writing. The file is written again a little
  /// later.
  private func takeIn(
    _ overwritten: OverwrittenText, thatReplaced contents: FileContents?, of note: NoteDocument, _ handle: DocHandle
  ) async throws {
    if let others = try? FileContents(reading: overwritten.bytes, known: notebook[overwritten.key]?.shape) {
      let now = DocumentText(note).allUTF8
      let way = contents.map { TextDiff.delta(from: $0.text, to: now) }
      let base = way.map { TextBase(heads: handle.document.heads(), steps: [$0], object: note.textObject) }
      do {
        if try await takeIn(others, base, note, handle, isStillThere: false) {
          environment.journal.merged(overwritten)
          planner?.plan(handle, text: nil)
          return
        }
      } catch {
        // The next attempt finds only what is in the file now.
        await recoveredTexts.keep(overwritten)
        throw error
      }
    }
    // It is not UTF-8, or an editor opened the note meanwhile and merges what the file has now.
    await recoveredTexts.keep(overwritten)
  }

  /// Makes our file durable, now that what it has replaced can be stored. Until then the file may have either, whatever fails.
  private func makeDurable(
    _ path: String, _ replaced: [UInt8], replacedBy text: [UInt8], of note: NoteDocument, _ handle: DocHandle
  ) async throws {
    let key = NoteKey(handle.id, item: note.item)
    let (now, heads) = (DocumentText(note).allUTF8, handle.document.heads())
    if let others = try? FileContents(reading: replaced, known: notebook[key]?.shape) {
      let steps = [await TextDiff.offLoop(from: others.text, to: text), await TextDiff.offLoop(from: text, to: now)]
      if !isOpen(key) {
        environment.fileHas(TextBase(heads: heads, steps: steps, object: note.textObject), key)
      }
    }
    try await notebook.save(key, with: handle)
    await environment.files.makeDurable(path)
  }

  /// Renames the file to fit the note's title; later, if an editor opens it at this moment.
  private func followTitle(_ key: NoteKey, _ handle: DocHandle) async throws {
    guard let record = notebook[key], let path = record.path else { return }
    let old = path as NSString
    guard !FileName.isName(old.lastPathComponent, forTitle: record.title) else { return }
    let ending = FileName.ending(ofFile: old.lastPathComponent)
    for name in FileName.candidates(for: record.title, ending: ending, atMost: 1000) {
      let new = (old.deletingLastPathComponent as NSString).appendingPathComponent(name)
      guard notebook.record(atPath: new) == nil else { continue }
      guard !environment.openNotes.isInUse(key) else { return }
      guard try await environment.files.move(path, to: new) else { continue }
      if environment.openNotes.isInUse(key) {
        // A buffer has the former name. If another program has made a file there since, that becomes the note's, and the one
        // with the new name stays as a copy.
        _ = try await environment.files.move(new, to: path)
        return
      }
      notebook.update(key) { $0.path = new }
      try await notebook.save(key)
      // What another program wrote until now was reported by the former name.
      planner?.plan(handle, text: NoteDocument(handle.document, item: key.item)?.content)
      return
    }
  }

  /// Gives the file its former name again, if another process of this person renamed it while a buffer was being opened by
  /// that. Call it while holding a claim on the file.
  func keepName(_ path: String, of key: NoteKey) async throws(StorageError) {
    try await notebook.refresh(key)
    guard let new = notebook[key]?.path, new != path, (try? await environment.files.move(new, to: path)) == true else {
      return
    }
    notebook.update(key) { $0.path = path }
    try await notebook.save(key, withBase: false)
  }

  /// Merges the file's text. False if the note was opened during the merge.
  ///
  /// - Parameter isStillThere: whether the file contains that, and has not been written over.
  private func takeIn(
    _ contents: FileContents, _ base: TextBase?, _ note: NoteDocument, _ handle: DocHandle, isStillThere: Bool = true
  ) async throws -> Bool {
    let key = NoteKey(handle.id, item: note.item)
    var editorTexts: [TextBase] = []
    if !holds(contents, base, note) {
      if isStillThere, await environment.awaitEnd(ofHolderOf: key) {
        planner?.plan(handle, text: nil)
        return false
      }
      editorTexts = try await notebook.editorTexts(of: key)
    }
    let merge: @Sendable (ThreeWayMerge.ReadText?) -> ThreeWayMerge = { [editorTexts] read in
      ThreeWayMerge(
        note: note, bases: base.map { [$0] } ?? [], encoding: .utf8, gate: .plain, possibleBases: editorTexts,
        read: read)
    }
    var found: FileMerge?
    for _ in 0..<Self.maximumComparisons where found == nil && contents.text.count >= FileComparison.maximumBytesAtOnce
    {
      let heads = handle.document.heads()
      let merged = await ThreeWayMerge.takeInOffLoop(contents, note, making: merge)
      guard !isOpen(key) else { return false }
      if heads == handle.document.heads() { found = merged }
    }
    let taken = found ?? merge(nil).takeIn(contents), splices = taken.splices
    guard !splices.isEmpty else { return true }
    // The change would not reach a buffer that was attached meanwhile.
    guard !isOpen(key) else { return false }
    guard environment.mayWrite(handle.id) else {
      try await recoveredTexts.refuse(contents.text, key)
      return true
    }
    recoveredTexts.keepIfCut(note, by: contents.text, splices, of: key)
    let lacking = isStillThere ? taken.lacking : nil
    try environment.takeIn(fileOf: note, lacking: lacking, handle) { try handle.change { _ in try note.make(splices) } }
    log.notice("Merged another program's changes to the working file of \(handle.id).")
    return true
  }
}
