import Automerge
import Foundation

/// Documents as files, for the commands that look at them.
enum DocumentFile {
  static func read(_ path: String) throws -> Data {
    do { return try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw Failure(message: "\(path) cannot be read: \(error.localizedDescription)")
    }
  }

  static func load(_ path: String) throws -> Document {
    let bytes = try read(path)
    do { return try Document(bytes) } catch let error as LoadError {
      throw Failure(message: "\(path) is no document: \(error)")
    }
  }

  /// Writes a file beside the place and moves it there, so that nobody sees half of it.
  static func write(_ bytes: Data, to path: String, replacing: Bool) throws {
    guard replacing || !FileManager.default.fileExists(atPath: path) else {
      throw Failure(message: "\(path) exists already; --force replaces it.")
    }
    do { try bytes.write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
      throw Failure(message: "\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}

extension Document {
  /// The heads in hexadecimal, ascending.
  var headNames: [String] { heads().map(\.description).sorted() }
}
