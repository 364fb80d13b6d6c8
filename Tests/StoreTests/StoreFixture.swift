import AutomergeRepo
import Foundation
import GRDB
import SQLiteStorage
import TestSupport

/// A store in a directory of its own, and ways to hurt it.
struct StoreFixture {
  let directory: TemporaryDirectory
  let home: String

  init() throws {
    directory = try TemporaryDirectory()
    home = directory.file("home")
  }

  var database: String { home + "/notes.db" }

  func open(_ kind: FileSystemKind? = nil, rebuilding: Bool = true) async throws -> SQLiteStore {
    try await SQLiteStore.open(directory: URL(fileURLWithPath: home), fileSystem: kind, rebuilding: rebuilding)
  }

  /// A connection past the store. A store that was just released may still be closing, and has the lock until it is.
  private func connection() throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    return try DatabaseQueue(path: database, configuration: configuration)
  }

  /// Runs SQL past the store.
  func execute(_ sql: String) throws {
    try connection().writeWithoutTransaction { try $0.execute(sql: sql) }
  }

  func count(_ table: String) throws -> Int {
    try connection().writeWithoutTransaction {
      try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
  }

  func bytes(_ ending: String = "") throws -> Data { try Data(contentsOf: URL(fileURLWithPath: database + ending)) }

  func write(_ bytes: Data, _ ending: String = "") throws {
    try bytes.write(to: URL(fileURLWithPath: database + ending))
  }

  /// The names of what lies in the home directory.
  func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: home)) }

  /// The program that commits until it is killed, beside this one.
  static var writer: String? {
    for candidate in CommandLine.arguments + [Bundle.main.bundlePath, Bundle.main.executablePath ?? ""] {
      var folder = URL(fileURLWithPath: candidate)
      for _ in 0..<4 {
        folder.deleteLastPathComponent()
        let path = folder.appendingPathComponent("store-writer").path
        if FileManager.default.isExecutableFile(atPath: path) { return path }
      }
    }
    return nil
  }
}
