import ArgumentParser
import AutomergeRepo
import Foundation
import NotesHarness
import TestSupport
import UV
import WebSocketNetwork

/// What many documents cost a server while no person types: in memory, released, and held in memory because a peer has
/// other heads.
struct IdleServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve-idle",
    abstract: "The processor time a minute and the memory of a server with many idle documents.")

  @Option(help: "How many documents there are.")
  var documents = 10_000

  @Option(help: "For how many seconds each state is watched.")
  var seconds = 60

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1...50_000).contains(documents), (1...3_600).contains(seconds) else {
      throw ValidationError("The limits are 50,000 documents and 3,600 seconds.")
    }
  }

  func run() async throws {
    let directory = try TemporaryDirectory()
    let access = directory.file("access.json")
    try #"{"tokens": {"load": {"access": "write", "create": true}, "reader": {"access": "read"}}}"#.write(
      toFile: access, atomically: true, encoding: .utf8)
    let server = try ServerProcess(
      home: try directory.directory("home"),
      options: ["--websocket", "127.0.0.1:0", "--access", access, "--metrics", "127.0.0.1:0"])
    guard let url = WebSocketURL(server.websocket) else { throw ValidationError("no server: \(server.log)") }
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    try loop.runOnNewThread()
    try report("empty", server)
    let writer = try await ManyDocumentsClient.start("writer", documents: documents, at: url, token: "load", loop: loop)
    try report("all in memory", server)
    try await waitUntilOpen(0, server)
    try watch("let go, a peer connected", server)
    let reader = await ManyDocumentsClient.start("reader", copying: writer, at: url, token: "reader", loop: loop)
    try await reader.exchange()
    try await reader.changeAll()
    try report("held: a reader has other heads in each", server)
    // The first minute has the comparisons anew, after ever longer intervals.
    try watch("held, the first minutes", server)
    try watch("held, later", server)
    await reader.stop()
    try await waitUntilOpen(0, server)
    try watch("let go again", server)
    await writer.stop()
    guard try server.end() == .code(0) else { throw ValidationError("the server did not end: \(server.log)") }
  }

  private func waitUntilOpen(_ count: Double, _ server: ServerProcess) async throws {
    let isReached = try Polling.comesTrue(lookingEvery: .seconds(1)) {
      try server.metrics()["notes_documents_open"] == count
    }
    guard isReached else { throw ValidationError("the server has not released the documents") }
  }

  private func report(_ state: String, _ server: ServerProcess) throws {
    let open = try server.metrics()["notes_documents_open"] ?? 0
    let (resident, _) = try ServerUsage(processId: server.child.processId).figures()
    var memory = Measure(
      trace: "\(documents) documents, \(state)", name: "server_memory", unit: "MB", samples: [Double(resident) / 1e6])
    memory.more = [("open", open)]
    memory.print(asJSON: output.json)
  }

  /// The processor time a minute, and the longest time that the loop was busy with one thing.
  private func watch(_ state: String, _ server: ServerProcess) throws {
    let usage = ServerUsage(processId: server.child.processId)
    let (before, late) = (try usage.figures().processor, try Self.lateCount(server))
    Polling.measure(for: .seconds(seconds))
    let used = (try usage.figures().processor - before) / .milliseconds(1) * 60 / Double(seconds)
    var processor = Measure(trace: "\(documents) documents, \(state)", name: "processor_per_minute", samples: [used])
    processor.more = [("loop_late_5ms", try Self.lateCount(server) - late)]
    processor.print(asJSON: output.json)
    try report(state, server)
  }

  /// How often the loop was later than about 5 ms.
  private static func lateCount(_ server: ServerProcess) throws -> Double {
    let metrics = try server.metrics()
    let bounds = metrics.filter { $0.key.hasPrefix("notes_loop_delay_seconds_bucket") }.compactMap {
      entry -> (Double, Double)? in
      Double(entry.key.split(separator: "\"")[1]).map { ($0, entry.value) }
    }
    let within = bounds.filter { $0.0 <= 0.0051 }.map(\.1).max() ?? 0
    return (metrics["notes_loop_delay_seconds_count"] ?? 0) - within
  }
}
