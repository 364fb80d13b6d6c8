import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import PostgresStorage
import UV

/// `postgres-writer URL NAME BYTES`: commits chunk after chunk until it is killed, and prints each number once it is stored. Now
/// and then it merges: saves one chunk for many and removes those, in one commit.
///
/// `postgres-writer URL NAME conformance` does what the conformance suite asks of one of several processes, and ends.
@main
struct PostgresWriter {
  /// After so many chunks they are merged into one.
  static let chunksPerMerge = 10

  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4 else { return }
    let (url, name, rest) = (try PostgresURL(arguments[1]), arguments[2], arguments[3])
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    Task { @AutomergeRepo in
      do {
        let store = try await PostgresStore.open(url, loop: loop, clock: SystemClock())
        if rest == "conformance" {
          try await StorageConformance.write(as: name, to: store)
        } else {
          try await write(as: name, byteCount: Int(rest) ?? 100, to: store)
        }
        exit(0)
      } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(1)
      }
    }
    loop.run()
  }

  static func write(as name: String, byteCount: Int, to store: PostgresStore) async throws {
    var merged = try await store.loadRange([name, "merged"]).compactMap { Int($0.key[2]) }.max() ?? 0
    var number = try await store.loadRange([name, "added"]).compactMap { Int($0.key[2]) }.max() ?? merged
    say("open \(number)")
    while true {
      number += 1
      let value = Data("\(number) ".utf8) + Data(repeating: UInt8(truncatingIfNeeded: number), count: byteCount)
      try await commit(
        [
          .save(StoredItem(key: [name, "added", "\(number)"], data: value)),
          .save(StoredItem(key: ["notes", name], data: Data("\(number)".utf8))),
        ], to: store)
      say("\(number)")
      guard number - merged >= chunksPerMerge else { continue }
      let removed = (merged + 1...number).map { StorageChange.remove([name, "added", "\($0)"]) }
      let old = StorageChange.remove([name, "merged", "\(merged)"])
      let snapshot = StorageChange.save(StoredItem(key: [name, "merged", "\(number)"], data: value))
      try await commit([snapshot, old] + removed, to: store)
      merged = number
    }
  }

  /// Tries until it is stored, as a repo does.
  static func commit(_ changes: [StorageChange], to store: PostgresStore) async throws {
    while true {
      do {
        return try await store.commit(changes)
      } catch StorageError.unreachable {
        say("away")
      }
    }
  }

  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
