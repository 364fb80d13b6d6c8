import AutomergeRepo
import PeerTransport
import UV

/// Accepts connections at one address, with or without encryption.
@AutomergeRepo
final class WebSocketListener {
  private let tls: WebTLSContext?
  private var listener: TCPListener?

  /// - Parameter accept: called with each connection and its caller.
  init(
    on loop: Loop, at address: PeerAddress, tls: WebTLSContext?,
    accept: @escaping @AutomergeRepo (any ByteChannel, PeerAddress) -> Void
  ) throws(PeerNetworkError) {
    self.tls = tls
    // Where there is IPv6, its wildcard address accepts both kinds.
    let hosts = address.host == PeerAddress.anyHost ? ["::", "0.0.0.0"] : [address.host]
    var problem = PeerNetworkError.badAddress(address.description)
    for host in hosts {
      do {
        listener = try TCPListener(on: loop, host: host, port: address.port, backlog: 1024) { stream in
          nonisolated(unsafe) let stream = stream
          AutomergeRepo.assumeIsolated {
            guard let source = stream.peerAddress, let channel = Self.channel(over: stream, tls) else {
              return stream.close()
            }
            accept(channel, PeerAddress(host: source.host.withoutIPv6Mapping, port: source.port))
          }
        }
        return
      } catch {
        problem = .cannotListen(address, reason: error.message)
      }
    }
    throw problem
  }

  private static func channel(over stream: TCPStream, _ tls: WebTLSContext?) -> (any ByteChannel)? {
    guard let tls else { return TCPChannel(stream) }
    guard let session = try? TLSSession(tls) else { return nil }
    return TLSChannel(stream, session)
  }

  /// Nil once it is closed.
  var address: PeerAddress? { listener?.address.map { PeerAddress(host: $0.host, port: $0.port) } }

  /// Accepts no more. Connections stay.
  func close() {
    listener?.close()
    listener = nil
  }
}
