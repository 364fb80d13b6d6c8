import Foundation
import NotesHarness
import TestSupport

/// A PostgreSQL server for the tests alone, on a unix socket in a temporary folder.
final class Database {
  private static let programs = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql"))?
    .sorted { $0.compare($1, options: .numeric) == .orderedAscending }.last.map { "/usr/lib/postgresql/\($0)/bin" }

  static var isThere: Bool { programs != nil && NotesBinary.find("runuser") != nil }

  private let folder: String
  var url: String { "postgres://postgres@/postgres?host=\(folder)" }

  init() throws {
    folder = "/tmp/notes-db-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if getuid() == 0 { try Self.check(ChildProcess.run(["chown", "postgres", folder])) }
    try run(
      "initdb", ["--no-locale", "--encoding=UTF8", "--auth=trust", "--username=postgres", "-D", folder + "/data"])
    try start()
  }

  deinit {
    try? stop()
    try? FileManager.default.removeItem(atPath: folder)
  }

  func start() throws {
    let options = "-k \(folder) -c listen_addresses=''"
    try run("pg_ctl", ["-D", folder + "/data", "-w", "-l", folder + "/log", "-o", options, "start"])
  }

  func stop() throws { try run("pg_ctl", ["-D", folder + "/data", "-w", "-m", "fast", "stop"]) }

  private func run(_ program: String, _ arguments: [String]) throws {
    let command = ["\(Self.programs ?? "")/\(program)"] + arguments
    try Self.check(ChildProcess.run(getuid() == 0 ? ["runuser", "-u", "postgres", "--"] + command : command))
  }

  private static func check(_ result: (exit: ChildProcess.Exit, output: [UInt8], errorOutput: [UInt8])) throws {
    guard result.exit == .code(0) else {
      throw ProcessError.ended(
        waitingFor: "PostgreSQL", details: String(decoding: result.output + result.errorOutput, as: UTF8.self))
    }
  }
}
