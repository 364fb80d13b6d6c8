import Automerge
import AutomergeRepo

/// Reads notes from a store for a command that serves no editor.
@AutomergeRepo
public final class StoreReader {
  public struct Note: Codable, Sendable {
    public var id: String
    public var title: String
    /// Milliseconds since 1970.
    public var created: Int
    public var modified: Int
    public var path: String?
  }

  public struct NoteText: Codable, Sendable {
    public var id: String
    public var title: String
    public var heads: [String]
    public var text: String
  }

  /// A document that is not whole.
  public struct DocumentProblem: Codable, Hashable, Sendable {
    public var id: String
    public var title: String?
    /// Chunks that are not what they should be.
    public var damagedChunkCount: Int
    /// Some changes wait for others that are not here; peers may have them.
    public var lacksChanges: Bool
    /// Nothing of it can be read, or why it could not be looked at.
    public var unreadable: String?
  }

  private let notebook: Notebook
  private let repo: Repo

  public init(storage: any StorageProvider) async throws(StorageError) {
    let storage = UntouchedStorage(base: storage)
    notebook = Notebook(storage: storage)
    repo = Repo(peerId: PeerId("reader"), storage: storage)
    try await notebook.load()
  }

  /// Newest first.
  public func notes() -> [Note] {
    notebook.byModification.map { record in
      Note(
        id: record.id.description, title: record.title, created: record.created.milliseconds,
        modified: record.modified.milliseconds, path: record.path)
    }
  }

  /// A long history takes its time, and slow is not damaged.
  private static let longestLoad: Duration = .seconds(600)

  /// Reads every document there is.
  public func documentProblems() async throws(StorageError) -> [DocumentProblem] {
    var problems: [DocumentProblem] = []
    for id in try await repo.documentIds().sorted(by: { $0.description < $1.description }) {
      var problem = DocumentProblem(
        id: id.description, title: notebook[id]?.title, damagedChunkCount: 0, lacksChanges: false)
      switch await repo.find(id, within: Self.longestLoad) {
      case .found(let handle):
        problem.damagedChunkCount = handle.damagedChunks.count
        problem.lacksChanges = handle.lacksChanges
        guard problem.damagedChunkCount > 0 || problem.lacksChanges else { continue }
      case .deleted: continue
      case .unavailable, .timedOut: problem.unreadable = "no chunk of it can be used"
      case .failed(let error): problem.unreadable = error.description
      }
      problems.append(problem)
    }
    return problems
  }

  /// Nil if there is no note of this id or title.
  public func text(of name: String) async throws -> NoteText? {
    guard let id = DocumentId(name) ?? notebook.record(titled: name)?.id,
      case .found(let handle) = await repo.find(id)
    else { return nil }
    if NoteDocument(handle.document) == nil, let meeting = MeetingDocument(handle.document) {
      return NoteText(
        id: id.description, title: meeting.title, heads: handle.document.heads().map(\.description).sorted(),
        text: meeting.content.markdown)
    }
    guard let note = NoteDocument(handle.document) else { return nil }
    return NoteText(
      id: id.description, title: note.title ?? "", heads: handle.document.heads().map(\.description).sorted(),
      text: try handle.document.text(obj: note.content))
  }
}
