import Foundation
import Logging

/// Writes log lines to standard error or to the end of a file. Standard output belongs to the editor.
struct FileLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  let label: String
  private let descriptor: Int32

  /// Sends all loggers of the process to `path`, or to standard error. False if the file can't be opened.
  static func bootstrap(path: String?, level: Logger.Level) -> Bool {
    var descriptor: Int32 = STDERR_FILENO
    if let path {
      descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      if descriptor < 0 { return false }
    }
    let target = descriptor
    LoggingSystem.bootstrap { FileLog(logLevel: level, label: $0, descriptor: target) }
    return true
  }

  private init(logLevel: Logger.Level, label: String, descriptor: Int32) {
    (self.logLevel, self.label, self.descriptor) = (logLevel, label, descriptor)
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let now = Date().timeIntervalSince1970
    let line = "\(Int64(now * 1000)) \(event.level) \(label): \(event.message)\n"
    var bytes = Array(line.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if written <= 0 { return }
      bytes = bytes.dropFirst(written)
    }
  }
}
