import ArgumentParser
import Foundation
import JSONRPC
import NotesServer

// The subcommands about a note's past.

/// `notes-lsp history NOTE`: the changes of a note, with author and time.
struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the changes of a note and their authors, newest first.",
    discussion:
      "Each line is a state, for diff --from and --to, a time, an author, the letters added and removed, and a "
      + "summary.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Option(help: ArgumentHelp("How many lines to print at most.", valueName: "count")) var limit = 100
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
  }

  func run() throws {
    let (note, limit) = (note, limit)
    let result = try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/history", ["id": try await session.currentId(of: note), "limit": JSONValue(limit)])
    }
    guard !json else { return Output.print(json: result) }
    for change in result["changes"]?.arrayValue ?? [] {
      let heads = (change["heads"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ",")
      let time = Date(timeIntervalSince1970: (change["time"]?.doubleValue ?? 0) / 1000)
      let size = "+\(change["inserted"]?.intValue ?? 0) -\(change["deleted"]?.intValue ?? 0)"
      let (author, summary) = (change["author"]?.stringValue ?? "", change["summary"]?.stringValue ?? "")
      Output.print(fields: heads, time.ISO8601Format(), author, size, summary)
    }
  }
}

/// `notes-lsp diff NOTE`: what has changed between two states.
struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what has changed in a note.",
    discussion: "Since you last had it open here, or between two states that history prints.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id or title.", completion: Completions.note) var note: String
  @Option(help: ArgumentHelp("The earlier state.", valueName: "state")) var from: String?
  @Option(help: ArgumentHelp("The later state; by default the current one.", valueName: "state")) var to: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, from, to) = (note, from.map(Self.heads), to.map(Self.heads))
    let result = try StoreRequest.run(store) { session in
      try await session.perform(
        "notes/diff", .object(present: ["id": try await session.currentId(of: note), "from": from, "to": to]))
    }
    guard !json else { return Output.print(json: result) }
    for hunk in result["hunks"]?.arrayValue ?? [] {
      let line = (hunk["range"]?["start"]?["line"]?.intValue ?? 0) + 1
      Output.print(fields: "@@ line \(line)\(hunk["author"]?.stringValue.map { ", by \($0)" } ?? "")")
      for (sign, member) in [("-", "oldText"), ("+", "newText")] {
        var lines = (hunk[member]?.stringValue ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        for line in lines { Output.print(line: Output.text(sign + line)) }
      }
    }
  }

  private static func heads(_ text: String) -> JSONValue {
    .array(text.split(separator: ",").map { .string(String($0)) })
  }
}
