import ArgumentParser
import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// What people wait for with whole notes, between two services on this machine: joining, pasting, opening. Wall-clock
/// time, the editor's own work (a model of one) included.
struct NoteMeasures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes", abstract: "Joining a note, pasting, opening a large one, between two services.")

  @Option(help: "The size of an ordinary long note in bytes.")
  var noteSize = 1_000_000

  @Option(help: "The size of a very long note in bytes.")
  var largeSize = 10_000_000

  @Option(help: "How many edits the note has when it is joined the second time.")
  var edits = 20_000

  @Option(help: "How many bytes are pasted.")
  var pasteSize = 100_000

  @Option(help: "How often each measure is taken; the median counts.")
  var repetitions = 5

  @OptionGroup var output: OutputOptions

  private static let line = "a line of forty-nine letters, as notes have them.\n"

  func run() throws {
    try measureJoinAndPaste()
    try measureLargeNote()
  }

  private func note(_ process: NotesProcess, size: Int) throws -> ModelClient {
    let text = String(repeating: Self.line, count: max(size / Self.line.utf8.count, 1))
    let note = try process.request(
      "notes/create", ["title": .string("Note of \(size)"), "text": .string(text)], within: .seconds(60))
    let client = try ModelClient(process, note: note)
    try ModelClient.waitForConvergence([client], within: .seconds(60))
    return client
  }

  /// The time until a user who did not have the note has all of it in a buffer.
  private func join(_ client: ModelClient, number: Int) throws -> (milliseconds: Double, reader: ModelClient) {
    let process = try NotesUser("Joiner \(number)").startInitialized()
    let ticket = try client.process.request("notes/share", ["id": .string(client.id)])["ticket"] ?? .null
    let start = ContinuousClock.now
    let note = try process.request("notes/join", ["ticket": ticket], within: .seconds(60))
    let reader = try ModelClient(process, note: note)
    try ModelClient.waitForConvergence([client, reader], checked: false, within: .seconds(60))
    return ((ContinuousClock.now - start) / .milliseconds(1), reader)
  }

  private func report(_ name: String, size: Int, _ samples: [Double]) {
    Measure(trace: "note of \(size) bytes", name: name, samples: samples).print(asJSON: output.json)
  }

  private func joins(_ client: ModelClient, _ name: String) throws {
    var samples: [Double] = []
    for number in 0..<repetitions {
      let (milliseconds, reader) = try join(client, number: number)
      samples.append(milliseconds)
      try reader.process.shutdown()
    }
    report(name, size: noteSize, samples)
  }

  private func measureJoinAndPaste() throws {
    let sender = try NotesUser("Ana").startInitialized()
    let client = try note(sender, size: noteSize)
    try joins(client, "join_fresh")
    var place = client.text.scalarStart(at: noteSize / 2)
    for number in 0..<edits {
      client.edit(place..<place, with: number % 40 == 39 ? "\n" : "x")
      place += 1
      client.flush()
      if number % 100 == 99 { try ModelClient.waitForConvergence([client], checked: false, within: .seconds(60)) }
    }
    try ModelClient.waitForConvergence([client], within: .seconds(60))
    try joins(client, "join_after_\(edits)_edits")

    let (_, reader) = try join(client, number: repetitions)
    let pasted = String(String(repeating: Self.line, count: pasteSize / Self.line.utf8.count + 1).prefix(pasteSize))
    var samples: [Double] = []
    for _ in 0..<repetitions {
      samples.append(
        try timeOfEdit(in: client, at: client.text.scalarStart(at: noteSize / 3), pasted, until: reader))
    }
    report("paste_\(pasteSize)_bytes", size: noteSize, samples)
    try finish([client, reader])
  }

  private func measureLargeNote() throws {
    let ana = try NotesUser("Ana"), sender = try ana.startInitialized()
    let client = try note(sender, size: largeSize)
    let (first, reader) = try join(client, number: 0)
    report("first_sync", size: largeSize, [first])
    var place = client.text.scalarStart(at: largeSize / 2), samples: [Double] = []
    for _ in 0..<20 * repetitions {
      samples.append(try timeOfEdit(in: client, at: place, "x", until: reader))
      place += 1
    }
    report("keystroke_to_edit", size: largeSize, samples)
    let note: JSONValue = ["id": .string(client.id)]
    try finish([client, reader])
    var opens: [Double] = []
    for _ in 0..<repetitions {
      let process = try ana.startInitialized()
      let start = ContinuousClock.now
      let opened = try ModelClient(process, note: process.request("notes/open", note, within: .seconds(60)))
      try ModelClient.waitForConvergence([opened], within: .seconds(60))
      // The service proves that it knows the buffer after a second of quiet, which is not the opening's.
      opens.append((ContinuousClock.now - start - .seconds(1)) / .milliseconds(1))
      try process.shutdown()
    }
    report("open", size: largeSize, opens)
  }

  /// The time from an edit in one editor until the other one is told of it.
  private func timeOfEdit(
    in client: ModelClient, at place: Int, _ text: String, until reader: ModelClient
  ) throws -> Double {
    try ModelClient.waitForConvergence([client, reader], checked: false, within: .seconds(60))
    client.edit(place..<place, with: text)
    reader.isUnsafe = true
    let start = ContinuousClock.now
    client.flush()
    try NotesProcess.wait(for: "the edit", of: [client.process, reader.process], within: .seconds(60)) {
      reader.queuedEditCount > 0
    }
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    reader.isUnsafe = false
    reader.acknowledge()
    return milliseconds
  }

  private func finish(_ clients: [ModelClient]) throws {
    try ModelClient.waitForConvergence(clients, checked: false, within: .seconds(60))
    let complaints = clients.flatMap(\.complaints)
    if !complaints.isEmpty { throw ValidationError("the services broke the protocol: \(complaints)") }
    for client in clients { try client.process.shutdown() }
  }
}
