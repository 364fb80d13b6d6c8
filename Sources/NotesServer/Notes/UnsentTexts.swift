import Automerge
import AutomergeRepo
import Logging

/// Takes over what editors kept in files because a service did not answer: it may have died without having read the words.
///
///     file ──its service has ended, the note has the words──────────────────► removed
///      └──its service has ended, the note lacks some──► a recovered text ──► removed
@AutomergeRepo
final class UnsentTexts {
  private let files: (any UnsentFileAccess)?
  private let log = Logger(label: "notes")
  private var isLooking = false
  /// Whether more files may have come since the look that is under way began.
  private var mustLookAgain = false

  /// Where editors put such files; nil if they are not taken over.
  var folder: String? { files?.folder }

  init(_ files: (any UnsentFileAccess)?) { self.files = files }

  /// Takes over the files of processes that have ended.
  func takeOverSoon(into texts: RecoveredTexts) {
    guard let files else { return }
    mustLookAgain = true
    guard !isLooking else { return }
    isLooking = true
    Task { @AutomergeRepo in
      while mustLookAgain {
        mustLookAgain = false
        await takeOverAll(of: files, into: texts)
      }
      isLooking = false
    }
  }

  private func takeOverAll(of files: any UnsentFileAccess, into texts: RecoveredTexts) async {
    let names = await files.names()
    guard !names.isEmpty else { return }
    // What the process had received is in its journal.
    await texts.environment.journal.killed.settle()
    // Another process may be taking them over.
    guard let turn = await texts.environment.turn("unsent") else { return }
    defer { withExtendedLifetime(turn) {} }
    for name in names {
      do {
        try await takeOver(name, of: files, into: texts)
      } catch {
        log.error("Words that a service had not read stay in \(files.folder)/\(name): \(error)")
      }
    }
  }

  private func takeOver(_ name: String, of files: any UnsentFileAccess, into texts: RecoveredTexts) async throws {
    guard let bytes = await files.read(name) else { return }
    guard let unsent = await UnsentText.parsed(bytes) else {
      return log.warning("\(files.folder)/\(name) is not a file that an editor keeps there.")
    }
    // A service that hangs may go on, and read the words.
    guard await unsent.hasLostItsService(texts.environment) else { return }
    let kept = unsent.recovered
    let isKept = try await texts.environment.notebook.storage.load(kept.item.key) != nil
    if !isKept, try await !unsent.isInNote(texts.environment) {
      try await texts.keep(kept)
      texts.tellSoon()
    }
    await files.remove(name)
  }
}

extension UnsentText {
  /// Whether the service that did not answer has ended. The kernel frees the locks of a killed process one by one, that of
  /// its journal perhaps last.
  @AutomergeRepo
  fileprivate func hasLostItsService(_ environment: ServiceEnvironment) async -> Bool {
    let journal = environment.journal
    guard run != journal.run else { return false }
    for _ in 0..<Self.maximumPauses where await journal.killed.isAlive(run) {
      guard await environment.clock.pause(for: NoteHold.interval) else { return false }
    }
    return await !journal.killed.isAlive(run)
  }

  @AutomergeRepo
  fileprivate func isInNote(_ environment: ServiceEnvironment) async throws -> Bool {
    guard !text.isEmpty else { return true }
    let record = environment.notebook.record(atURI: uri)
    if let path = record?.path, let bytes = try? await environment.files.read(path),
      await FileContents.holds(bytes, text)
    {
      return true
    }
    let id = record?.id ?? environment.notebook.latest(id)
    guard case .found(let handle) = await environment.repo.search(id, within: Self.maximumSearch) else { return false }
    _ = try await environment.catchUp(handle)
    guard let note = NoteDocument(handle.document, item: record?.item) else { return false }
    let delta = await TextDiff.offLoop(from: DocumentText(note).allUTF8, to: text)
    return delta.splices.allSatisfy(\.insert.isEmpty)
  }

  /// A second in all.
  private static let maximumPauses = 50
  private static let maximumSearch: Duration = .seconds(1)
}
