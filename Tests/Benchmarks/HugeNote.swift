import ArgumentParser
import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// What a person has of one very long note: making it, opening it, and typing into it. Wall-clock time; the model of an editor does
/// its own work outside of it.
struct HugeNote: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "huge", abstract: "Making, opening, and typing into one very long note.")

  @Option(help: "The size of the note in bytes.")
  var size = 100_000_000

  @Option(help: "How many keystrokes are measured.")
  var keystrokes = 1000

  @Option(help: "Milliseconds between two keystrokes, in which the service may do its work in the background.")
  var pause = 20

  @Option(help: "How many services open it one after the other.")
  var openings = 3

  @Flag(help: "Another service joins the note, and has each keystroke.")
  var joins = false

  @OptionGroup var output: OutputOptions

  private static let patience = Duration.seconds(900)
  private static let words = [
    "meeting", "notes", "about", "the", "garden", "and", "what", "is", "to", "be", "done", "until", "winter", "comes",
  ]

  func run() throws {
    let ana = try NotesUser("Ana")
    var process = try ana.startInitialized(), start = ContinuousClock.now
    let note = try process.request(
      "notes/create", ["title": "Long", "text": .string(prose())], within: Self.patience)
    report("create", [ContinuousClock.now - start])
    try process.shutdown()

    var opened: [Duration] = []
    for number in 0..<max(openings, 1) {
      if number > 0 { try process.shutdown() }
      process = try ana.startInitialized()
      start = ContinuousClock.now
      _ = try process.request("notes/open", ["id": note["id"] ?? .null], within: Self.patience)
      opened.append(ContinuousClock.now - start)
    }
    report("open", opened)
    start = .now
    let typist = try ModelClient(process, note: note)
    try ModelClient.waitForConvergence([typist], within: Self.patience)
    report("shown_and_checked", [ContinuousClock.now - start])
    try type(as: typist, "keystroke_to_answer") {}
    if joins { try measureReader(of: typist) }
    try ModelClient.waitForConvergence([typist], within: Self.patience)
    guard typist.complaints.isEmpty else {
      throw ValidationError("the service broke the protocol: \(typist.complaints)")
    }
    start = .now
    try process.shutdown()
    report("shutdown", [ContinuousClock.now - start])
  }

  /// A person comes, and is told of each keystroke.
  private func measureReader(of typist: ModelClient) throws {
    let ticket = try typist.process.request("notes/share", ["id": .string(typist.id)])["ticket"] ?? .null
    let ben = try NotesUser("Ben"), process = try ben.startInitialized(), start = ContinuousClock.now
    let note = try process.request("notes/join", ["ticket": ticket], within: Self.patience)
    let reader = try ModelClient(process, note: note)
    try ModelClient.waitForConvergence([typist, reader], checked: false, within: Self.patience)
    report("first_sync", [ContinuousClock.now - start])
    let known = reader.appliedCount
    try type(as: typist, "keystroke_with_a_reader") { try reader.process.collect() }
    try ModelClient.waitForConvergence([typist, reader], checked: false, within: Self.patience)
    guard reader.appliedCount > known, reader.complaints.isEmpty else {
      throw ValidationError("the reader was told of nothing: \(reader.complaints)")
    }
    try process.shutdown()
  }

  /// Types in the middle, a letter at a time; each is measured until the service has answered a request that was sent after it.
  private func type(as typist: ModelClient, _ name: String, afterEach: () throws -> Void) throws {
    var place = typist.text.scalarStart(at: typist.text.bytes.count / 2), samples: [Duration] = []
    for number in 0..<keystrokes {
      typist.edit(place..<place, with: number % 40 == 39 ? "\n" : "x")
      place += 1
      let start = ContinuousClock.now
      typist.flush()
      // No method of the service: what it costs is to be read and refused.
      _ = try typist.process.refusal("notes/nothing", [:])
      samples.append(ContinuousClock.now - start)
      try typist.process.listen(for: .milliseconds(pause))
      try afterEach()
    }
    report(name, samples)
  }

  private func report(_ name: String, _ samples: [Duration]) {
    let milliseconds = samples.map { $0 / .milliseconds(1) }
    var measure = Measure(trace: "note of \(size) bytes", name: name, samples: milliseconds)
    if samples.count > 99 { measure.more = [0.9, 0.99].map { ("p\(Int($0 * 100))", milliseconds.percentile($0)) } }
    measure.print(asJSON: output.json)
  }

  private func prose() -> String {
    var random = SeededGenerator(seed: 1), bytes: [UInt8] = [], lineStart = 0
    bytes.reserveCapacity(size + 80)
    while bytes.count < size {
      bytes += Self.words[Int.random(in: 0..<Self.words.count, using: &random)].utf8
      let isLong = bytes.count - lineStart > 70
      bytes.append(UInt8(ascii: isLong ? "\n" : " "))
      if isLong { lineStart = bytes.count }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
