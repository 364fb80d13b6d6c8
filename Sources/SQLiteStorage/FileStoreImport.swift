import AutomergeRepo
import FileStorage
import Foundation
import GRDB
import Logging

/// Imports a store of plain files, which earlier versions kept in `store` beside the database.
///
/// May be repeated: documents are content-addressed, and records that the database has are newer. The files stay, under another
/// name, until the person removes them.
enum FileStoreImport {
  static let directoryName = "store"
  static let nameAfterwards = "store-before-database"

  /// - Complexity: O(n) in the bytes of the files. Everything is one transaction.
  static func run(into file: DatabaseFile) throws(StorageError) {
    let directory = file.directory + "/" + directoryName
    var info = stat()
    guard lstat(directory, &info) == 0, info.st_mode & S_IFMT == S_IFDIR else { return }
    let lock = try StoreLock(directory: file.directory)
    let files = try StoreFiles(root: directory)
    let found = try files.list([])
    try file.perform { database in
      try database.inTransaction(.immediate) {
        for (key, path) in found {
          guard let data = try files.read(path) else { continue }
          try database.cachedStatement(sql: "INSERT OR IGNORE INTO item (key, sha256, bytes) VALUES (?, ?, ?)")
            .execute(arguments: [try StoreSchema.text(of: key), StoreSchema.hash(data), data])
        }
        return .commit
      }
    }
    try giveWay(directory)
    _ = consume lock
    Logger(label: "store").notice("\(found.count) files of an earlier version are in the database now.")
  }

  private static func giveWay(_ directory: String) throws(StorageError) {
    let base = (directory as NSString).deletingLastPathComponent + "/" + nameAfterwards
    for number in 1...1000 {
      let target = number == 1 ? base : "\(base)-\(number)"
      if access(target, F_OK) == 0 { continue }
      if rename(directory, target) == 0 || errno == ENOENT { return }
      guard errno == ENOTEMPTY || errno == EEXIST else {
        throw StorageError(operation: "rename \(directory)", code: errno)
      }
    }
  }
}
