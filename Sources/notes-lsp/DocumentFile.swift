import Automerge
import Foundation
import NotesServer

/// Documents as files, for the commands that read them.
enum DocumentFile {
  /// The first bytes of every Automerge file.
  static let magic: [UInt8] = [0x85, 0x6F, 0x4A, 0x83]

  static func read(_ path: String) throws -> Data {
    do { return try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw Failure(message: "\(path) cannot be read: \(reason(error))")
    }
  }

  /// What the system says, without Foundation's sentence around it.
  private static func reason(_ error: any Error) -> String {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
    let code = (cause as? POSIXError)?.code.rawValue ?? (cause as NSError?).flatMap { Int32(exactly: $0.code) }
    return code.map { String(cString: strerror($0)) } ?? error.localizedDescription
  }

  /// The document in a file, and how many bytes of a container precede it.
  static func document(in bytes: Data) -> (data: Data, offset: Int, isContained: Bool) {
    guard let file = MeetingNotesFile(Array(bytes)), let range = bytes.range(of: file.data) else {
      return (bytes, 0, false)
    }
    return (file.data, range.lowerBound, true)
  }

  static func load(_ path: String) throws -> Document {
    let bytes = document(in: try read(path)).data
    do { return try Document(bytes) } catch let error as LoadError {
      throw Failure(message: "\(path) cannot be used: \(error.sentence).")
    }
  }

  /// Writes a file beside the destination and renames it, so that no reader sees half of it.
  static func write(_ bytes: Data, to path: String, replacing: Bool) throws {
    guard replacing || !FileManager.default.fileExists(atPath: path) else {
      throw Failure(message: "\(path) exists already; --force replaces it.")
    }
    do { try bytes.write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
      throw Failure(message: "\(path) cannot be written: \(reason(error))")
    }
  }
}

extension Document {
  /// The heads in hexadecimal, ascending.
  var headNames: [String] { heads().map(\.description).sorted() }
}
