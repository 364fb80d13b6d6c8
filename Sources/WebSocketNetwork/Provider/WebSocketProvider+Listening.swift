import AutomergeRepo
import PeerTransport
import UV

/// A server's certificate and its private key, each a file in PEM.
public struct WebSocketCertificate: Hashable, Sendable {
  /// The certificate, followed by those between it and a known authority.
  public var certificateFile: String
  /// The private key, without a passphrase.
  public var keyFile: String

  public init(certificateFile: String, keyFile: String) {
    (self.certificateFile, self.keyFile) = (certificateFile, keyFile)
  }
}

extension WebSocketProvider {
  /// Accepts callers from now on, at one address or, for host `*`, at all addresses. Port 0 picks a free port.
  ///
  /// - Parameters:
  ///   - certificate: encrypts the connections (`wss`); without one they are not encrypted (`ws`)
  ///   - limits: how many connections may be open
  ///   - authorize: decides about each caller before its connection becomes a WebSocket
  /// - Returns: the address.
  @discardableResult
  public func listen(
    at address: PeerAddress, certificate: WebSocketCertificate? = nil, limits: WebSocketLimits = WebSocketLimits(),
    authorize: @escaping @AutomergeRepo (WebSocketRequest) -> WebSocketAdmission
  ) throws(PeerNetworkError) -> PeerAddress {
    guard local != nil else { throw .stopped }
    guard loop.isOnLoop else { throw .cannotListen(address, reason: "call from a task, after `sharedLoop`") }
    let tls: WebTLSContext?
    do {
      tls = try certificate.map { files throws(TLSError) in
        try WebTLSContext(certificateFile: files.certificateFile, keyFile: files.keyFile)
      }
    } catch {
      throw .insecure(error)
    }
    let new = try WebSocketListener(on: loop, at: address, tls: tls) { [weak self] channel, caller in
      if let self { self.accept(channel, from: caller, authorize) } else { channel.close() }
    }
    stopListening()
    (listener, self.limits) = (new, limits)
    return listening ?? address
  }

  /// The address we listen on; nil if we do not.
  public var listening: PeerAddress? { listener?.address }

  /// Accepts no more callers. Connections stay.
  public func stopListening() {
    listener?.close()
    listener = nil
  }

  private func accept(
    _ channel: any ByteChannel, from caller: PeerAddress, _ authorize: @escaping WebSocketTransport.Authorization
  ) {
    guard let local else { return channel.close() }
    let newcomers = links.strangers { _ in false }
    let evicted = StrangerLinks.evicted(
      for: caller.host, among: newcomers, maximumCount: limits.maximumNewcomerCount,
      maximumPerAddress: limits.maximumNewcomersPerAddress)
    if let link = evicted.flatMap({ links.link($0) }) {
      link.close(.tooManyConnections, politely: false)
      closed(link, .tooManyConnections)
    }
    guard links.count < limits.maximumCount else { return channel.close() }
    add(channel, caller, as: .server(host: caller.host, authorize: authorize), local).open()
  }
}
