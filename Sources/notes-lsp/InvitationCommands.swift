import ArgumentParser
import Foundation
import JSONRPC
import NotesServer

// The subcommands by which two people on the same network share a note. The first time, both compare a code, and nothing is
// shared until both have confirmed that their codes are equal.

/// `notes-lsp invite NOTE PERSON`: invites a person nearby.
struct Invite: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Invite a person on the same network to a note.",
    discussion: """
      If you have not met before, both of you see a code of six digits. The command waits for the other person and asks \
      whether the codes are equal; until you say yes, nothing is shared. Without a terminal it does not wait: notes-lsp \
      answer confirms the code. Needs an editor with a note open.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Argument(help: "The person's name or id.") var person: String
  @Flag(help: "The person can read but not edit.") var readOnly = false
  @Flag(help: "Print JSON and do not wait.") var json = false

  func run() throws {
    let (note, person, access, waits) = (note, person, readOnly ? "read" : "write", Prompt.isPossible && !json)
    let result = try StoreRequest.run(store) { session in
      let id = try await session.currentId(of: note)
      try session.requireService()
      let result = try await session.perform(
        "notes/invite", ["id": id, "peer": .string(person), "access": .string(access), "confirm": true])
      guard let code = result["code"]?.stringValue, waits else { return result }
      Output.note("Invited \(person). Compare this code with them: \(Code.spaced(code))")
      Output.note("Waiting for \(person) to accept. C-c stops waiting; run notes-lsp answer to continue.")
      return try await session.confirm(id, code: code)
    }
    if json { return Output.print(json: result) }
    if let code = result["code"]?.stringValue {
      let invited = "Invited \(Output.field(person)) (code \(Code.spaced(code)))"
      Output.print(line: "\(invited). Once they accept: notes-lsp answer")
    } else if result["confirmed"]?.boolValue ?? false {
      Output.print(line: "\(Output.field(person)) has joined.")
    } else {
      Output.print(line: "Invited \(Output.field(person)).")
    }
  }
}

/// `notes-lsp answer [INVITATION]`: accepts or declines an invitation, or confirms a code.
struct Answer: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Answer an invitation, or confirm the code of one you sent.",
    discussion: """
      On a terminal, shows the invitation and the code to compare, and asks. Without a terminal, --accept or --decline \
      answers; without either, the command lists the invitations. Needs an editor with a note open.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The invitation's id, or the person's name; optional if there is only one.")
  var invitation: String?
  @Flag(help: "Accept. If there is a code, compare it first.") var accept = false
  @Flag(help: "Decline, or cancel your own invitation.") var decline = false
  @Flag(help: "Decline, and block this person.") var block = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard [accept, decline, block].filter({ $0 }).count <= 1 else {
      throw ValidationError("Choose one of --accept, --decline and --block.")
    }
  }

  func run() throws {
    let answers: Bool? = accept ? true : decline || block ? false : nil
    let (name, accepts, blocks, json) = (invitation, answers, block, json)
    let result = try StoreRequest.run(store) { session in
      let waiting = try await session.waitingInvitations(named: name)
      guard accepts != nil || Prompt.isPossible && !json else { return ["invitations": .array(waiting)] }
      guard let found = waiting.first else {
        throw Failure(message: name.map { "There is no invitation \"\($0)\"." } ?? "No invitation is waiting.")
      }
      guard waiting.count == 1 else {
        let choices = waiting.map { "\($0["invitation"]?.stringValue ?? "") (\(Self.line($0)))" }
        throw Failure(
          message: "\(waiting.count) invitations are waiting; name one: \(choices.joined(separator: ", ")).")
      }
      var answer = accepts
      if answer == nil {
        switch await Prompt.ask(Self.question(found)) {
        case .yes: answer = true
        case .no: answer = false
        case .nothing: throw Failure(message: "Not answered; the invitation stays open.")
        }
      }
      return try await session.perform(
        "notes/answer",
        ["invitation": found["invitation"] ?? .null, "accept": .bool(answer ?? false), "block": .bool(blocks)])
    }
    guard !json else { return Output.print(json: result) }
    if let path = result["path"]?.stringValue { Output.print(fields: path) }
    let invitations = result["invitations"]?.arrayValue
    if invitations?.isEmpty == true { Output.note("No invitation is waiting.") }
    for found in invitations ?? [] { Output.print(fields: found["invitation"]?.stringValue, Self.line(found)) }
  }

  private static func line(_ found: JSONValue) -> String {
    let title = found["title"]?.stringValue ?? "a note"
    let code = found["code"]?.stringValue.map { ", code \(Code.spaced($0))" } ?? ""
    if let sender = found["from"]?["name"]?.stringValue { return "\(sender) invites you to \"\(title)\"\(code)" }
    return "\(found["to"]?["name"]?.stringValue ?? "") accepted \"\(title)\"\(code)"
  }

  /// The code comes first: no title can push it off the line or pass for it.
  private static func question(_ found: JSONValue) -> String {
    let title = found["title"]?.stringValue ?? "a note"
    let code = found["code"]?.stringValue.map { "Code \(Code.spaced($0)). " } ?? ""
    if let sender = found["from"]?["name"]?.stringValue {
      return "\(code)Accept the invitation of \(sender) to \"\(title)\"? y accepts, n declines:"
    }
    return "\(code)Does \(found["to"]?["name"]?.stringValue ?? "the other person") see this code? y shares, n cancels:"
  }
}

