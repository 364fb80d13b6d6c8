import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/import`: makes notes of a file, or of a directory of documents. A copy of a note that is here is merged with it.
struct ImportRequest: EditorRequest {
  static let method = "notes/import"

  let path: String
  let title: String?
  /// The text that becomes the note, if the document has several.
  private let text: TextChoice.Name?

  init(_ params: Parameters) throws(ResponseError) {
    path = try params.absolutePath("path")
    title = try params.stringIfPresent("title")?.trimmingCharacters(in: .whitespacesAndNewlines)
    text = try params.textName()
    if title == "" { throw params.invalid("title", "must not be empty") }
  }

  /// For a document in a directory, or one whose file has already been read.
  init(path: String, text: TextChoice.Name? = nil) { (self.path, title, self.text) = (path, nil, text) }

  func perform(for editor: Editor) async throws -> Result {
    let service = editor.service
    if try await service.files.names(in: path) != nil { return try await importDirectory(editor) }
    return try await importFile(editor, onBytes: editor.news.onImportOfBytes)
  }

  /// - Parameter onBytes: called with how many of the file's bytes are in the note, and how many there are
  private func importFile(_ editor: Editor, onBytes: ((Int, Int) -> Void)? = nil) async throws -> Result {
    let service = editor.service
    guard let bytes = try await service.files.read(path) else {
      throw NotesError(.notFound, "There is no file \(path).")
    }
    onBytes?(0, bytes.count)
    let maker = NoteMaker(service: service)
    let record: NoteRecord
    if belongs(to: service.notebook.folder) {
      // A new note would stand beside its own file.
      record = try await editor.adopt(FileURI.uri(path: path))
      return Result(first: Imported(place: NotePlace(record, service)))
    }
    switch try await ImportedFile.read(bytes, named: path) {
    case .document(let file, let id): return Result(first: try await take(file, id: id, service))
    case .text(let text, let ownTitle):
      let title = title ?? ownTitle ?? FileName.title(ofImported: path)
      record = try await maker.note(title: title.isEmpty ? FileName.untitled : title, text: text) { count in
        onBytes?(min(count, bytes.count), bytes.count)
      }
    case .meeting(let meeting):
      var content = meeting
      if let title { content.title = title }
      record = try await maker.meeting(content)
    }
    return Result(first: Imported(place: NotePlace(record, service)))
  }

  /// Whether the file is a text in the folder of the notes: such a file becomes a note where it is.
  private func belongs(to folder: NotesFolder) -> Bool {
    title == nil
      && FileURI.path(uri: FileURI.uri(path: path)).map { folder.named($0).hasPrefix(folder.path + "/") } == true
      && Self.textEndings.contains((path as NSString).pathExtension.lowercased())
  }

  /// Imports the documents of a directory in the layout of automerge-repo, or, from any other folder, the files that
  /// can become notes.
  private func importDirectory(_ editor: Editor) async throws -> Result {
    let service = editor.service
    let documents = try await RepoDirectory.documents(in: path, service.files)
    if documents.isEmpty { return try await importFiles(editor) }
    var notes: [Imported] = [], skipped = 0
    var progress = ImportProgress(total: documents.count, at: service.clock.now)
    for (number, (id, folder)) in documents.enumerated() {
      defer { editor.news.onImport?(number + 1, documents.count) }
      tell(progress.step(at: service.clock.now), editor)
      guard let loaded = try await RepoDirectory.load(folder, service.files), loaded.document.isNoteOrMeeting else {
        skipped += 1
        continue
      }
      let untitled = ImportRequest(path: folder)
      notes.append(try await untitled.take(loaded, id: id, service))
    }
    guard let first = notes.first else { throw NotesError(.notFound, "There is no note in \(path).") }
    return Result(first: first, all: notes, skipped: skipped)
  }

  private static let textEndings = ["md", "markdown", "txt"]
  private static let endings = textEndings + ["automerge", "meetingnotes", "json"]

  /// Imports each file as if it were named alone. A file that cannot be imported does not stop the others.
  private func importFiles(_ editor: Editor) async throws -> Result {
    let service = editor.service
    let names = try await service.files.names(in: path) ?? []
    let files = names.filter { !$0.hasPrefix(".") }.sorted().map { path + "/" + $0 }
    var notes: [Imported] = [], failed: [Result.Failure] = []
    var progress = ImportProgress(total: files.count, at: service.clock.now)
    for (number, file) in files.enumerated() {
      defer { editor.news.onImport?(number + 1, files.count) }
      tell(progress.step(at: service.clock.now), editor)
      let name = OneLine.shown((file as NSString).lastPathComponent)
      guard try await service.files.names(in: file) == nil else {
        failed.append(Result.Failure(path: file, message: "\(name) is a folder: import it by itself."))
        continue
      }
      // The working file of a note is not imported.
      guard Self.endings.contains((file as NSString).pathExtension.lowercased()),
        service.notebook.record(atURI: FileURI.uri(path: file)) == nil
      else { continue }
      // Otherwise the folder's author would choose which of this person's files become notes.
      guard leadsInside(file) else {
        failed.append(
          Result.Failure(path: file, message: "\(name) is a link out of the folder: import the file itself."))
        continue
      }
      do {
        notes.append(try await ImportRequest(path: file).importFile(editor).first)
      } catch {
        failed.append(Result.Failure(path: file, message: ResponseError(replyingTo: error).message))
      }
    }
    guard let first = notes.first else {
      let isAny = files.contains { Self.endings.contains(($0 as NSString).pathExtension.lowercased()) }
      let nothing = isAny ? "The files in \(path) are notes already." : "There is no note in \(path)."
      throw NotesError(.notFound, failed.first?.message ?? nothing)
    }
    return Result(first: first, all: notes, failed: failed)
  }

  /// Whether a file in the folder is there, and not elsewhere behind a symbolic link.
  private func leadsInside(_ file: String) -> Bool {
    func real(_ path: String) -> String { FileURI.places(uri: FileURI.uri(path: path)).last ?? path }
    return real(file).hasPrefix(real(path) + "/")
  }

  @AutomergeRepo
  private func tell(_ line: String?, _ editor: Editor) {
    if let line { editor.deliver(["kind": "progress", "message": .string(line)]) }
  }

  /// Makes a document with a history a note. Merges a copy of a document that is already here; otherwise a document without an
  /// id gets a new one.
  func take(_ file: ForeignFile, id: DocumentId?, _ service: Service) async throws -> Imported {
    let document = file.document
    let known = try await id == nil ? service.original(of: document) : id
    let isHere = known.flatMap { service.notebook[$0] } != nil
    let choice = TextChoice(service: service, name: text)
    // For a note that is here, the text is chosen already.
    let chosen = isHere && text == nil ? nil : try await choice.place(in: document)
    let (record, changes) = try await merge(document, id: known, chosen.map { (choice, $0) }, service)
    let place = NotePlace(record, service)
    guard !isHere else { return Imported(place: place, changes: changes, leftOut: file.leftOut) }
    return Imported(place: place, remark: Self.remark(on: document, chosen: chosen), leftOut: file.leftOut)
  }

  /// What a person may not expect of the new note; nil if there is nothing.
  private static func remark(on document: Document, chosen: TextPlace?) -> String? {
    let content = chosen?.text ?? (MeetingDocument(document) == nil ? NoteDocument(document)?.content : nil)
    let isEmpty = content.map { document.length(obj: $0) == 0 } ?? false
    guard let path = chosen?.path ?? content.flatMap({ foreignPath(of: $0, in: document) }) else {
      return isEmpty ? "the document's text is empty" : nil
    }
    return "the document's text \(OneLine.shown(path))" + (isEmpty ? ", which is empty" : "")
  }

  /// The path of a text in the root of another program's document; nil in a note's.
  private static func foreignPath(of text: ObjId, in document: Document) -> String? {
    guard (try? document.get(obj: .ROOT, key: "@notes")) == .some(nil) else { return nil }
    let entries = (try? document.mapEntries(obj: .ROOT)) ?? []
    return entries.first { $0.1 == .Object(text, .Text) }.map { "." + $0.0 }
  }

  /// Returns the note, and how many changes were new.
  private func merge(
    _ document: Document, id: DocumentId?, _ chosen: (choice: TextChoice, place: TextPlace)?, _ service: Service
  ) async throws -> (NoteRecord, Int) {
    let handle: DocHandle
    var changes = 0
    if let id {
      switch await service.repo.search(id, within: Service.importSearch) {
      case .found(let known):
        guard known.document.isCopy(document) else { throw Self.stranger }
        // Changes that its peers would refuse do not enter a note.
        if !known.document.unknown(document.heads()).isEmpty { try service.checkMayWrite(id) }
        if let chosen { try chosen.choice.check(chosen.place, for: known) }
        changes = try known.merge(document)
        handle = known
      case .deleted:
        try await service.repo.undelete(id)
        handle = try await service.repo.create(doc: document, id: id)
      case .unavailable, .timedOut, .stopped: handle = try await service.repo.create(doc: document, id: id)
      case .failed(let problem): throw NotesError(.storeUnavailable, "The store cannot be read: \(problem).")
      }
    } else {
      handle = try service.repo.create(document)
    }
    if let chosen { try chosen.choice.choose(chosen.place, in: handle) }
    service.notebook.update(handle.id) { $0.deletedSince = nil }
    guard let note = NoteDocument(handle.document), service.notebook[handle.id]?.path == nil else {
      return (try await NoteOpener(service: service).open(handle.id), changes)
    }
    let own = note.title.flatMap { $0.isEmpty ? nil : $0 }
    let record = try await service.makeWorkingFile(
      for: handle, title: title ?? own ?? FileName.title(ofImported: path), directory: service.notesDirectory)
    if let title, title != own { return (try await service.rename(record, to: title), changes) }
    return (record, changes)
  }

  /// Any program can write the id of a note into a file. Merged with a document of another origin, the note would show
  /// its text.
  private static let stranger = NotesError(
    .noSharedHistory, "The file has the id of a note that is here, but contains another document. Nothing was changed.")

  /// The note of an imported document, whether new or here already.
  struct Imported {
    let place: NotePlace
    /// For a note that was here: how many of the document's changes were new, and are merged.
    var changes: Int?
    /// For a new note: what a person may not expect of it, as the end of a sentence.
    var remark: String?
    /// What of the file could not be used.
    var leftOut: ForeignFile.LeftOut?

    var members: JSONObject {
      var members = place.members
      members["remark"] = remark.map(JSONValue.string)
      members["leftOut"] = leftOut.map { .string($0.words) }
      if changes != nil || remark != nil || leftOut != nil { members["title"] = .string(place.title) }
      guard let changes else { return members }
      members["known"] = true
      members["changes"] = JSONValue(changes)
      return members
    }
  }

  struct Result: RequestResult {
    let first: Imported
    /// For a directory: its notes.
    var all: [Imported]?
    /// The files of a folder that could not be imported.
    var failed: [Failure] = []
    /// How many documents of a directory are no notes.
    var skipped = 0

    struct Failure {
      let path: String
      let message: String
    }

    private var message: String {
      let title = OneLine.shown(first.place.title)
      if let all, all.count > 1 { return ":Notes lists the \(all.count) imported notes" }
      guard let changes = first.changes else {
        return "Imported \"\(title)\"" + (first.remark.map { ": \($0)" } ?? "")
      }
      return "\"\(title)\" is here already; merged \(NoteNews.number(changes, "new change"))"
    }

    /// The gravest of what a person does not expect.
    private var warning: String? {
      let damaged = (all ?? [first]).compactMap(\.leftOut)
      if let leftOut = damaged.first {
        guard failed.isEmpty else { return "Left out \(NoteNews.number(failed.count, "file")), and damaged parts" }
        return "Left out " + (damaged.count == 1 ? leftOut.words : "damaged parts of \(damaged.count) files")
      }
      if !failed.isEmpty { return ":NotesLog says why \(NoteNews.number(failed.count, "file")) could not be imported" }
      guard skipped > 0 else { return nil }
      let documents = NoteNews.number(skipped, "other document")
      return "Left out \(documents) of the directory: not \(skipped == 1 ? "a note" : "notes")"
    }

    var json: JSONValue {
      var members = first.members
      members["notes"] = all.map { .array($0.map { .object($0.members) }) }
      if !failed.isEmpty {
        members["failed"] = .array(failed.map { ["path": .string($0.path), "message": .string($0.message)] })
      }
      if skipped > 0 { members["skipped"] = JSONValue(skipped) }
      members["message"] = .string(message)
      members["warning"] = warning.map(JSONValue.string)
      return .object(members)
    }
  }
}

extension Service {
  /// The time limit for asking peers for a document that a file names.
  fileprivate static let importSearch: Duration = .seconds(2)
  /// How far apart the creation times in a document and its record may be.
  private static let creationTolerance: TimeInterval = 2

  /// The note of which a document without an id is a copy: the two have changes in common. Nil if there is none.
  /// - Complexity: O(n) in the notes that were made at the same time; in all of them if the document does not say when.
  fileprivate func original(of document: Document) async throws -> DocumentId? {
    let created = NoteDocument(document)?.created
    for record in notebook.records.values where record.item == nil {
      if let created, abs(record.created.timeIntervalSince(created)) > Self.creationTolerance { continue }
      guard case .found(let handle) = await repo.search(record.id, within: Self.importSearch) else { continue }
      if handle.document.sharesHistory(with: document) { return record.id }
    }
    return nil
  }
}
