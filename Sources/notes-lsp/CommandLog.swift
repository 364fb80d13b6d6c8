import Logging

/// The log of a command: a failure as one sentence on standard error, and nothing else. What a service reports as it works is
/// not for the person who waits for a result.
struct CommandLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .error

  /// Sends all loggers of the process here.
  static func bootstrap() { LoggingSystem.bootstrap { _ in CommandLog() } }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { Output.note("notes-lsp: \(event.message)") }
}
