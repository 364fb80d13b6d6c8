/// Where a WebSocket server is: `ws://host:port/path?query`, or `wss://…` with encryption.
public struct WebSocketURL: Hashable, Sendable, CustomStringConvertible {
  public let isSecure: Bool
  /// A name or an address, the latter without brackets.
  public let host: String
  public let port: UInt16
  /// The path with its query; begins with a slash.
  public let target: String

  /// Nil unless the text is such a URL. A fragment, a user and a password are refused.
  public init?(_ text: String) {
    guard text.utf8.count <= 2000, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), !text.contains("#") else {
      return nil
    }
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ["ws", "wss"].contains(parts[0].lowercased()) else { return nil }
    isSecure = parts[0].lowercased() == "wss"
    let authority = parts[1].prefix { $0 != "/" && $0 != "?" }
    let rest = parts[1].dropFirst(authority.count)
    guard !authority.contains("@") else { return nil }
    target = rest.hasPrefix("/") ? String(rest) : "/" + rest
    var host = authority
    var port: UInt16?
    let hasPort = authority.last != "]" && authority.contains(":")
    if hasPort, let colon = authority.lastIndex(of: ":") {
      guard let number = UInt16(authority[authority.index(after: colon)...]), number > 0 else { return nil }
      port = number
      host = authority[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
    self.host = host.lowercased()
    self.port = port ?? (isSecure ? 443 : 80)
  }

  /// The host as HTTP names it, with the port unless it is the usual one.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// Without the query, which may hold a token.
  public var description: String { "\(isSecure ? "wss" : "ws")://\(authority)\(target.prefix { $0 != "?" })" }
}
