import ArgumentParser
import AutomergeRepo
import Foundation
import JSONRPC
import NotesServer

// The subcommands that need the network: the running service that has it carries them out.

/// `notes-lsp share NOTE`: a ticket.
struct Share: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print a ticket for a note.",
    discussion:
      "Anyone with the ticket can join while you are both online and can reach each other: on one network, or where a "
      + "router lets the other in. Needs an editor with a note open.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Flag(help: "People who join with the ticket can read but not edit.") var readOnly = false
  @Option(help: ArgumentHelp("How many people can join with it.", valueName: "count")) var uses = 1
  @Option(help: ArgumentHelp("How many seconds it stays valid.", valueName: "seconds")) var expiresIn: Int?
  @Flag(help: "Also print a QR code of the ticket, and words to read aloud.") var qr = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard uses > 0 else { throw ValidationError("--uses must be at least 1.") }
    guard (expiresIn ?? 1) > 0 else { throw ValidationError("--expires-in must be at least 1.") }
  }

  func run() throws {
    let (note, access, uses, expiresIn, qr) = (note, readOnly ? "read" : "write", uses, expiresIn, qr)
    let result = try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/share",
        .object(present: [
          "id": try await session.currentId(of: note), "access": .string(access), "uses": JSONValue(uses),
          "expiresIn": expiresIn.map { JSONValue($0) }, "qr": qr ? true : nil,
        ]))
    }
    guard !json else { return Output.print(json: result) }
    Output.print(fields: result["ticket"]?.stringValue ?? "")
    guard qr else { return }
    for line in result["qr"]?.arrayValue ?? [] { Output.print(line: line.stringValue ?? "") }
    Output.print(fields: result["words"]?.stringValue ?? "")
  }
}

/// `notes-lsp unshare NOTE [PERSON]`: ends the sharing of a note.
struct Unshare: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stop sharing a note, with one person or with all.",
    discussion: "They keep what they have, and receive no further changes. Unused tickets become invalid. "
      + "Needs an editor with a note open.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Argument(help: "The person's name or id; by default all people.") var person: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, person) = (note, person)
    let result = try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/unshare",
        .object(present: ["id": try await session.id(of: note), "peer": person.map(JSONValue.string)]))
    }
    if json { Output.print(json: result) }
  }
}

/// `notes-lsp remove NOTE PERSON`: continues the note without that person.
struct RemovePerson: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove a person from a note for good.",
    discussion: "You and the others continue in a new copy with the same text and history; nothing the person writes "
      + "from now on reaches it. They keep what they have. Needs an editor with a note open.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Argument(help: "The person's name or id.") var person: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, person) = (note, person)
    let result = try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/remove", ["id": try await session.id(of: note), "peer": .string(person), "moveOn": true])
    }
    if json { Output.print(json: result) } else { Output.print(fields: result["id"]?.stringValue ?? "") }
  }
}

/// `notes-lsp join TICKET`: joins the note of a ticket.
struct Join: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Join a note with a ticket and print the path of its file.",
    discussion:
      "Takes a ticket or its 25 words, and waits until the whole note is here. Needs an editor with a note open.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The ticket, or its words.") var ticket: [String]
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard !ticket.isEmpty else { throw ValidationError("Paste the ticket after join.") }
  }

  func run() throws {
    let ticket = ticket.joined(separator: " ")
    let result = try StoreRequest.run(store) { session in
      let place = try await session.perform("notes/join", ["ticket": .string(ticket)])
      if let id = DocumentId(place["id"]?.stringValue) { try await Arrival(session: session, id: id).wait() }
      return place
    }
    if json { Output.print(json: result) } else { Output.print(fields: result["path"]?.stringValue ?? "") }
  }
}

/// `notes-lsp peers`: lists the peers.
struct Peers: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the people that the running service knows.",
    discussion: "Each line is a name, a state, an address and an id. Needs an editor with a note open.")

  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let result = try StoreRequest.run(store) { session in
      try session.requireService()
      return try await session.perform("notes/peers", [:])
    }
    guard !json else { return Output.print(json: result) }
    for peer in result["peers"]?.arrayValue ?? [] {
      let fields = ["name", "state", "via", "fingerprint"].compactMap { key in
        peer[key]?.stringValue.map { key == "state" ? Status.words[$0] ?? $0 : $0 }
      }
      Output.print(line: fields.filter { !$0.isEmpty }.map { Output.field($0) }.joined(separator: "  "))
    }
  }
}

