import Automerge
import Logging

/// How a provider that is made outside of any task calls servers.
public struct WebSocketProviderConfiguration: Sendable {
  /// Calls a server again without limit.
  public static let `default` = WebSocketProviderConfiguration()

  /// Whether a server whose connection breaks is called again, after growing pauses.
  public var reconnectOnError: Bool
  /// How many failed calls in a row are made before a server is given up; nil for no limit.
  public var maxNumberOfConnectRetries: Int?
  /// Certificates of the authorities to trust for `wss`, in PEM; nil for those that the system trusts.
  public var authorityFile: String?
  public var logger: Logger

  /// - Parameter loggingAt: the level of the logger
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
