import ArgumentParser
import AutomergeRepo
import Foundation
import NotesHarness
import TestSupport
import UV
import WebSocketNetwork

/// Many programs that type into the documents of one server by WebSocket, or of several on one database: how long a keystroke takes
/// from one to another, and what that costs the servers. On loopback only, and bounded in count and time.
struct ServerLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "A keystroke through a server with many WebSocket connections, and the server's memory.")

  /// So that the generator cannot become a weapon.
  private static let maximum = (connections: 10_000, documents: 20_000, rate: 20_000, seconds: 3_600, processes: 8)

  /// What grows along a plot.
  enum Factor: String, ExpressibleByArgument, CaseIterable {
    case connections, documents, processes
  }

  /// One run.
  private struct Size {
    var connections: Int
    var documents: Int
    var rate: Int
    var processes: Int
  }

  @Option(help: "How many connections there are.")
  var connections = 3000

  @Option(help: "How many documents they are on.")
  var documents = 500

  @Option(help: "How many keystrokes there are a second, of all together.")
  var rate = 500

  @Option(help: "For how many seconds they type.")
  var seconds = 30

  @Option(help: "How many servers there are, which share a database.")
  var processes = 1

  @Option(help: "The servers' store, as for notes-lsp serve; a database if there are several servers.")
  var store: String?

  @OptionGroup var output: OutputOptions

  @Option(
    help:
      "A plot of how costs grow, instead of one run: runs with a part of what grows up to all of it, and writes it here."
  )
  var plot: String?

  @Option(
    help:
      "What grows along the plot: connections, with their documents and keystrokes; documents alone; or processes alone."
  )
  var grow = Factor.connections

  func validate() throws {
    guard (1...Self.maximum.connections).contains(connections), (1...Self.maximum.documents).contains(documents),
      (1...Self.maximum.rate).contains(rate), (1...Self.maximum.seconds).contains(seconds),
      (1...Self.maximum.processes).contains(processes)
    else { throw ValidationError("The limits are \(Self.maximum).") }
    guard processes == 1 || store != nil else { throw ValidationError("Several servers need a --store in common.") }
  }

  func run() async throws {
    Self.raiseFileLimit()
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    try loop.runOnNewThread()
    let all = Size(connections: connections, documents: documents, rate: rate, processes: processes)
    guard let plot else {
      _ = try await load(all, on: loop)
      return
    }
    var lines = ["processor time, µs", "99 of 100 within, ms", "memory of a server, MB"]
      .map { LogLogPlot.Line(name: $0, points: []) }
    for (number, size) in sizes(upTo: all) {
      let figures = try await load(size, on: loop)
      for (line, value) in figures.enumerated() { lines[line].points.append((Double(number), value)) }
    }
    let drawing = LogLogPlot(
      title: "Servers under load", horizontal: grow.rawValue, vertical: "µs, ms, MB", lines: lines)
    try drawing.svg.write(toFile: plot, atomically: true, encoding: .utf8)
  }

  /// The runs of a plot, each with the number that grows.
  private func sizes(upTo all: Size) -> [(number: Int, size: Size)] {
    switch grow {
    case .connections:
      [30, 10, 3, 1].map { part in
        let count = max(1, all.connections / part)
        return (
          count,
          Size(
            connections: count, documents: max(1, all.documents / part), rate: max(1, all.rate / part),
            processes: all.processes)
        )
      }
    case .documents:
      [30, 10, 3, 1].map { part in
        var size = all
        size.documents = max(1, all.documents / part)
        return (size.documents, size)
      }
    case .processes:
      (1...all.processes).map { count in
        var size = all
        size.processes = count
        return (count, size)
      }
    }
  }

  /// Returns microseconds of all servers' processor time a keystroke, milliseconds for 99 of 100, and megabytes of the largest server.
  private func load(_ size: Size, on loop: Loop) async throws -> [Double] {
    let directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"load": {"access": "write", "create": true}}}"#.write(
      toFile: access, atomically: true, encoding: .utf8)
    let servers = try (0..<size.processes).map { number in
      try ServerProcess(
        home: try directory.directory("home\(number)"),
        options: ["--websocket", "127.0.0.1:0", "--access", access] + (store.map { ["--store", $0] } ?? []))
    }
    let urls = servers.compactMap { WebSocketURL($0.websocket) }
    guard urls.count == servers.count else { throw ValidationError("no server: \(servers.map(\.log))") }
    let usages = servers.map { ServerUsage(processId: $0.child.processId) }
    let load = try await LoadRun.gather(
      connections: size.connections, documents: size.documents, at: urls, token: "load", loop: loop)
    // What connecting has cost is not growth.
    try await load.type(rate: size.rate, for: .seconds(min(5, seconds)))
    let before = try usages.map { try $0.figures() }
    await load.forgetSamples()
    func megabytes(_ figures: [(residentBytes: Int, processor: Duration)]) -> Double {
      Double(figures.map(\.residentBytes).max() ?? 0) / 1e6
    }
    var memory = [megabytes(before)]
    let name =
      "\(size.connections) connections, \(size.documents) documents, \(size.rate)/s"
      + (size.processes > 1 ? ", \(size.processes) servers" : "")
    let turns = max(1, seconds / 5)
    for turn in 1...turns {
      try await load.type(rate: size.rate, for: .seconds(min(5, seconds)))
      memory.append(megabytes(try usages.map { try $0.figures() }))
      if turn.isMultiple(of: 12) {
        Measure(trace: "\(name), minute \(turn / 12)", name: "server_memory", unit: "MB", samples: memory.suffix(12))
          .print(asJSON: output.json)
      }
    }
    let after = try usages.map { try $0.figures() }
    try await load.settle()
    let samples = await load.milliseconds
    let keystrokes = max(1, await load.keystrokeCount)
    let used = zip(after, before).reduce(Duration.zero) { $0 + $1.0.processor - $1.1.processor }
    let processor = used / .microseconds(1) / Double(keystrokes)
    report(name, samples, memory, processor)
    for server in servers {
      guard try server.end() == .code(0) else { throw ValidationError("the server did not end: \(server.log)") }
    }
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
