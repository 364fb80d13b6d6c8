import Foundation
import NotesServer
import Store

/// The store's working files in the form that the server needs.
struct WorkingFileAdapter: WorkingFileAccess {
  private let files = WorkingFiles()
  private let locks: String

  /// - Parameter home: the store's directory.
  init(home: String) { locks = home + "/open" }

  func claim(_ name: String, exclusively: Bool) -> (any NoteClaim)? {
    NoteLock(directory: locks, name: name, exclusively: exclusively)
  }

  func read(_ path: String) async throws(WorkingFileError) -> [UInt8]? {
    do {
      return try await files.read(path)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func look(_ path: String, since mark: FileMark?) async throws(WorkingFileError) -> FileSight {
    do {
      return switch try await files.look(path, since: mark.map(WorkingFiles.Mark.init)) {
      case .missing: .missing
      case .unchanged: .unchanged
      case .found(let bytes, let mark): .found(bytes, FileMark(mark))
      }
    } catch {
      throw WorkingFileError(error)
    }
  }

  func create(_ path: String, _ bytes: [UInt8]) async throws(WorkingFileError) -> Bool {
    do {
      return try await files.create(path, bytes)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func write(_ path: String, _ bytes: [UInt8], replacing: Bool) async throws(WorkingFileError) -> Bool {
    do {
      return try await files.put(path, bytes, replacing: replacing)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func names(in folder: String) async throws(WorkingFileError) -> [String]? {
    do {
      return try await files.names(in: folder)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func move(_ path: String, to target: String) async throws(WorkingFileError) -> Bool {
    do {
      return try await files.move(path, to: target)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func moveFolder(_ path: String, to target: String) async throws(WorkingFileError) -> Bool {
    do {
      return try await files.moveFolder(path, to: target)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func remove(_ path: String) async throws(WorkingFileError) {
    do {
      try await files.remove(path)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func remove(_ path: String, of expected: [UInt8]) async throws(WorkingFileError) -> [UInt8]? {
    do {
      return try await files.remove(path, of: expected)
    } catch {
      throw WorkingFileError(error)
    }
  }

  func makeDurable(_ path: String) async { await files.makeDurable(path) }

  func replace(_ path: String, _ bytes: [UInt8], of expected: [UInt8]?) async throws(WorkingFileError) -> [UInt8]? {
    do {
      return try await files.replace(path, bytes, of: expected)
    } catch {
      throw WorkingFileError(error)
    }
  }
}

extension WorkingFiles.Mark {
  fileprivate init(_ mark: FileMark) {
    self.init(inode: mark.inode, byteCount: mark.byteCount, nanoseconds: mark.nanoseconds)
  }
}

extension FileMark {
  fileprivate init(_ mark: WorkingFiles.Mark) {
    self.init(inode: mark.inode, byteCount: mark.byteCount, nanoseconds: mark.nanoseconds)
  }
}

extension NoteLock: NoteClaim {}

extension WorkingFileError {
  fileprivate init(_ failure: WorkingFiles.Failure) {
    switch failure {
    case .tooLarge(let path, _): self = .tooLarge(path)
    case .notAFile(let path): self = .notAFile(path)
    case .system(let path, let operation, let code):
      self = .failed(path, reason: "\(operation): \(String(cString: strerror(code)))")
    }
  }
}
