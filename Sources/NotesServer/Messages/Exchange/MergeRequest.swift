import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/merge`: merges a note with another copy of the same document, from a file or a directory of documents.
struct MergeRequest: EditorRequest {
  static let method = "notes/merge"

  let note: NoteReference
  let path: String

  init(_ params: Parameters) throws(ResponseError) {
    path = try params.absolutePath("path")
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    let record = try editor.note(note)
    let handle = try await service.fetch(record.id)
    try service.checkMayWrite(record.id)
    let other = try await copy(of: record.id, service.files)
    guard handle.document.isCopy(other.document) else {
      throw NotesError(.noSharedHistory, "\(path) is not a copy of \"\(record.title)\"; import it instead.")
    }
    let count = try handle.merge(other.document)
    editor.buffers.followText(of: handle)
    try await service.fileSync.synchronize(handle)
    return Result(changes: count, leftOut: other.leftOut)
  }

  /// The document in the file, or in the directory of documents, that claims to be another copy of `id`.
  private func copy(of id: DocumentId, _ files: any WorkingFileAccess) async throws -> ForeignFile {
    let name = (path as NSString).lastPathComponent
    let stranger = NotesError(.noSharedHistory, "\(name) is not a copy of this note; import it instead.")
    if try await files.names(in: path) != nil {
      let folder = try await RepoDirectory.documents(in: path, files).first { $0.0 == id }?.1
      guard let folder, let loaded = try await RepoDirectory.load(folder, files) else { throw stranger }
      return loaded
    }
    guard let bytes = try await files.read(path) else {
      throw NotesError(.notFound, "There is no file \(path).")
    }
    guard case .document(let file, let named) = try await ImportedFile.read(bytes), named == nil || named == id
    else { throw stranger }
    return file
  }

  struct Result: RequestResult {
    /// How many changes were new.
    let changes: Int
    /// What of the file could not be used.
    let leftOut: ForeignFile.LeftOut?

    var json: JSONValue {
      let merged = "Merged \(NoteNews.number(changes, "new change"))"
      guard let leftOut else { return ["changes": JSONValue(changes), "message": .string(merged)] }
      return [
        "changes": JSONValue(changes), "leftOut": .string(leftOut.words),
        "message": .string("\(merged); \(leftOut.summary)"),
      ]
    }
  }
}

extension Document {
  var isNoteOrMeeting: Bool { NoteDocument(self) != nil || MeetingDocument(self) != nil }

  /// Whether another document can be a copy of this one, whatever it calls itself; one without changes is a copy of any.
  /// - Complexity: O(n) in the changes.
  public func isCopy(_ other: Document) -> Bool {
    heads().isEmpty || other.heads().isEmpty || sharesHistory(with: other)
  }

  /// Whether the two have a change in common.
  /// - Complexity: O(n) in the changes.
  func sharesHistory(with other: Document) -> Bool {
    let ours = Set(getHistory())
    return other.unknown(ours).count < ours.count
  }
}
