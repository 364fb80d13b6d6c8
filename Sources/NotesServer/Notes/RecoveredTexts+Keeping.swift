import AutomergeRepo
import Logging

/// Keeps texts for other parts of the service, and writes copies that the person can open.
extension RecoveredTexts {
  /// Without waiting, stores a text that would be lost otherwise, and tells the person.
  ///
  /// - Parameters:
  ///   - isTold: whether the person has been told already
  ///   - whenStored: called once the text is stored, unless the first attempt fails
  func keepSoon(
    _ key: NoteKey, _ reason: String, _ text: [UInt8], isTold: Bool = false,
    whenStored: @escaping @AutomergeRepo () -> Void = {}
  ) {
    let kept = RecoveredText(
      id: key.document, itemTitle: environment.notebook.itemTitle(of: key), stamp: newStamp(), reason: reason,
      text: text)
    log.warning("Keeping a copy of \(key.document): \(reason).")
    if isTold { expect(kept) }
    Task { @AutomergeRepo in
      let isStored = await keepOrHold(kept)
      if isStored { whenStored() }
      if isTold { told(kept) } else if isStored { tellSoon() }
    }
  }

  /// Keeps what another program wrote to a file that has been written over, until it is merged and stored, or kept by `keep`:
  /// merging it takes a while.
  func overwrote(_ bytes: [UInt8], _ key: NoteKey) -> OverwrittenText {
    var text = OverwrittenText(key: key, bytes: bytes, stamp: newStamp())
    // Writing a long text to the journal would block the loop.
    text.isKept = bytes.count > RunJournal.maximumChangesBytes || environment.journal.hasEnded
    if text.isKept {
      keepSoon(key, RecoveredText.overwritten, bytes)
    } else {
      environment.journal.overwrote(text)
    }
    return text
  }

  /// Stores such a text, which cannot be merged, and tells the person. The journal has it as long as the store fails.
  func keep(_ text: OverwrittenText) async {
    guard !text.isKept else { return }
    var recovered = text.recovered
    recovered.itemTitle = environment.notebook.itemTitle(of: text.key)
    guard await keepOrHold(recovered) else { return }
    environment.journal.kept(text)
    tellSoon()
  }

  /// Call when a process of this person may have ended: takes over what editors kept because it did not answer.
  func takeOverUnsent() { unsent.takeOverSoon(into: self) }

  /// Removing less than this from a file is an ordinary edit.
  private static let minimumCutBytes = 80

  /// Keeps the note's text when a program empties the file, or removes most of it and writes nothing new: the program may mean
  /// that, or have failed to write the rest.
  ///
  /// - Parameter splices: what the note gets from the file
  func keepIfCut(_ note: NoteDocument, by file: [UInt8], _ splices: [TextSplice], of key: NoteKey) {
    let text = DocumentText(note).allUTF8
    let deleted = splices.reduce(0) { $0 + $1.deleteUTF8 }
    if file.isEmpty, deleted > 0 {
      keepSoon(key, "another program emptied its file", text)
    } else if deleted >= Self.minimumCutBytes, deleted * 2 > text.count, splices.allSatisfy(\.insert.isEmpty) {
      keepSoon(key, "another program removed most of its file", text)
    }
  }

  /// Keeps what another program wrote to the file of a note that this person may only read.
  func refuse(_ text: [UInt8], _ key: NoteKey) async throws {
    let kept = RecoveredText(
      id: key.document, itemTitle: environment.notebook.itemTitle(of: key), stamp: newStamp(),
      reason: "it was written to the file of a note that you may only read", text: text)
    try await keep(kept)
    await tellRefused(kept, of: key, title: environment.notebook[key]?.title ?? "")
  }

  /// Tells the person the place of a kept text that a read-only note did not accept.
  func tellRefused(_ kept: RecoveredText, of key: NoteKey, title: String) async {
    if let path = await write(kept, title: title) {
      environment.events.send(.refused(key, kept, path: path))
    } else {
      tellSoon()
    }
  }

  /// Writes a kept text to a file that the person can open. Nil on failure, which is logged.
  func write(_ recovered: RecoveredText, title: String) async -> String? {
    do {
      return try await writeCopy(recovered, title: title)
    } catch {
      log.error("A recovered text could not be written: \(error)")
      return nil
    }
  }

  /// Writes a kept text to a file that the person can open.
  ///
  /// - Returns: the file's path
  func writeCopy(_ recovered: RecoveredText, title: String) async throws(WorkingFileError) -> String {
    let path = RecoveredText.path(title: title, stamp: recovered.stamp, in: environment.notesDirectory)
    _ = try await environment.files.write(path, recovered.text, replacing: true)
    return path
  }
}
