import ArgumentParser
import HostilePeers
import JSONRPC
import NotesHarness

/// How long a keystroke takes from one editor to the other while 128 hostile peers do their worst, and what that costs.
struct SiegeLatency: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "siege", abstract: "Keystrokes between two services, one of which is besieged by hostile peers.")

  @Option(help: "How many keystrokes to measure, before the siege and during it.")
  var keystrokes = 2000

  @Option(help: "How many peers there are with whom nothing is shared.")
  var strangers = 100

  @Option(help: "How many guests there are who were let in.")
  var guests = 28

  @Option(help: "Half megabytes in each message that inflates.")
  var bomb = 64

  @OptionGroup var output: OutputOptions

  func run() async throws {
    var siege = SiegeRun()
    (siege.keystrokes, siege.strangers, siege.guests, siege.bombSize) = (keystrokes, strangers, guests, bomb)
    let figures = try await siege.run()
    for (name, samples) in [("keystroke_in_peace", figures.before), ("keystroke_under_siege", figures.during)] {
      var measure = Measure(trace: "\(strangers + guests) hostile peers", name: name, samples: samples)
      measure.more = [0.9, 0.99].map { ("p\(Int($0 * 100))", samples.percentile($0)) }
      measure.print(asJSON: output.json)
    }
    Measure(
      trace: "\(figures.linkCount) links", name: "memory_growth", unit: "KiB", samples: [Double(figures.growth >> 10)]
    )
    .print(asJSON: output.json)
    guard figures.complaints.isEmpty else { throw ValidationError("the editors were disturbed: \(figures.complaints)") }
  }
}
