/// How much to log. Exists for programs written for automerge-swift: this library does no I/O, so it logs nothing at
/// any level; it throws errors instead.
public enum LogVerbosity: Int, Comparable, Sendable {
  // The numbers are syslog's severities. Source: RFC 5424, section 6.2.1.
  case errorOnly = 3
  case debug = 6
  case tracing = 8

  public static func < (left: LogVerbosity, right: LogVerbosity) -> Bool { left.rawValue < right.rawValue }

  /// Whether messages for debugging are wanted.
  public func canDebug() -> Bool { self >= .debug }

  /// Whether messages for tracing are wanted.
  public func canTrace() -> Bool { self >= .tracing }
}
