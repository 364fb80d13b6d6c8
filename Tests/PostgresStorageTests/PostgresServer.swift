import Foundation
import PostgresStorage
import TestSupport

/// A PostgreSQL server of the tests' own: in a temporary folder, reached by a unix socket in it, with its fsyncs.
///
/// For use from one thread at a time. The server ends with this process, however that ends.
final class PostgresServer {
  /// Why tests are skipped where there is no server to start.
  static let absence = "SKIPPED LOUDLY: PostgreSQL is not installed; `Tests/setup.sh test` installs it"

  static let isInstalled: Bool = {
    let isThere = programs != nil
    if !isThere { print("SKIPPING the tests of PostgresStorage: no initdb was found. \(absence)") }
    return isThere
  }()

  /// The folder of `initdb` and `postgres`.
  private static let programs: String? = {
    let versions = "/usr/lib/postgresql"
    let found = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
    let folders = found.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(versions)/\($0)/bin" } + ["/usr/local/bin"]
    return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
  }()

  /// The server for the tests that do not hurt it.
  nonisolated(unsafe) static let shared = Result { try PostgresServer() }

  private let directory: TemporaryDirectory
  private var process: ChildProcess?
  /// The process that all others of the server come from.
  private(set) var serverId: pid_t = 0
  private var databaseCount = 0

  init() throws {
    directory = try TemporaryDirectory()
    guard let programs = Self.programs else { throw CocoaError(.fileNoSuchFile) }
    if let user = Self.user { try Self.check(["chown", user, directory.path]) }
    try Self.check(
      Self.asUser + [
        programs + "/initdb", "--pgdata", data, "--username", "tests", "--auth", "trust", "--encoding", "UTF8",
        "--locale", "C", "--no-sync",
      ])
    try start()
  }

  /// The folder of the socket.
  var folder: String { directory.path }
  private var data: String { directory.file("data") }

  /// PostgreSQL refuses to run as root.
  private static var user: String? { getuid() == 0 ? "postgres" : nil }
  private static var asUser: [String] {
    user.map { ["setpriv", "--reuid", $0, "--regid", $0, "--init-groups"] } ?? []
  }

  /// Starts the server, and waits until it takes connections.
  func start() throws {
    guard process == nil, let programs = Self.programs else { return }
    // The shell ends the server when its standard input ends, as it does with this process.
    let script = """
      exec 3<&0; "$@" </dev/null & server=$!; echo $server; (cat <&3; kill -QUIT $server) >/dev/null 2>&1 & wait $server
      """
    let command =
      ["/bin/sh", "-c", script, "server"] + Self.asUser + [
        programs + "/postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=300", "-c",
        "shared_buffers=32MB",
      ]
    // After a kill, processes of the earlier server may still be about to end; the new one then refuses to start.
    let deadline = ContinuousClock.now + Patience.hang
    while true {
      let process = try ChildProcess(command)
      do {
        try process.wait(for: "a server that takes connections", until: deadline) {
          String(decoding: $0.errorOutput, as: UTF8.self).contains("ready to accept connections")
        }
      } catch ProcessError.ended where ContinuousClock.now < deadline {
        continue
      }
      serverId = pid_t(String(decoding: process.output, as: UTF8.self).prefix { $0.isNumber }) ?? 0
      self.process = process
      return
    }
  }

  /// Stops the server as its administrator does: open transactions are rolled back.
  func stop() throws { try end(SIGINT) }

  /// Kills all processes of the server at once. What the kernel has of its files stays, as it would not in a power cut.
  func kill() throws {
    for id in processIds { Foundation.kill(id, SIGKILL) }
    try end(SIGKILL)
  }

  private func end(_ signal: Int32) throws {
    guard let process else { return }
    Foundation.kill(serverId, signal)
    // The shell waits for the server, and `cat` for us.
    try process.wait(for: "the end of the server", until: .now + Patience.hang) { _ in
      Foundation.kill(serverId, 0) != 0
    }
    self.process = nil
  }

  /// Stops all processes of the server where they are, or lets them go on.
  func setFrozen(_ isFrozen: Bool) {
    for id in processIds { Foundation.kill(id, isFrozen ? SIGSTOP : SIGCONT) }
  }

  private var processIds: [pid_t] {
    // Not by ps, which a small system does not have.
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
    return [serverId] + all.filter { Self.parent(of: $0) == serverId }
  }

  /// The second field behind the name, which is in brackets.
  private static func parent(of process: pid_t) -> pid_t? {
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 1 ? pid_t(fields[1]) : nil
  }

  // MARK: Databases

  /// Makes an empty database and returns its name.
  func makeDatabase(_ options: String = "") throws -> String {
    databaseCount += 1
    let name = "test\(databaseCount)"
    try run("CREATE DATABASE \(name) \(options)", in: "postgres")
    return name
  }

  func url(_ database: String, folder: String? = nil) throws -> PostgresURL {
    try PostgresURL("postgres://tests@/\(database)?host=\(folder ?? self.folder)")
  }

  /// Runs SQL past the store, and returns what comes out, a line for each row.
  @discardableResult
  func run(_ sql: String, in database: String) throws -> String {
    let found = try Self.check([
      "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "tests", "-d", database, "-c", sql,
    ])
    return found.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  struct Failed: Error, CustomStringConvertible { let description: String }

  @discardableResult
  private static func check(_ command: [String]) throws -> String {
    let (exit, output, errorOutput) = try ChildProcess.run(command)
    guard exit == .code(0) else {
      throw Failed(description: "\(command): \(String(decoding: errorOutput, as: UTF8.self))")
    }
    return String(decoding: output, as: UTF8.self)
  }
}
