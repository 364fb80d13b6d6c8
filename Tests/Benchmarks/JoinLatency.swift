import ArgumentParser
import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// How long a person waits who joins with a ticket: from the request until the text is there, over loopback. Includes
/// the connection, the encryption, the ticket, the first sync, and the note in the guest's store and folder.
struct JoinLatency: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "joining", abstract: "From a ticket to the first text, between two services.")

  @Option(help: "How many people join, one after another.")
  var guests = 20

  @Option(parsing: .upToNextOption, help: "Sizes of the document in bytes.")
  var sizes = [1_000, 100_000]

  @OptionGroup var output: OutputOptions

  func run() throws {
    for size in sizes { try measure(documentSize: size) }
  }

  private func measure(documentSize: Int) throws {
    let line = "a line of forty-nine letters, as notes have them.\n"
    let text = String(repeating: line, count: max(documentSize / line.utf8.count, 1))
    let host = try NotesUser("Ana")
    let service = try host.startInitialized()
    let note = try service.request("notes/create", ["title": "Joining", "text": .string(text)])
    let shared = try service.request("notes/share", ["id": note["id"] ?? .null, "uses": .int(Int64(guests))])
    var milliseconds: [Double] = []
    for _ in 0..<guests {
      let guest = try NotesUser("Ben")
      let process = try guest.startInitialized()
      let start = ContinuousClock.now
      _ = try process.request("notes/join", ["ticket": shared["ticket"] ?? .null])
      milliseconds.append((ContinuousClock.now - start) / .milliseconds(1))
      try service.collect()
      try process.shutdown()
    }
    var measure = Measure(trace: "\(documentSize) bytes", name: "ticket_to_text", samples: milliseconds)
    measure.more = [0.9, 0.99].map { ("p\(Int($0 * 100))", milliseconds.percentile($0)) }
    measure.print(asJSON: output.json)
    try service.shutdown()
  }
}
