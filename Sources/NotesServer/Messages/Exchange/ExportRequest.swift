import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/export`: writes a note to a file, or into a directory of documents.
struct ExportRequest: EditorRequest {
  static let method = "notes/export"

  enum Format: String, CaseIterable {
    case automerge, meetingnotes, markdown, json
    /// A directory in automerge-repo's layout.
    case automergeRepo = "automerge-repo"

    /// The format that the extension of a file's name implies; nil if there is none.
    init?(path: String) {
      switch (path as NSString).pathExtension.lowercased() {
      case "automerge": self = .automerge
      case "meetingnotes": self = .meetingnotes
      case "md", "markdown", "txt": self = .markdown
      case "json": self = .json
      default: return nil
      }
    }
  }

  let note: NoteReference
  let path: String
  let format: Format
  let replacing: Bool

  init(_ params: Parameters) throws(ResponseError) {
    path = try params.absolutePath("path")
    replacing = try params.boolIfPresent("replace") ?? false
    guard let format = try params.choiceIfPresent("format", as: Format.self) ?? Format(path: path) else {
      throw ResponseError.invalidParams(
        "\"\((path as NSString).lastPathComponent)\" has no known extension; choose a format, such as markdown."
      )
    }
    self.format = format
    note = try NoteReference(params)
  }

  func perform(for editor: Editor) async throws -> Result {
    let record = try editor.note(note)
    let handle = try await editor.service.fetch(record.id)
    let document = handle.document
    var place = path
    let bytes: [UInt8]
    switch format {
    case .automerge: bytes = Array(document.save())
    case .meetingnotes: bytes = MeetingNotesFile(id: handle.id, data: document.save()).encoded
    case .markdown: bytes = Array(try markdown(of: document).utf8)
    case .json: bytes = try json(of: handle, record).encoded() + [0x0A]
    case .automergeRepo:
      bytes = Array(document.save())
      place = RepoDirectory.snapshotPath(of: handle.id, holding: bytes, in: path)
    }
    let folder = (path as NSString).deletingLastPathComponent
    guard try await editor.service.files.names(in: folder) != nil else {
      throw NotesError(.notFound, "There is no folder \(folder).")
    }
    guard try await editor.service.files.write(place, bytes, replacing: replacing) else {
      throw NotesError(.conflict, "\((place as NSString).lastPathComponent) exists already.")
    }
    return Result(path: place)
  }

  private func markdown(of document: Document) throws -> String {
    if let note = NoteDocument(document) { return try document.text(obj: note.content) }
    guard let meeting = MeetingDocument(document) else {
      throw NotesError(.notANote, "The document contains no text.")
    }
    return meeting.content.markdown
  }

  private func json(of handle: DocHandle, _ record: NoteRecord) throws -> JSONValue {
    let heads = handle.document.heads().map(\.description).sorted()
    if record.folder != nil, case .object(var meeting)? = MeetingDocument(handle.document)?.content.json {
      meeting["documentId"] = .string(handle.id.description)
      meeting["heads"] = JSONValue(heads)
      return .object(meeting)
    }
    return .object(present: [
      "id": .string(handle.id.description), "title": .string(record.title),
      "created": .int(Int64(record.created.milliseconds)), "modified": .int(Int64(record.modified.milliseconds)),
      "heads": JSONValue(heads), "text": .string(try markdown(of: handle.document)),
    ])
  }

  struct Result: RequestResult {
    let path: String

    var json: JSONValue { ["path": .string(path)] }
  }
}

extension Parameters {
  func absolutePath(_ field: String) throws(ResponseError) -> String {
    guard let path = try absolutePathIfPresent(field) else { return try string(field) }
    return path
  }

  /// A relative path would start at the directory in which this process was started.
  func absolutePathIfPresent(_ field: String) throws(ResponseError) -> String? {
    guard let path = try stringIfPresent(field) else { return nil }
    guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw invalid(field, "must be an absolute path") }
    return path
  }
}
