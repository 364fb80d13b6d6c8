import Automerge
import Logging

/// How a provider that is made outside of any task calls servers.
public struct WebSocketProviderConfiguration: Sendable {
  /// Calls a server again for as long as it takes.
  public static let `default` = WebSocketProviderConfiguration()

  /// Whether a server whose connection breaks is called again, after growing pauses.
  public var reconnectOnError: Bool
  /// After how many failed calls in a row a server is given up; nil for never.
  public var maxNumberOfConnectRetries: Int?
  /// Certificates of the authorities to trust for `wss`, in PEM; nil for those that the system trusts.
  public var authorityFile: String?
  public var logger: Logger

  /// - Parameter loggingAt: how much the logger is to say.
  public init(
    reconnectOnError: Bool = true, loggingAt verbosity: LogVerbosity = .errorOnly,
    maxNumberOfConnectRetries: Int? = nil, authorityFile: String? = nil, logger: Logger = Logger(label: "websocket")
  ) {
    (self.reconnectOnError, self.maxNumberOfConnectRetries) = (reconnectOnError, maxNumberOfConnectRetries)
    (self.authorityFile, self.logger) = (authorityFile, logger)
    self.logger.logLevel =
      switch verbosity {
      case .errorOnly: .warning
      case .debug: .debug
      case .tracing: .trace
      }
  }

  var retryCount: Int? { reconnectOnError ? maxNumberOfConnectRetries : 0 }
}
