import Automerge
import AutomergeRepo
import Foundation
import Logging

/// The journals of this person's killed processes: what these had received and may not have stored.
@AutomergeRepo
final class KilledJournals {
  private let files: any JournalAccess
  private let log = Logger(label: "journal")
  /// The journals that were read and are kept, by their runs: the documents that were missing then, or lacked changes.
  private var kept: [String: Set<DocumentId>] = [:]
  /// The processes whose journals this one has read, whether or not it could remove them.
  private var handled: Set<String> = []
  /// The task that reads the journals.
  private var recovery: Task<Void, Never>?
  /// Called with the notes that a killed process had open or had changed: their records may be older than their texts.
  var onRecovered: (@AutomergeRepo (Set<NoteKey>) async -> Void)?
  /// Called when texts that killed processes had not merged are kept as recovered ones.
  var onKept: (@AutomergeRepo () -> Void)?

  nonisolated init(files: any JournalAccess) { self.files = files }

  /// What an editor that has outlived one or more services remembers of one of them.
  struct Memory {
    var run: String
    /// The version that its last `didOpen` named.
    var opened: Int
    /// The last edit of that service that it applied.
    var rev: Int
  }

  /// Where a text that an editor brings back came from.
  enum Origin {
    /// It is the base's text with the person's edits since.
    case known(TextBase, object: String?)
    /// The editor read the file again after this was written.
    case reloaded
    case unknown
  }

  /// Determines what a text grew out of, and adds to the document what a killed process had journaled of it.
  ///
  /// - Parameters:
  ///   - uri: the buffer's; the editor may show the note under another one, too.
  ///   - memories: the last service first. A service that never merged the buffer left no trace of it; then the record of the
  ///     service before it is still valid.
  /// - Throws: `StorageError` if the store cannot be read
  func origin(
    of key: NoteKey, uri: String, _ memories: [Memory], _ handle: DocHandle, _ storage: any StorageProvider
  ) async throws(StorageError) -> Origin {
    // It was the first buffer of the note, unless there is a record of its own.
    let keys = [BufferKey(key, uri: uri), BufferKey(key)]
    for memory in memories {
      let found = try await clients(keys, memory.run, handle, storage)
      if found.isEmpty { continue }
      guard let client = found.first(where: { $0.opened == memory.opened }) else { return .reloaded }
      guard let base = client.text(afterEdit: memory.rev), handle.document.unknown(base.heads).isEmpty else {
        return .unknown
      }
      return .known(base, object: client.object)
    }
    return .unknown
  }

  /// What the process knew of the buffers with these keys, in their order: from its journal, or else from the store.
  private func clients(
    _ keys: [BufferKey], _ run: String, _ handle: DocHandle, _ storage: any StorageProvider
  ) async throws(StorageError) -> [ClientBase] {
    if let content = try? await content(of: run) {
      do {
        if let changes = content.changes[handle.id] { try handle.take(changes) }
      } catch {
        log.warning("The part of \(handle.id) in the journal of \(run) cannot be read: \(error)")
      }
      let clients = keys.compactMap { content.clients[$0] }
      if !clients.isEmpty { return clients }
    }
    var clients: [ClientBase] = []
    for key in keys {
      let data = try await storage.load(ClientBase.key(key.note, run: key.record(of: run)))
      if let client = data.flatMap({ ClientBase($0) }) { clients.append(client) }
    }
    return clients
  }

  /// The content of another process's journal; nil if it has none.
  func content(of run: String) async throws -> JournalContent? {
    guard let bytes = try await files.read(run) else { return nil }
    return await Self.content(bytes)
  }

  @concurrent
  private static func content(_ bytes: [UInt8]) async -> JournalContent { JournalContent(JournalFrame.all(in: bytes)) }

  /// The same without waiting; one run after another.
  func recoverSoon(_ repo: Repo, _ storage: any StorageProvider) {
    recovery = Task { @AutomergeRepo [recovery] in
      await recovery?.value
      await recover(repo, storage)
    }
  }

  /// Returns when what killed processes left behind when this one started is in the notes.
  func settle() async { await recovery?.value }