/// `notes-lsp name [NAME]`: prints or sets the name that other people see.
struct Name: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print or change the name that others see.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The new name.") var newName: String?
  @Flag(inversion: .prefixedNo, help: "Whether people on the same network see you.") var seen: Bool?
  @Flag(help: "Print JSON.") var json = false

  func validate() throws { try UTF8Arguments.check(newName, "name") }

  func run() throws {
    let (newName, seen) = (newName, seen)
    let name = try StoreRequest.run(store) { session in
      let name: String
      if let newName {
        name = newName
      } else {
        name = try await session.perform("notes/peers", [:])["self"]?["name"]?.stringValue ?? ""
        guard seen != nil else { return .string(name) }
      }
      _ = try await session.perform(
        "notes/setName", .object(present: ["name": .string(name), "visible": seen.map(JSONValue.bool)]))
      return .string(name.trimmingCharacters(in: .whitespacesAndNewlines))
    }
    if json { Output.print(json: ["name": name]) } else { Output.print(fields: name.stringValue) }
  }
}

/// `notes-lsp status [NOTE]`: whether everything is stored, and which peers are connected.
struct Status: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show whether a service is running, and which peers are connected.",
    discussion: "With a note: the people with whom it is shared.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "A note's id or title.", completion: Completions.note) var note: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let note = note
    let result = try StoreRequest.run(store) { session in
      let service = try await session.performInService("notes/status", [:])
      var members = JSONObject()
      members["running"] = .bool(session.isServiceRunning)
      members["service"] = service ?? .null
      let peers = try await session.perform("notes/peers", [:])
      members["self"] = peers["self"]
      guard let note else {
        members["peers"] = peers["peers"]
        return .object(members)
      }
      let id = try await session.id(of: note)
      members["id"] = id
      members["people"] = try await session.perform("notes/people", ["id": id])["people"]
      return .object(members)
    }
    guard !json else { return Output.print(json: result) }
    printLines(result)
  }

  private func printLines(_ result: JSONValue) {
    let service = result["service"]
    if result["running"]?.boolValue ?? false {
      let problem = service?["problem"]?.stringValue.map { "not stored: \($0)" }
      let stored = service?["stored"]?.boolValue ?? true
      let words = problem ?? (stored ? "everything is stored" : "not everything is stored yet")
      Output.print(fields: "service    running; \(words)")
      Output.print(fields: "network   ", service?["network"]?.stringValue ?? "off")
      Output.print(fields: "discovery ", service?["discovery"]?.stringValue ?? "off")
    } else {
      Output.print(line: "service    not running; it starts when you open a note in an editor")
    }
    Output.print(fields: "you       ", result["self"]?["name"]?.stringValue)
    for person in (result["people"] ?? result["peers"])?.arrayValue ?? [] {
      let titles = person["notes"]?.arrayValue?.compactMap { $0["title"]?.stringValue }.map { "\"\($0)\"" }
      let access = person["access"]?.stringValue.map { $0 == "read" ? "can read" : "can edit" }
      let reason = person["reason"]?.stringValue
      Output.print(
        fields: person["name"]?.stringValue ?? "", Self.words[person["state"]?.stringValue ?? ""],
        reason.flatMap { Self.limits[$0] }, access,
        titles.flatMap { $0.isEmpty ? nil : $0.joined(separator: ", ") })
    }
  }

  private static let limits = ["read-only": "read-only for you", "not accepted": "does not take this note"]

  fileprivate static let words = [
    "connected": "connected", "nearby": "nearby", "known": "offline", "blocked": "blocked", "rejected": "rejected",
    "invitationPending": "invitation open", "inSync": "in sync", "behind": "not in sync yet", "refused": "refused",
    "unreachable": "offline",
  ]
}
