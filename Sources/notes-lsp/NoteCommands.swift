import ArgumentParser
import Foundation
import JSONRPC
import NotesServer

// The subcommands that change notes. Each is one request of the editor protocol.

/// Prints a request's result: all of it as JSON, or one of its members.
private func show(_ result: JSONValue, _ member: String, json: Bool) {
  guard !json else { return print(result) }
  if let text = result[member]?.stringValue { print(text) }
}

private func absolute(_ path: String) -> JSONValue {
  .string(path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path)
}

/// `notes-lsp new TITLE`: a new note.
struct New: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Make a note, and print where its file is.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The title.") var title: String
  @Flag(help: "Take the text from standard input.") var stdin = false
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let text = stdin ? String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self) : ""
    let title = title
    let result = try StoreRequest.run(store) {
      try await $0.perform("notes/create", ["title": .string(title), "text": .string(text)])
    }
    show(result, "path", json: json)
  }
}

/// `notes-lsp rename NOTE TITLE`: another title.
struct Rename: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Give a note another title.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.") var note: String
  @Argument(help: "The new title.") var title: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, title) = (note, title)
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/rename", ["id": try await session.id(of: note), "title": .string(title)])
    }
    show(result, "path", json: json)
  }
}

/// `notes-lsp rm NOTE`: puts a note away.
struct Remove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm", abstract: "Delete a note; for 30 days it can be had back.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.") var note: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let note = note
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/delete", ["id": try await session.id(of: note)])
    }
    if json { print(result) }
  }
}

/// `notes-lsp export NOTE FILE`: a note as a file.
struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write a note to a file.",
    discussion: """
      Formats: automerge (every Automerge reads it), meetingnotes, markdown, json, automerge-repo (a directory).
      Without --format the file's ending tells.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.") var note: String
  @Argument(help: "The file to write, or the directory.") var file: String
  @Option(help: "The format.") var format: String?
  @Flag(help: "Replace the file if there is one.") var force = false
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, path, format, force) = (note, absolute(file), format, force)
    let result = try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/export",
        .object(present: [
          "id": try await session.id(of: note), "path": path, "format": format.map(JSONValue.string),
          "replace": .bool(force),
        ]))
    }
    show(result, "path", json: json)
  }
}

/// `notes-lsp import FILE`: a file as a note.
struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make notes of files: .automerge, .meetingnotes, Markdown, JSON, or a directory of automerge-repo.",
    discussion: "A document whose id is here already is merged with what is here.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The files.") var files: [String]
  @Option(help: "The title of the note, if there is one file.") var title: String?
  @Flag(help: "Print JSON, one line a file.") var json = false

  func validate() throws {
    guard !files.isEmpty else { throw ValidationError("Name a file.") }
    guard title == nil || files.count == 1 else { throw ValidationError("One title is for one file.") }
  }

  func run() throws {
    let (paths, title) = (files.map(absolute), title)
    let results = try StoreRequest.run(store) { session in
      var results: [JSONValue] = []
      for path in paths {
        results.append(
          try await session.perform(
            "notes/import", .object(present: ["path": path, "title": title.map(JSONValue.string)])))
      }
      return .array(results)
    }
    for result in results.arrayValue ?? [] {
      guard let notes = result["notes"]?.arrayValue, !json else {
        show(result, "path", json: json)
        continue
      }
      for note in notes { show(note, "path", json: false) }
    }
  }
}

/// `notes-lsp merge NOTE FILE`: another copy of a note, taken in.
struct Merge: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take in what another copy of a note has, a file of the same document.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.") var note: String
  @Argument(help: "The other copy.") var file: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, path) = (note, absolute(file))
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/merge", ["id": try await session.id(of: note), "path": path])
    }
    if json { print(result) } else { print("\(result["changes"]?.intValue ?? 0) changes") }
  }
}
