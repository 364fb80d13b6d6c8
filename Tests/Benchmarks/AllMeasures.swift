import ArgumentParser
import Foundation

/// Everything in one run, ours and others', as one table.
struct AllMeasures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all", abstract: "All traces and hard cases; with --peers other libraries too, as a Markdown table.")

  @Option(help: "The folder with bench/ and traces/.")
  var shared = "../shared"

  @Option(parsing: .upToNextOption, help: "Names of sequential traces; all there are if none is given.")
  var traces: [String] = []

  @Flag(help: "Also measure Loro, yrs, the reference Automerge core and a gap buffer in C, in this run.")
  var peers = false

  @Option(help: "A Python that has loro, pycrdt and automerge==1.0.0rc1.")
  var python = ".build-bench-venv/bin/python"

  @Option(help: "Write the table to this file instead of standard output.")
  var table: String?

  @OptionGroup var options: MeasureOptions

  func run() throws {
    let folder = shared + "/traces"
    let found = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json.gz") }.sorted()
    let names = found.map { $0.replacingOccurrences(of: ".json.gz", with: "") }
      .filter { traces.isEmpty || traces.contains($0) }
    var measures: [Measure] = []
    for name in names {
      let trace = try EditingTrace(contentsOf: "\(folder)/\(name).json.gz")
      measures += try TraceMeasures(trace, options).takeAll()
    }
    if traces.isEmpty {
      for name in ["clownschool", "friendsforever"] {
        let trace = try ConcurrentTrace(contentsOf: "\(folder)/concurrent/\(name).json.gz")
        measures += try ReplayConcurrent.measure(trace, options)
      }
    }
    var hard = HardCases()
    (hard.inserts, hard.edits, hard.options) = (10_000, 50_000, options)
    measures += try hard.measureAll()
    if peers {
      let run = PeerRun(shared: shared, python: python)
      measures += try run.gapBuffer(names)
      for name in names { measures += run.sequential(name) }
      if traces.isEmpty { measures += ["clownschool", "friendsforever"].flatMap(run.concurrent) }
      measures += run.hard()
    }
    let text = ComparisonTable(measures).markdown
    if let table { try text.write(toFile: table, atomically: true, encoding: .utf8) } else { print(text) }
  }
}
