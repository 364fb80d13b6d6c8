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

  /// Whether it never leaves this machine. A name is not believed.
  public var isLoopback: Bool {
    if host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

/// Why there is no connection, or no listening.
public enum PeerNetworkError: Error, Hashable, Sendable {
  case badAddress(String)
  /// Links are not encrypted yet, so nothing may leave this machine.
  case notLoopback(PeerAddress)
  case cannotListen(PeerAddress, reason: String)
  case unreachable(PeerAddress, reason: String)
  case handshake(HandshakeError)
  case tooManyConnections
  case stopped
}

extension PeerNetworkError: CustomStringConvertible {
  /// One sentence, fit to show.
  public var description: String {
    switch self {
    case .badAddress(let text): "\(text) is no address; write host:port"
    case .notLoopback(let address):
      "\(address) is not on this machine, and links are not encrypted yet; use 127.0.0.1 or ::1"
    case .cannotListen(let address, let reason): "cannot listen at \(address): \(reason)"
    case .unreachable(let address, let reason): "\(address) cannot be reached: \(reason)"
    case .handshake(let error): "the other side is no peer that can be talked to: \(error)"
    case .tooManyConnections: "there are too many connections"
    case .stopped: "the network is off"
    }
  }
}
