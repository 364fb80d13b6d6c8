import Automerge
import AutomergeRepo

/// Reads notes from a store for a command that serves no editor. Writes nothing.
@AutomergeRepo
public final class StoreReader {
  public struct Note: Codable, Sendable {
    public var id: String
    public var title: String
    /// Milliseconds since 1970.
    public var created: Int
    public var modified: Int
    /// The working file; for a meeting its folder.
    public var path: String?
    public var words: Int
    /// Whether other people have written in it since it was last open here.
    public var unread: Bool
    /// When it was deleted, in milliseconds since 1970; nil if it was not.
    public var deleted: Int?
  }

  public struct NoteText: Codable, Sendable {
    public var id: String
    public var title: String
    public var heads: [String]
    public var text: String
  }

  /// A damaged or incomplete document.
  public struct DocumentProblem: Codable, Hashable, Sendable {
    public var id: String
    public var title: String?
    /// Chunks that are corrupt.
    public var damagedChunkCount: Int
    /// Some changes wait for others that are missing; peers may have them.
    public var lacksChanges: Bool
    /// Nothing of it can be read, or why it could not be examined.
    public var unreadable: String?
  }

  private let notebook: Notebook
  private let repo: Repo
  private let files: (any WorkingFileAccess)?

  /// Reads the store alone.
  public init(storage: any StorageProvider) async throws(StorageError) {
    let storage = UntouchedStorage(base: storage)
    notebook = Notebook(storage: storage)
    repo = Repo(peerId: PeerId("reader"), storage: storage)
    files = nil
    try await notebook.load()
  }

  /// Reads the store together with what killed processes have left in their journals and what other programs have written to
  /// the working files.
  public init(
    storage: any StorageProvider, files: any WorkingFileAccess, journals: any JournalAccess
  ) async throws(StorageError) {
    let storage = OverlayStorage(base: storage)
    notebook = Notebook(storage: storage)
    repo = Repo(peerId: PeerId("reader"), storage: storage)
    self.files = files
    let killed = KilledJournals(files: UntouchedJournals(base: journals))
    var recovered: Set<NoteKey> = []
    killed.onRecovered = { recovered.formUnion($0) }
    await killed.recover(repo, storage)
    try await notebook.load()
    for key in recovered { _ = await notebook.countWords(of: key, repo) }
  }

  /// Latest modified first; for deleted notes, latest deleted first.
  public func notes(deleted: Bool = false) -> [Note] {
    let keys = deleted ? notebook.keysOfDeleted : notebook.keysByModification
    return keys.compactMap { notebook[$0] }.map { record in
      Note(
        id: record.id.description, title: record.title, created: record.created.milliseconds,
        modified: record.modified.milliseconds, path: record.path ?? record.folder, words: record.words,
        unread: record.isUnread, deleted: record.deletedSince?.milliseconds)
    }
  }

  /// How long reading may take: a long history takes time, but that does not make a document damaged.
  private static let maximumLoad: Duration = .seconds(600)

  /// Reads every document.
  public func documentProblems() async throws(StorageError) -> [DocumentProblem] {
    var problems: [DocumentProblem] = []
    for id in try await repo.documentIds().sorted(by: { $0.description < $1.description }) {
      var problem = DocumentProblem(
        id: id.description, title: notebook[id]?.title, damagedChunkCount: 0, lacksChanges: false)
      switch await repo.search(id, within: Self.maximumLoad) {
      case .found(let handle):
        problem.damagedChunkCount = handle.damagedChunks.count
        problem.lacksChanges = handle.lacksChanges
        guard problem.damagedChunkCount > 0 || problem.lacksChanges else { continue }
      case .deleted, .stopped: continue
      case .unavailable, .timedOut: problem.unreadable = "no chunk of it can be used"
      case .failed(let error): problem.unreadable = error.description
      }
      problems.append(problem)
    }
    return problems
  }

  /// The text that the note would have if it were opened now: the stored text merged with what other programs have
  /// written to its working file since. `heads` are those of the stored document. Nil if there is no note with this id.
  public func text(of name: String) async throws -> NoteText? {
    guard let id = DocumentId(name), case .found(let handle) = await repo.search(id) else { return nil }
    let heads = handle.document.heads().map(\.description).sorted()
    let document = handle.document.fork()
    if NoteDocument(document) == nil, let meeting = MeetingDocument(document) {
      for item in notebook.items(of: id) { try await takeInFile(NoteKey(id, item: item.item), document) }
      return NoteText(id: id.description, title: meeting.title, heads: heads, text: meeting.content.markdown)
    }
    guard let note = NoteDocument(document) else { return nil }
    try await takeInFile(NoteKey(id), document)
    return NoteText(
      id: id.description, title: note.title ?? "", heads: heads, text: try document.text(obj: note.content))
  }

  /// Merges the text of a working file, unless an editor has the file open: then the store has more than the file.
  private func takeInFile(_ key: NoteKey, _ document: Document) async throws {
    guard let files, let path = notebook[key]?.path, let note = NoteDocument(document, item: key.item) else { return }
    if let handle = repo.handle(of: key.document) { try await notebook.takeUnrecordedBases(of: key, handle) }
    try await notebook.loadBase(of: key)
    guard let base = notebook[key]?.base(for: note), document.unknown(base.heads).isEmpty,
      let claim = files.claim(key.lockName, exclusively: true), let bytes = try? await files.read(path),
      let contents = try? FileContents(reading: bytes, known: notebook[key]?.shape)
    else { return }
    defer { withExtendedLifetime(claim) {} }
    let merge = ThreeWayMerge(
      note: note, bases: [base], encoding: .utf8, gate: .plain, possibleBases: try await notebook.editorTexts(of: key))
    for splice in merge.takeIn(contents).splices {
      try document.spliceText(
        obj: note.content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
    }
  }
}
