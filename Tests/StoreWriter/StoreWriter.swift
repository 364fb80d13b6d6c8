import AutomergeRepo
import AutomergeRepoConformance
import Foundation
import SQLiteStorage

/// `store-writer DIRECTORY NAME BYTES [FILLER]`: commits chunk after chunk until it is killed, and prints each number once
/// it is stored. Now and then it merges: saves one chunk for many and removes those, in one commit.
///
/// `store-writer DIRECTORY NAME conformance` does what the conformance suite asks of one of several processes, and ends.
///
/// With FILLER it fills the disk: when there is no room left it says so, removes that file, and goes on.
@main
struct StoreWriter {
  /// After so many chunks they are merged into one.
  static let chunksPerMerge = 10

  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 4, arguments[3] == "conformance" {
      let store = try await SQLiteStore.open(directory: URL(fileURLWithPath: arguments[1], isDirectory: true))
      return try await StorageConformance.write(as: arguments[2], to: store)
    }
    guard arguments.count >= 4, let byteCount = Int(arguments[3]) else { return }
    let (name, filler) = (arguments[2], arguments.count > 4 ? arguments[4] : nil)
    let store = try await SQLiteStore.open(directory: URL(fileURLWithPath: arguments[1], isDirectory: true))
    var merged = try await store.loadRange([name, "snapshot"]).compactMap { Int($0.key[2]) }.max() ?? 0
    var number = try await store.loadRange([name, "incremental"]).compactMap { Int($0.key[2]) }.max() ?? merged
    say("open \(number)")
    while true {
      number += 1
      let value = Data("\(number) ".utf8) + Data(repeating: UInt8(truncatingIfNeeded: number), count: byteCount)
      let changes: [StorageChange] = [
        .save(StoredItem(key: [name, "incremental", "\(number)"], data: value)),
        .save(StoredItem(key: ["notes", name], data: Data("\(number)".utf8))),
      ]
      try await commit(changes, to: store, filler)
      say("\(number)")
      guard number - merged >= chunksPerMerge else { continue }
      let removed = (merged + 1...number).map { StorageChange.remove([name, "incremental", "\($0)"]) }
      let old = StorageChange.remove([name, "snapshot", "\(merged)"])
      let snapshot = StorageChange.save(StoredItem(key: [name, "snapshot", "\(number)"], data: value))
      try await commit([snapshot, old] + removed, to: store, filler)
      merged = number
    }
  }

  static func commit(_ changes: [StorageChange], to store: SQLiteStore, _ filler: String?) async throws {
    var isFull = false
    while true {
      do {
        try await store.commit(changes)
        if isFull { say("resumed") }
        return
      } catch StorageError.full {
        guard let filler else { throw StorageError.full }
        if !isFull { say("full") }
        isFull = true
        unlink(filler)
      }
    }
  }

  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
