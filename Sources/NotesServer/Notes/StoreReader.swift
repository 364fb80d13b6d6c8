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

  private let notebook: Notebook
  private let repo: Repo

  public init(storage: any StorageProvider) async throws(StorageError) {
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

  /// Nil if there is no note of this id or title.
  public func text(of name: String) async throws -> NoteText? {
    guard let id = DocumentId(name) ?? notebook.record(titled: name)?.id,
      case .found(let handle) = await repo.find(id), let note = NoteDocument(handle.document)
    else { return nil }
    return NoteText(
      id: id.description, title: note.title ?? "", heads: handle.document.heads().map(\.description).sorted(),
      text: try handle.document.text(obj: note.content))
  }
}
