import ArgumentParser
import Foundation
import JSONRPC
import NotesHarness
import TestSupport

/// How long a keystroke takes from one editor to the other: `didChange` written to one service until `notes/edit` was
/// read from the other, over loopback, one keystroke after another.
struct KeystrokeLatency: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latency", abstract: "Keystroke in one editor to edit message at the other.")

  @Option(help: "How many keystrokes to measure per document.")
  var keystrokes = 3000

  @Option(parsing: .upToNextOption, help: "Sizes of the document in bytes.")
  var sizes = [1_000, 100_000, 1_000_000]

  @OptionGroup var output: OutputOptions

  func run() throws {
    for size in sizes { try measure(documentSize: size) }
  }

  private func measure(documentSize: Int) throws {
    let line = "a line of forty-nine letters, as notes have them.\n"
    let lineCount = max(documentSize / line.utf8.count, 1)
    let text = String(repeating: line, count: lineCount)
    let (ana, ben) = (try NotesUser("Ana"), try NotesUser("Ben"))
    let (sender, receiver) = (try ana.startInitialized(), try ben.startInitialized())
    let note = try sender.request("notes/create", ["title": "Latency", "text": .string(text)])
    let typist = try ModelClient(sender, note: note)
    let ticket = try sender.request("notes/share", ["id": .string(typist.id)])["ticket"] ?? .null
    let reader = try ModelClient(receiver, note: receiver.request("notes/join", ["ticket": ticket]))
    try ModelClient.waitForConvergence([typist, reader])

    // Typing goes on in the middle; every fortieth letter ends a line.
    var place = typist.text.scalarStart(at: lineCount / 2 * line.utf8.count)
    var milliseconds: [Double] = []
    milliseconds.reserveCapacity(keystrokes)
    let warmUp = 50
    for number in 0..<keystrokes + warmUp {
      typist.edit(place..<place, with: number % 40 == 39 ? "\n" : "x")
      place += 1
      // The model's own work, which no editor has to do, stays outside of the measured time.
      reader.isUnsafe = true
      let start = ContinuousClock.now
      typist.flush()
      try NotesProcess.wait(for: "the keystroke", of: [receiver]) { reader.queuedCount > 0 }
      let duration = ContinuousClock.now - start
      if number >= warmUp { milliseconds.append(duration / .milliseconds(1)) }
      reader.isUnsafe = false
      reader.acknowledge()
      try sender.collect()
    }
    try ModelClient.waitForConvergence([typist, reader])
    let complaints = typist.complaints + reader.complaints
    if !complaints.isEmpty { throw ValidationError("the services broke the protocol: \(complaints)") }
    var measure = Measure(trace: "\(documentSize) bytes", name: "keystroke_to_edit", samples: milliseconds)
    measure.more = [0.9, 0.99].map { ("p\(Int($0 * 100))", milliseconds.percentile($0)) }
    measure.print(asJSON: output.json)
    try sender.shutdown()
    try receiver.shutdown()
  }
}
