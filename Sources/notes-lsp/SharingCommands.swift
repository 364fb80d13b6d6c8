import ArgumentParser
import Foundation
import JSONRPC
import NotesServer

// The subcommands that need the network: the running service that has it carries them out.

/// `notes-lsp share NOTE`: a ticket.
struct Share: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a ticket for a note.", discussion: "A service must be running: it is who opens the door.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.") var note: String
  @Flag(help: "Who comes with the ticket may only read.") var readOnly = false
  @Option(help: "How many may come with it.") var uses = 1
  @Option(help: "For how many seconds it is good.") var expiresIn: Int?
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard uses > 0 else { throw ValidationError("--uses must be at least 1.") }
    guard (expiresIn ?? 1) > 0 else { throw ValidationError("--expires-in must be at least 1.") }
  }

  func run() throws {
    let (note, access, uses, expiresIn) = (note, readOnly ? "read" : "write", uses, expiresIn)
    let result = try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/share",
        .object(present: [
          "id": try await session.id(of: note), "access": .string(access), "uses": JSONValue(uses),
          "expiresIn": expiresIn.map { JSONValue($0) },
        ]))
    }
    if json { print(result) } else { print(result["ticket"]?.stringValue ?? "") }
  }
}

/// `notes-lsp join TICKET`: the note that a ticket opens.
struct Join: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Join a note with a ticket, and print where its file is.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The ticket.") var ticket: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let ticket = ticket
    let result = try StoreRequest.run(store) { try await $0.perform("notes/join", ["ticket": .string(ticket)]) }
    if json { print(result) } else { print(result["path"]?.stringValue ?? "") }
  }
}

/// `notes-lsp peers`: who is there.
struct Peers: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List the people whom the running service knows of.")

  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let result = try StoreRequest.run(store) { try await $0.perform("notes/peers", [:]) }
    guard !json else { return print(result) }
    for peer in result["peers"]?.arrayValue ?? [] {
      let words = ["name", "state", "via", "fingerprint"].compactMap { peer[$0]?.stringValue }.filter { !$0.isEmpty }
      print(words.joined(separator: "  "))
    }
  }
}

/// `notes-lsp invite NOTE PEER`: asks somebody near to a note.
struct Invite: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Invite somebody near to a note.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.") var note: String
  @Argument(help: "The person's id or name.") var peer: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, peer) = (note, peer)
    let result = try StoreRequest.run(store) { session in
      try await session.perform("notes/invite", ["id": try await session.id(of: note), "peer": .string(peer)])
    }
    guard !json else { return print(result) }
    print(result["code"]?.stringValue.map { "Compare these digits with \(peer): \($0)" } ?? "invited")
  }
}
