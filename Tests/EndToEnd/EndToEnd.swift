import Foundation
import JSONRPC
import NotesHarness
import TestSupport
import Testing

/// What the suites of this target need to run.
enum Requirements {
  static var binary: Bool { NotesBinary.path != nil }
  static let binaryComment: Comment = "needs notes-lsp, built or named by NOTES_LSP_BINARY"

  static var editors: Bool { binary && missingPrograms.isEmpty }
  static var missingPrograms: [String] {
    ["vim", "emacs", "tmux", "python3"].filter { NotesBinary.find($0) == nil }
  }
  static var editorsComment: Comment { "SKIPPED: needs notes-lsp and these programs: \(missingPrograms)" }
}

/// Whole numbers from the environment, separated by commas or blanks.
func numbers(fromEnvironment name: String) -> [Int]? {
  ProcessInfo.processInfo.environment[name].map { text in
    text.split { !$0.isNumber }.compactMap { Int($0) }
  }
}

/// One person's service with one new note open in a model of an editor.
struct OpenNote {
  let user: NotesUser
  let process: NotesProcess
  let client: ModelClient
  var id: String { client.id }

  init(_ name: String = "Ana", text: String = "", encoding: PositionEncoding = .utf8) throws {
    user = try NotesUser(name)
    process = try user.startInitialized(encoding: encoding)
    let note = try process.request("notes/create", ["title": "Shopping", "text": .string(text)])
    client = try ModelClient(process, note: note, encoding: encoding)
  }

  /// A ticket for one more person.
  func ticket() throws -> String {
    let shared = try process.request("notes/share", ["id": .string(client.id)])
    return try #require(shared["ticket"]?.stringValue)
  }
}

/// One person who has joined by a ticket.
struct JoinedNote {
  let user: NotesUser
  let process: NotesProcess
  let client: ModelClient

  init(_ name: String, ticket: String, encoding: PositionEncoding = .utf8) throws {
    user = try NotesUser(name)
    process = try user.startInitialized(encoding: encoding)
    let note = try process.request("notes/join", ["ticket": .string(ticket)])
    client = try ModelClient(process, note: note, encoding: encoding)
  }
}

/// Expects that no service violated the protocol.
func expectNoComplaints(
  _ clients: ModelClient..., seed: UInt64? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
  for client in clients {
    #expect(client.complaints == [], "seed \(seed.map(String.init) ?? "none")", sourceLocation: sourceLocation)
    #expect(client.process.garbage == [], sourceLocation: sourceLocation)
  }
}