  /// Stores what killed processes had not stored, and removes their journals. A journal with words of a document that
  /// is unavailable now stays, and is read again when the document arrives, and when the next process starts; so does one that
  /// cannot be read.
  func recover(_ repo: Repo, _ storage: any StorageProvider) async {
    for run in await files.deadRuns() where !waits(run, repo) {
      do {
        let found = try await content(of: run)
        handled.insert(run)
        // The process was killed before it wrote anything, or another one has just read its journal.
        guard let content = found else {
          await files.remove(run)
          continue
        }
        var unplaced: Set<DocumentId> = []
        for (id, changes) in content.changes where try await !take(changes, of: id, by: run, repo) {
          unplaced.insert(id)
        }
        try await storage.commit(
          clients(in: content, by: run, repo, storage)
            + content.files.map { .save($0.value.stored($0.key.document, run: run)) }
            + content.written.map { .save($0.value.item($0.key, run: run, .written)) })
        try await keep(
          content.left.map { RecoveredText($0.value, of: $0.key.document, by: run) }
            + content.overwritten.flatMap { key, texts in
              texts.map { RecoveredText(overwritten: $0, of: key.document, by: run) }
            }, storage)
        await onRecovered?(content.notes)
        guard unplaced.isEmpty else {
          kept[run] = unplaced
          log.warning("The journal of a process that was killed is kept: not here yet: \(unplaced.count) documents.")
          continue
        }
        kept[run] = nil
        await files.remove(run)
      } catch {
        log.warning("The journal of a process that was killed is kept: \(error)")
      }
    }
  }

  /// What the editors of a process had, unless the store has something later: a power failure takes the end of a journal.
  private func clients(
    in content: JournalContent, by run: String, _ repo: Repo, _ storage: any StorageProvider
  ) async throws -> [StorageChange] {
    var changes: [StorageChange] = []
    for (key, client) in content.clients {
      let item = client.item(key.note, run: key.record(of: run))
      if let stored = try await storage.load(item.key).flatMap({ ClientBase($0) }), stored != client,
        case .found(let handle) = await repo.search(key.document, within: Self.maximumSearch),
        client.isEarlier(than: stored, in: handle.document)
      {
        continue
      }
      changes.append(.save(item))
    }
    return changes
  }

  /// Whether the journal of a process that has not ended says that a client has this note open there.
  func isOpen(_ key: NoteKey) async -> Bool { await !runs(havingOpen: key).isEmpty }

  /// The other processes that have not ended and whose journals say that a client has this note open there.
  func runs(havingOpen key: NoteKey) async -> [String] {
    var runs: [String] = []
    for run in await files.livingRuns() {
      if let content = try? await content(of: run), content.clients.keys.contains(where: { $0.note == key }) {
        runs.append(run)
      }
    }
    return runs
  }

  /// Whether this process has not ended.
  func isAlive(_ run: String) async -> Bool { await files.livingRuns().contains(run) }

  /// Whether a process has died whose journal this one has not read yet.
  var hasNew: Bool {
    get async { await !handled.isSuperset(of: files.deadRuns()) }
  }

  /// Keeps texts that killed processes had not merged, unless an earlier reading of the journal has done so.
  private func keep(_ texts: [RecoveredText], _ storage: any StorageProvider) async throws {
    for text in texts where try await storage.load(text.item.key) == nil {
      try await storage.commit(text.changes)
      onKept?()
    }
  }

  /// Whether a kept journal still waits for what it waited for when it was read.
  private func waits(_ run: String, _ repo: Repo) -> Bool {
    kept[run]?.contains { repo.handle(of: $0)?.lacksChanges ?? true } ?? false
  }

  /// Whether a kept journal has words of this document, which is here now. True only once.
  func waits(for id: DocumentId) -> Bool {
    let runs = kept.filter { $0.value.contains(id) }.keys
    for run in runs { kept[run] = nil }
    return !runs.isEmpty
  }

  /// Stores a journal's changes of a document. False if dependencies are missing.
  private func take(_ changes: Data, of id: DocumentId, by run: String, _ repo: Repo) async throws -> Bool {
    let handle: DocHandle
    switch await repo.search(id, within: Self.maximumSearch) {
    case .deleted: return true
    case .found(let found): handle = found
    case .failed(let error): throw error
    case .stopped: return false
    case .unavailable, .timedOut:
      // The process had just received or created the document, so the journal has all of it.
      guard let made = try repo.make(id, of: changes) else { return false }
      handle = made
    }
    try handle.take(changes)
    if let actor = ActorId(hexadecimal: run) { await handle.sign(changes, of: actor) }
    try await handle.flush()
    return !handle.lacksChanges
  }

  private static let maximumSearch: Duration = .seconds(1)
}
