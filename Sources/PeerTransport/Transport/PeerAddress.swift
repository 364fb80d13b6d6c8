import UV

/// Where a peer listens: a host and a port, written `127.0.0.1:7000`, `[::1]:7000` or `localhost:7000`.
public struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  public let host: String
  public let port: UInt16

  public init(host: String, port: UInt16) {
    (self.host, self.port) = (host, port)
  }

  /// Nil unless there is a host and, after the last colon, a port.
  public init?(_ text: String) {
    guard text.utf8.count <= 270, let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    self.init(host: host == "localhost" ? "127.0.0.1" : String(host), port: port)
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// For listening: every address of this machine.
  package static let anyHost = "*"

  /// Whether this means every address of this machine.
  package var isAny: Bool { [Self.anyHost, "::", "0.0.0.0"].contains(host) }

  /// Whether this names, by number, a machine that can be called. Peers' own addresses must be numeric, because their
  /// names are not looked up.
  package var isCallable: Bool { port != 0 && !isAny && SocketAddress(host: host, port: port) != nil }
}

/// Why there is no connection, or no listening.
public enum PeerNetworkError: Error, Hashable, Sendable {
  case badAddress(String)
  /// Not a WebSocket URL.
  case badURL(String)
  case cannotListen(PeerAddress, reason: String)
  case unreachable(PeerAddress, reason: String)
  /// No answer from the address, not even a refusal.
  case noAnswer(PeerAddress, reason: String)
  case insecure(TLSError)
  case handshake(HandshakeError)
  case tooManyConnections
  case stopped
}

extension PeerNetworkError {
  /// Why an address cannot be reached, where the address is known already.
  package var reason: String? {
    switch self {
    case .unreachable(_, let reason), .noAnswer(_, let reason): reason
    default: nil
    }
  }
}

extension PeerNetworkError: CustomStringConvertible {
  /// One sentence that can be shown to a person.
  public var description: String {
    switch self {
    case .badAddress(let text): "\(text) is not an address; write host:port or wss://host/"
    case .badURL(let text): "\(text) is not a WebSocket URL; write wss://host/"
    case .cannotListen(let address, let reason): "cannot listen at \(address): \(reason)"
    case .unreachable(let address, let reason), .noAnswer(let address, let reason):
      "\(address) cannot be reached: \(reason)"
    case .insecure(let error): error.description
    case .handshake(let error): error.description
    case .tooManyConnections: "there are too many connections"
    case .stopped: "the network is off"
    }
  }
}

extension String {
  /// The host, without the prefix of an IPv4 address on an IPv6 socket.
  package var withoutIPv6Mapping: String { hasPrefix("::ffff:") ? String(dropFirst(7)) : self }
}
