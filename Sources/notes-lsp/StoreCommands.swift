import ArgumentParser
import Automerge
import AutomergeRepo
import Foundation
import NotesServer
import PeerNetwork
import Store

/// `notes-lsp list`: the notes of the store, newest first.
struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List the notes.")

  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  func run() async throws {
    let notes = try await StoredNotes.open(home: store.homeDirectory).list()
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(notes), as: UTF8.self))
    } else {
      for note in notes { print("\(note.id)  \(note.title)  \(note.path ?? "-")") }
    }
  }
}

/// `notes-lsp show NOTE`: a note's text, as it is in the store.
struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Print the text of a note.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.") var note: String
  @Flag(help: "Print JSON.") var json = false

  func run() async throws {
    let notes = try await StoredNotes.open(home: store.homeDirectory)
    guard let text = try await notes.text(of: note) else {
      throw Failure(
        message: "There is no note \"\(note)\" in \(store.homeDirectory); \"notes-lsp list\" shows what is there.")
    }
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(text), as: UTF8.self))
    } else {
      FileHandle.standardOutput.write(Data(text.text.utf8))
    }
  }
}

/// Reads a store beside running editors.
private struct StoredNotes {
  let reader: StoreReader

  static func open(home: String) async throws -> StoredNotes {
    StoredNotes(reader: try await StoreReader(storage: try await SQLiteStore.ofCommand(home: home)))
  }

  func list() async throws -> [StoreReader.Note] { await reader.notes() }

  func text(of note: String) async throws -> StoreReader.NoteText? { try await reader.text(of: note) }
}

extension SQLiteStore {
  /// The store in `home`, which must be there.
  static func ofCommand(home: String) async throws -> SQLiteStore {
    guard ["notes.db", "store"].contains(where: { FileManager.default.fileExists(atPath: home + "/" + $0) }) else {
      throw Failure(message: "There is no store in \(home); --home or NOTES_HOME says where it is.")
    }
    do {
      return try await SQLiteStore.open(directory: URL(fileURLWithPath: home, isDirectory: true))
    } catch {
      throw Failure(message: "The store in \(home) cannot be used: \(error).")
    }
  }
}
