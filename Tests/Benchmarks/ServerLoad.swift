import ArgumentParser
import AutomergeRepo
import Foundation
import NotesHarness
import TestSupport
import UV
import WebSocketNetwork

/// Many programs that type into the documents of one server by WebSocket: how long a keystroke takes from one to another, and what
/// that costs the server. On loopback only, and bounded in count and time.
struct ServerLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "A keystroke through a server with many WebSocket connections, and the server's memory.")

  /// So that the generator cannot become a weapon.
  private static let maximum = (connections: 10_000, documents: 20_000, rate: 20_000, seconds: 3_600)

  @Option(help: "How many connections there are.")
  var connections = 3000

  @Option(help: "How many documents they are on.")
  var documents = 500

  @Option(help: "How many keystrokes there are a second, of all together.")
  var rate = 500

  @Option(help: "For how many seconds they type.")
  var seconds = 30

  @OptionGroup var output: OutputOptions

  @Option(
    help:
      "A plot of how costs grow, instead of one run: runs with a thirtieth of the connections up to all of them, and writes it here."
  )
  var plot: String?

  func validate() throws {
    guard (1...Self.maximum.connections).contains(connections), (1...Self.maximum.documents).contains(documents),
      (1...Self.maximum.rate).contains(rate), (1...Self.maximum.seconds).contains(seconds)
    else { throw ValidationError("The limits are \(Self.maximum).") }
  }

  func run() async throws {
    Self.raiseFileLimit()
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    try loop.runOnNewThread()
    guard let plot else {
      _ = try await load(connections, documents, rate, on: loop)
      return
    }
    var lines = ["processor time, µs", "99 of 100 within, ms", "the server's memory, MB"]
      .map { LogLogPlot.Line(name: $0, points: []) }
    for part in [30, 10, 3, 1] {
      let count = max(1, connections / part)
      let figures = try await load(count, max(1, documents / part), max(1, rate / part), on: loop)
      for (number, value) in figures.enumerated() { lines[number].points.append((Double(count), value)) }
    }
    let drawing = LogLogPlot(
      title: "A server under load", horizontal: "connections",
      vertical: "µs, ms, MB", lines: lines)
    try drawing.svg.write(toFile: plot, atomically: true, encoding: .utf8)
  }

  /// Returns microseconds of processor time a keystroke, milliseconds for 99 of 100, and megabytes.
  private func load(_ connections: Int, _ documents: Int, _ rate: Int, on loop: Loop) async throws -> [Double] {
    let directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"load": {"access": "write", "create": true}}}"#.write(
      toFile: access, atomically: true, encoding: .utf8)
    let server = try ServerProcess(
      home: try directory.directory("home"), options: ["--websocket", "127.0.0.1:0", "--access", access])
    guard let url = WebSocketURL(server.websocket) else { throw ValidationError("no server: \(server.log)") }
    let usage = ServerUsage(processId: server.child.processId)
    let load = try await LoadRun.gather(
      connections: connections, documents: documents, at: url, token: "load", loop: loop)
    // What connecting has cost is not growth.
    try await load.type(rate: rate, for: .seconds(min(5, seconds)))
    let before = try usage.figures()
    await load.forgetSamples()
    var memory = [Double(before.residentBytes) / 1e6]
    let name = "\(connections) connections, \(documents) documents, \(rate)/s"
    let turns = max(1, seconds / 5)
    for turn in 1...turns {
      try await load.type(rate: rate, for: .seconds(min(5, seconds)))
      memory.append(Double(try usage.figures().residentBytes) / 1e6)
      if turn.isMultiple(of: 12) {
        Measure(trace: "\(name), minute \(turn / 12)", name: "server_memory", unit: "MB", samples: memory.suffix(12))
          .print(asJSON: output.json)
      }
    }
    let after = try usage.figures()
    try await load.settle()
    let samples = await load.milliseconds
    let keystrokes = max(1, await load.keystrokeCount)
    let processor = (after.processor - before.processor) / .microseconds(1) / Double(keystrokes)
    report(name, samples, memory, processor)
    guard try server.end() == .code(0) else { throw ValidationError("the server did not end: \(server.log)") }
    await load.stop()
    return [processor, samples.percentile(0.99), memory.max() ?? 0]
  }

  private func report(_ name: String, _ samples: [Double], _ memory: [Double], _ processor: Double) {
    var keystrokes = Measure(trace: name, name: "keystroke_to_others", samples: samples)
    keystrokes.more = [0.9, 0.99].map { ("p\(Int($0 * 100))", samples.percentile($0)) }
    keystrokes.print(asJSON: output.json)
    Measure(trace: name, name: "server_processor_per_keystroke", unit: "us", samples: [processor])
      .print(asJSON: output.json)
    var resident = Measure(trace: name, name: "server_memory", unit: "MB", samples: memory)
    resident.more = [("growth", memory[memory.count - 1] - memory[0])]
    resident.print(asJSON: output.json)
  }

  /// A connection is a file to the system.
  private static func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
