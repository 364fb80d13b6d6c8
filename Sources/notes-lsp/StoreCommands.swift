import ArgumentParser
import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import NotesServer
import PeerNetwork
import SQLiteStorage
import Store

/// `notes-lsp list`: the notes of the store, newest first.
struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List your notes and those shared with you, the last changed first.",
    discussion: """
      On a terminal in two groups, with owner, people, size, file and time; * marks what others have changed since you last \
      closed the note. Elsewhere each line is an id, a title and the path of the file.
      """)

  @OptionGroup var store: StoreOptions
  @Flag(help: "List the deleted notes that can be restored.") var deleted = false
  @Flag(help: "Print JSON, one object for each note.") var json = false

  func run() async throws {
    if Output.isTerminal, !json { return try printTable() }
    let notes = try await StoredNotes.open(store).reader.notes(deleted: deleted)
    for note in notes {
      if json {
        try Output.print(json: note)
      } else {
        Output.print(fields: note.id, note.title, note.path ?? "-")
      }
    }
  }

  /// The list as both editors show it.
  private func printTable() throws {
    let params: JSONValue = ["deleted": .bool(deleted), "width": JSONValue(Output.width)]
    let result = try StoreRequest.run(store) { try await $0.perform("notes/list", params) }
    // Of an empty list only the first line is useful: the others name keys of editors.
    let isEmpty = result["rows"]?.arrayValue?.allSatisfy { $0["id"] == nil } ?? true
    let lines = (result["lines"]?.arrayValue ?? []).compactMap(\.stringValue)
    for line in lines.prefix(isEmpty ? 1 : lines.count) { Output.print(fields: line) }
    if isEmpty, !deleted { Output.print(line: "notes-lsp new TITLE makes one, notes-lsp join TICKET joins one.") }
  }
}

/// `notes-lsp show NOTE`: a note's text.
struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the text of a note.",
    discussion: "The output includes what other programs have written to its file since.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Flag(help: "Print JSON.") var json = false

  func run() async throws {
    let notes = try await StoredNotes.open(store)
    guard let text = try await notes.reader.text(of: try await notes.id(of: note)) else {
      throw Failure(
        message: "There is no note \"\(note)\" in \(store.homeDirectory); \"notes-lsp list\" shows what is there.")
    }
    if json {
      try Output.print(json: text)
    } else {
      Output.write(Output.text(text.text))
    }
  }
}

/// `notes-lsp find WORDS`: finds the notes that contain the words.
struct Find: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Find the notes that contain all given words, in any order and case.",
    discussion: """
      A word also matches inside a longer one. Quotes make a phrase; put them inside the shell's quotes: \
      '"oat milk" tea'. Each line is a title, the place of the first match and its line. Exit code 1 if there is none.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The words.") var words: [String]
  @Flag(help: "Print JSON, one object for each note.") var json = false

  func validate() throws {
    guard words.contains(where: { !$0.trimmingCharacters(in: .whitespaces).isEmpty }) else {
      throw ValidationError("Name a word to look for.")
    }
  }

  /// Each argument of the shell is a phrase, unless it has quotes of its own.
  private var query: String {
    words.map { word in
      words.count > 1 && word.contains(where: \.isWhitespace) && !word.contains("\"") ? "\"\(word)\"" : word
    }.joined(separator: " ")
  }

  func run() throws {
    let query = query
    let result = try StoreRequest.run(store) { try await $0.perform("notes/list", ["query": .string(query)]) }
    let notes = result["notes"]?.arrayValue ?? []
    for note in notes {
      guard !json else {
        Output.print(json: note)
        continue
      }
      let match = note["match"]
      let path = match?["path"]?.stringValue ?? note["path"]?.stringValue ?? note["folder"]?.stringValue ?? "-"
      let line = match?["line"]?.intValue.map { ":\($0 + 1)" } ?? ""
      let text = match?["text"]?.stringValue?.trimmingCharacters(in: .whitespaces)
      Output.print(fields: note["title"]?.stringValue ?? "", path + line, text)
    }
    guard !notes.isEmpty else { throw Failure(message: "No note contains \(words.joined(separator: " ")).") }
  }
}

/// Reads a store beside running editors.
private struct StoredNotes {
  let reader: StoreReader

  static func open(_ options: StoreOptions) async throws -> StoredNotes {
    let home = options.homeDirectory
    let storage = try await SQLiteStore.ofCommand(home: home)
    let journals = JournalFiles(home: home, run: "reader")
    return StoredNotes(
      reader: try await StoreReader(storage: storage, files: WorkingFileAdapter(home: home), journals: journals))
  }

  /// The id of the note with this id or title; the text itself if the list has no such note.
  func id(of name: String) async throws -> String {
    let name = NoteName(name)
    let found = name.matches(in: await reader.notes(), id: \.id, title: \.title)
    guard found.count <= 1 else { throw Failure(message: name.ambiguity(found.map(\.id))) }
    return found.first?.id ?? name.text
  }
}

extension SQLiteStore {
  /// The store in `home`, which must exist. A damaged one is refused: only a service, which tells its editor, and
  /// `fsck --repair` rebuild it.
  static func ofCommand(home: String) async throws -> SQLiteStore {
    try requireStore(in: home)
    do {
      return try await open(directory: URL(fileURLWithPath: home, isDirectory: true), rebuilding: false)
    } catch {
      throw Failure(storeIn: home, error)
    }
  }

  static func requireStore(in home: String) throws {
    guard ["notes.db", "store"].contains(where: { FileManager.default.fileExists(atPath: home + "/" + $0) }) else {
      throw Failure(message: "There is no store in \(home); --home or NOTES_HOME says where it is.")
    }
  }
}

extension Failure {
  init(storeIn home: String, _ error: StorageError) {
    message =
      if let damage = error.fileDamage {
        "The store in \(home) is damaged (\(damage)); notes-lsp fsck --repair rebuilds it from what can be read."
      } else {
        "The store in \(home) cannot be used: \(error)."
      }
  }
}
