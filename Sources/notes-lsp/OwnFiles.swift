import Foundation

/// The files by which a store works, which no copy of a note or a store may replace.
enum OwnFiles {
  private static let names: Set = [
    "notes.db", "notes.db-wal", "notes.db-shm", "notes.lock", "net.lock", "siblings.lock", "identity.pem",
  ]

  /// Throws if `path` is one of the files of the store in `home`, under whatever name.
  static func refuse(_ path: String, in home: String) throws {
    guard let id = identity(path) else { return }
    for name in names where identity(home + "/" + name) == id {
      throw Failure(message: "\(path) is the store's own file; choose another.")
    }
  }

  private static func identity(_ path: String) -> [UInt64]? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    return [UInt64(info.st_dev), UInt64(info.st_ino)]
  }
}
