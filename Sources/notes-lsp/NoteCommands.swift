import ArgumentParser
import Foundation
import JSONRPC
import NotesServer

// The subcommands that change notes. Each is one request of the editor protocol.

/// Prints a request's result: all of it as JSON, or one of its members.
private func show(_ result: JSONValue, _ member: String, json: Bool) {
  guard !json else { return Output.print(json: result) }
  if let text = result[member]?.stringValue { Output.print(fields: text) }
}

/// A path that a person typed, as an absolute path for a request.
func absolutePath(_ path: String) -> JSONValue {
  .string(path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path)
}

/// `notes-lsp new TITLE`: a new note.
struct New: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Make a note and print the path of its file.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The title.") var title: String
  @Flag(help: "Read the text from standard input.") var stdin = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws { try UTF8Arguments.check(title, "title") }

  func run() throws {
    let bytes = stdin ? FileHandle.standardInput.readDataToEndOfFile() : Data()
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(message: "Standard input is not UTF-8; no note was made.")
    }
    let title = title
    let result = try StoreRequest.run(store) {
      try await $0.perform("notes/create", ["title": .string(title), "text": .string(text)])
    }
    show(result, "path", json: json)
  }
}

/// `notes-lsp rename NOTE TITLE`: another title.
struct Rename: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Rename a note and print the path of its file.",
    discussion: "The file is renamed at once, or when no editor has it open any more.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Argument(help: "The new title.") var title: String
  @Flag(help: "Print JSON.") var json = false

  func validate() throws { try UTF8Arguments.check(title, "title") }

  func run() throws {
    let (note, title) = (note, title)
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/rename", ["id": try await session.id(of: note), "title": .string(title)])
    }
    show(result, "path", json: json)
  }
}

/// `notes-lsp rm NOTE`: deletes a note, which can be restored for a while.
struct Remove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Delete your copy of a note; it can be restored for 30 days.",
    discussion: "Others keep their copies. undelete restores yours, purge removes it for good.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let note = note
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/delete", ["id": try await session.id(of: note)])
    }
    if json { Output.print(json: result) }
  }
}

/// `notes-lsp undelete NOTE`: restores a note.
struct Undelete: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Restore a deleted note and print the path of its file.",
    discussion: "list --deleted shows what can be restored.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The deleted note's id or title.") var note: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let note = note
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/undelete", ["id": try await session.id(of: note, deleted: true)])
    }
    show(result, "path", json: json)
  }
}

/// `notes-lsp purge NOTE`: removes a deleted note permanently.
struct Purge: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove a deleted note and its history for good.",
    discussion: "Asks first. Others keep their copies.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The deleted note's id or title.") var note: String
  @Flag(help: "Do not ask; required without a terminal.") var yes = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard yes || Prompt.isPossible else { throw ValidationError("Without a terminal, purge needs --yes.") }
  }

  func run() throws {
    let (note, yes) = (note, yes)
    let result = try StoreRequest.run(store) { session in
      let found = try await session.note(named: note, deleted: true)
      guard let id = found["id"] else { return .null }
      if !yes {
        let title = found["title"]?.stringValue ?? note
        let reply = await Prompt.ask("Remove \"\(title)\" and its history for good? This cannot be undone. [y/N]")
        guard reply == .yes else { throw Failure(message: "Nothing was removed.") }
      }
      return try await session.perform("notes/purge", ["id": id])
    }
    if json { Output.print(json: result) }
  }
}

