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

  func validate() throws {
    guard (1...Self.maximum.connections).contains(connections), (1...Self.maximum.documents).contains(documents),
      (1...Self.maximum.rate).contains(rate), (1...Self.maximum.seconds).contains(seconds)
    else { throw ValidationError("The limits are \(Self.maximum).") }
  }

  func run() async throws {
    Self.raiseFileLimit()
    let directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"load": {"access": "write", "create": true}}}"#.write(
      toFile: access, atomically: true, encoding: .utf8)
    let server = try ServerProcess(
      home: try directory.directory("home"), options: ["--websocket", "127.0.0.1:0", "--access", access])
    guard let url = WebSocketURL(server.websocket) else { throw ValidationError("no server: \(server.log)") }
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    try loop.runOnNewThread()
    let usage = ServerUsage(processId: server.child.processId)
    let load = try await LoadRun.gather(
      connections: connections, documents: documents, at: url, token: "load", loop: loop)
    // What connecting has cost is not growth.
    try await load.type(rate: rate, for: .seconds(min(5, seconds)))
    let before = try usage.figures()
    await load.forgetSamples()
    var memory = [before.residentBytes]
    for _ in 0..<max(1, seconds / 5) {
      try await load.type(rate: rate, for: .seconds(min(5, seconds)))
      memory.append(try usage.figures().residentBytes)
    }
    let after = try usage.figures()
    try await load.settle()
    await report(load, memory, processor: after.processor - before.processor)
    guard try server.end() == .code(0) else { throw ValidationError("the server did not end: \(server.log)") }
    await load.stop()
  }

  private func report(_ load: LoadRun, _ memory: [Int], processor: Duration) async {
    let name = "\(connections) connections, \(documents) documents, \(rate)/s"
    let samples = await load.milliseconds
    var keystrokes = Measure(trace: name, name: "keystroke_to_others", samples: samples)
    keystrokes.more = [0.9, 0.99].map { ("p\(Int($0 * 100))", samples.percentile($0)) }
    keystrokes.print(asJSON: output.json)
    let count = await load.keystrokeCount
    Measure(
      trace: name, name: "server_processor_per_keystroke", unit: "us",
      samples: [processor / .microseconds(1) / Double(max(1, count))]
    ).print(asJSON: output.json)
    var resident = Measure(trace: name, name: "server_memory", unit: "MB", samples: memory.map { Double($0) / 1e6 })
    resident.more = [("growth", Double(memory[memory.count - 1] - memory[0]) / 1e6)]
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

/// What a process of this machine uses.
private struct ServerUsage {
  let processId: pid_t

  /// Source: proc(5), "/proc/pid/stat" and "/proc/pid/statm".
  func figures() throws -> (residentBytes: Int, processor: Duration) {
    let stat = try String(contentsOfFile: "/proc/\(processId)/stat", encoding: .utf8)
    // The name stands in brackets and may have blanks.
    let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
    let pages = try String(contentsOfFile: "/proc/\(processId)/statm", encoding: .utf8).split(separator: " ")
    guard fields.count > 13, pages.count > 1, let user = Int(fields[11]), let system = Int(fields[12]),
      let resident = Int(pages[1])
    else { throw TraceError.unreadable("/proc/\(processId)/stat") }
    let ticks = Double(user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    return (resident * Int(sysconf(Int32(_SC_PAGESIZE))), .seconds(ticks))
  }
}
