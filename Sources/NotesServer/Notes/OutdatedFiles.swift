import AutomergeRepo
import Logging

/// The working files that lack what their notes have, since the editor or the process that had a note open has ended without
/// writing its file: a person left without saving, or something was killed.
///
///     process ends ──► record marked ──► another process starts ──► file brought up to date, if no editor opens the note first
@AutomergeRepo
final class OutdatedFiles {
  /// An editor that has outlived its service opens its buffers again within this time, and writes their files itself: one that
  /// changes under it would make it ask.
  static let delay: Duration = .seconds(5)

  private let environment: ServiceEnvironment
  weak var fileSync: WorkingFileSync?
  private var planned: (any ScheduledAction)?
  private let log = Logger(label: "files")

  private var notebook: Notebook { environment.notebook }

  init(_ environment: ServiceEnvironment) { self.environment = environment }

  /// Marks the record, to be stored with it, unless the file is known to have the note's text. Returns whether it did.
  ///
  /// - Parameter isShown: whether an editor that shows the file goes on: its file is then left to it
  @discardableResult
  func examine(_ key: NoteKey, _ handle: DocHandle, isShown: Bool = false) -> Bool {
    guard let record = notebook[key], record.path != nil, record.deletedSince == nil else { return false }
    let base = record.fileBase
    let isSame = base?.heads == handle.document.heads() && base?.steps.allSatisfy(\.isIdentity) ?? false
    notebook.update(key) { ($0.isFileOutdated, $0.isFileShown) = (!isSame, !isSame && isShown) }
    return !isSame
  }

  /// Brings such files up to date a little later.
  func begin() {
    guard planned == nil, !due.isEmpty else { return }
    planned = environment.clock.schedule(after: Self.delay) { [weak self] in
      self?.planned = nil
      Task { @AutomergeRepo in await self?.bringUpToDate() }
    }
  }

  private var due: Set<DocumentId> {
    Set(notebook.records.values.filter { $0.isFileOutdated && !$0.isFileShown }.map(\.id))
  }

  private func bringUpToDate() async {
    for id in due where !environment.openNotes.contains(id) {
      guard case .found(let handle) = await environment.repo.search(id) else { continue }
      do {
        try await fileSync?.synchronize(handle, makingFiles: false)
      } catch {
        log.warning("The working file of \(id) is still out of date: \(error)")
      }
    }
  }
}
