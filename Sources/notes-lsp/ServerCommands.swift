import ArgumentParser
import Foundation
import JSONRPC
import NotesServer

/// `notes-lsp connect URL`: keeps this person's service connected to a server.
struct Connect: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Connect to a server that is always on, now and after each start.",
    discussion: """
      This sends no note. --note publishes one there, and prints a ticket with which people whom the server lets in \
      can join it. Without a running editor the server is remembered, and connected when one starts.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The server's address, such as wss://notes.example.org/.") var url: String
  @Option(help: "The token from the server's operator; - reads it from standard input.") var token: String?
  @Option(help: "Publish this note there: its id or title.", completion: Completions.note) var note: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (url, note) = (url, note)
    let token = token == "-" ? readLine() : token
    let result = try StoreRequest.run(store) { session in
      var result = try await session.perform(
        "notes/connect", .object(present: ["url": .string(url), "token": token.map(JSONValue.string)]))
      if let note {
        let published = try await session.perform(
          "notes/publish", ["id": try await session.currentId(of: note), "url": result["url"] ?? .string(url)])
        if case .object(var members) = result {
          members["note"] = published["url"]
          if published["state"] == "connected", let refusal = published["message"] {
            members["message"] = refusal
          } else {
            members["ticket"] = published["ticket"]
          }
          result = .object(members)
        }
      }
      return result
    }
    guard !json else { return Output.print(json: result) }
    let state = result["state"] == "connected" ? "connected" : "remembered, not connected yet"
    Output.print(fields: result["url"]?.stringValue, state, result["message"]?.stringValue)
    if result["note"] != nil, result["state"] != "connected" {
      Output.print(line: "The note is published as soon as the server lets you in.")
    }
    if let ticket = result["ticket"]?.stringValue { Output.print(fields: ticket) }
  }
}

/// `notes-lsp disconnect URL`: forgets a server.
struct Disconnect: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Forget a server, and what is published there; the server keeps what it has.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The server's address.") var url: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let url = url
    let result = try StoreRequest.run(store) { try await $0.perform("notes/disconnect", ["url": .string(url)]) }
    if json { Output.print(json: result) }
  }
}