enum Code {
  /// Six digits as people read them.
  static func spaced(_ code: String) -> String { "\(code.prefix(3)) \(code.dropFirst(3))" }
}

extension Session {
  /// What the person has to answer: received invitations, and sent ones whose code is to be compared.
  fileprivate func waitingInvitations(named name: String? = nil) async throws -> [JSONValue] {
    let all = try await perform("notes/invitations", [:])
    let received = all["invitations"]?.arrayValue ?? []
    let sent = (all["sent"]?.arrayValue ?? []).filter { $0["awaitsConfirmation"]?.boolValue ?? false }
    guard let name else { return received + sent }
    return (received + sent).filter { found in
      let person = found["from"] ?? found["to"]
      return [found["invitation"], person?["name"], person?["peer"]].contains { $0?.stringValue == name }
    }
  }

  /// How often to check whether the invitation is still open: the other person's answer is reported at once, but not
  /// that this person has cancelled it in an editor, that it has expired, or that the process with the network has ended
  /// while another one connects the processes.
  private static let lookInterval: Duration = .seconds(5)

  /// Waits until the invited person has accepted, and asks whether the codes are equal.
  fileprivate func confirm(_ note: JSONValue, code: String) async throws -> JSONValue {
    let (invitation, person) = try await result(lookingAgainAfter: Self.lookInterval) { () -> (JSONValue, String)? in
      let sent = try await perform("notes/invitations", [:])["sent"]?.arrayValue ?? []
      guard let found = sent.first(where: { $0["id"] == note && $0["code"]?.stringValue == code }) else {
        throw Failure(message: "The invitation was declined, or has expired.")
      }
      guard found["awaitsConfirmation"]?.boolValue ?? false, let invitation = found["invitation"] else { return nil }
      return (invitation, found["to"]?["name"]?.stringValue ?? "the other person")
    }
    switch await Prompt.ask("\(person) accepted. Does \(person) see the code \(Code.spaced(code))? [y/n]") {
    case .yes:
      _ = try await perform("notes/answer", ["invitation": invitation, "accept": true])
      return ["confirmed": true]
    case .no:
      _ = try await perform("notes/answer", ["invitation": invitation, "accept": false])
      throw Failure(message: "Codes differ: the invitation is cancelled, and nothing was shared.")
    case .nothing: throw Failure(message: "Not confirmed yet; run notes-lsp answer to continue.")
    }
  }
}