/// `notes-lsp export NOTE FILE`: a note as a file.
struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a note to a file.",
    discussion: """
      The file's ending tells the format, or --format does:
        automerge       the document, for any Automerge program
        meetingnotes    the document, as the app MeetingNotes keeps it
        markdown        the text
        json            the text, with title, times and heads
        automerge-repo  a directory in automerge-repo's layout, also if the name ends in a slash
      The file - is standard output, and gets the text unless --format says otherwise.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Argument(help: "The file to write, or the directory.", completion: .file()) var file: String
  @Option(help: "The format.", completion: Completions.formats) var format: String?
  @Flag(help: "Replace the file if it exists.") var force = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard file == "-" else { return }
    guard format != "automerge-repo" else { throw ValidationError("automerge-repo needs a directory.") }
    guard !json else { throw ValidationError("--json needs a file.") }
    guard !Output.isTerminal || ["markdown", "json", nil].contains(format) else {
      throw ValidationError("\(format ?? "") is not text; redirect the output to a file.")
    }
  }

  func run() throws {
    guard file == "-" else {
      return show(try export(to: absolutePath(file), format: format ?? formatOfDirectory, force), "path", json: json)
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("notes-lsp-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let bytes = Result {
      defer { try? FileManager.default.removeItem(at: folder) }
      let copy = folder.appendingPathComponent("note")
      _ = try export(to: .string(copy.path), format: format ?? "markdown", false)
      return try Data(contentsOf: copy)
    }
    let data = try bytes.get()
    guard Output.isTerminal else { return Output.write(data) }
    let text = String(decoding: data, as: UTF8.self)
    Output.write(format == "json" ? Output.json(text: text) : Output.text(text))
  }

  /// The format of a directory; nil if `file` names none.
  private var formatOfDirectory: String? {
    var isDirectory: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory)
    return file.hasSuffix("/") || exists && isDirectory.boolValue ? "automerge-repo" : nil
  }

  private func export(to path: JSONValue, format: String?, _ force: Bool) throws -> JSONValue {
    try OwnFiles.refuse(path.stringValue ?? "", in: store.homeDirectory)
    let note = note
    return try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/export",
        .object(present: [
          "id": try await session.currentId(of: note), "path": path, "format": format.map(JSONValue.string),
          "replace": .bool(force),
        ]))
    }
  }
}

/// `notes-lsp import FILE`: a file as a note.
struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make notes from files and print the paths of the notes' files.",
    discussion: """
      Takes .automerge, .meetingnotes, Markdown, JSON, folders of such files, and directories of automerge-repo. A document \
      that is here already is merged with the note that it is a copy of. In another program's document, --text names the text to edit; \
      texts lists what there is.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The files.", completion: .file()) var files: [String]
  @Option(help: "The note's title, if there is one file.") var title: String?
  @Option(help: "The text to edit, as .chapters.[0].body, if there is one file.") var text: String?
  @Flag(help: "Print JSON, one line for each file.") var json = false

  func validate() throws {
    guard !files.isEmpty else { throw ValidationError("Name a file.") }
    try UTF8Arguments.check(title, "title")
    var isFolder: ObjCBool = false
    let isSingle =
      files.count == 1
      && !(FileManager.default.fileExists(atPath: files[0], isDirectory: &isFolder) && isFolder.boolValue)
    guard title == nil || isSingle else { throw ValidationError("--title needs exactly one file, and no folder.") }
    guard text == nil || isSingle else { throw ValidationError("--text needs exactly one file, and no folder.") }
  }

  func run() throws {
    let (paths, title, text) = (files.map(absolutePath), title, text)
    let results = try StoreRequest.run(store) { session in
      var results: [JSONValue] = []
      var progress = Progress("Importing", total: paths.count)
      // Of a single folder, its files are counted; of a single file, its bytes.
      if paths.count == 1 {
        session.onImport = { number, total in
          if number == 1 { progress = Progress("Importing", total: total) }
          progress.step()
        }
        session.onImportOfBytes = { count, total in
          if count == 0 { progress = Progress("Importing", total: total, .bytes) }
          progress.reach(count)
        }
      }
      for path in paths {
        let asked = JSONValue.object(present: [
          "path": path, "title": title.map(JSONValue.string), "text": text.map(JSONValue.string),
        ])
        do {
          let result = try await session.perform("notes/import", asked)
          results.append(result)
          for failure in result["failed"]?.arrayValue ?? [] {
            progress.end()
            Output.note("\(failure["path"]?.stringValue ?? ""): \(failure["message"]?.stringValue ?? "")")
          }
        } catch let error as ResponseError where paths.count > 1 {
          // The other files are imported all the same.
          progress.end()
          Output.note("\(path.stringValue ?? ""): \(error.message)")
          results.append(.null)
        }
        if paths.count > 1 { progress.step() }
      }
      progress.end()
      return .array(results)
    }
    let all = results.arrayValue ?? []
    for result in all where result != .null {
      guard !json else {
        Output.print(json: result)
        continue
      }
      for note in result["notes"]?.arrayValue ?? [result] {
        show(note, "path", json: false)
        let title = note["title"]?.stringValue ?? ""
        if let remark = note["remark"]?.stringValue { Output.note("Imported \"\(title)\": \(remark).") }
        if let leftOut = note["leftOut"]?.stringValue { Output.note("\"\(title)\": left out \(leftOut).") }
        guard note["known"]?.boolValue ?? false else { continue }
        let changes = counted(note["changes"]?.intValue ?? 0, "change")
        Output.note("\"\(title)\" is here already; \(changes) merged.")
      }
      if result["skipped"] != nil, let warning = result["warning"]?.stringValue { Output.note(warning + ".") }
    }
    func inside(_ member: String) -> Int { all.reduce(0) { $0 + ($1[member]?.arrayValue?.count ?? 0) } }
    let failed = all.count { $0 == .null } + inside("failed")
    let count = all.count { $0["notes"] == nil } + inside("notes") + inside("failed")
    if failed > 0 { throw Failure(message: "\(failed) of \(count) files were not imported.") }
    let damaged = all.flatMap { $0["notes"]?.arrayValue ?? [$0] }.count { $0["leftOut"] != nil }
    guard damaged > 0 else { return }
    throw Failure(
      message: "\(count == 1 ? "The file" : "\(damaged) of \(count) files") could be imported only in part.")
  }
}

/// `notes-lsp merge NOTE FILE`: merges another copy of a note.
struct Merge: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Merge another copy of a note into it.", discussion: "The file must be a copy of the same document.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Argument(help: "The other copy.", completion: .file()) var file: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, path) = (note, absolutePath(file))
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/merge", ["id": try await session.currentId(of: note), "path": path])
    }
    if json {
      Output.print(json: result)
    } else {
      Output.print(line: "\(counted(result["changes"]?.intValue ?? 0, "change")) merged")
    }
    if let leftOut = result["leftOut"]?.stringValue { throw Failure(message: "Left out \(leftOut).") }
  }
}
