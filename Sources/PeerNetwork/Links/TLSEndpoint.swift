import AutomergeRepo
import PeerTransport
import UV

/// This person's end of TLS over TCP: listens, and calls addresses, with the person's key.
@AutomergeRepo
final class TLSEndpoint {
  let loop: Loop
  /// The peer that our key proves.
  let peerId: PeerId
  private let tls: TLSContext
  private var listener: TCPListener?

  init(loop: Loop, identity: Identity) throws(TLSError) {
    tls = try TLSContext(identity)
    (self.loop, peerId) = (loop, identity.peerId)
  }

  // MARK: Listening

  /// The address we listen on; nil if we do not.
  var listening: PeerAddress? { listener?.address.map { PeerAddress(host: $0.host, port: $0.port) } }

  /// The addresses where peers may reach us, likeliest first, `Ticket.maximumAddresses` at most.
  ///
  /// - Complexity: O(n) in the machine's interfaces, with a few system calls.
  var reachableAddresses: [PeerAddress] {
    guard let listening else { return [] }
    guard listening.isAny else { return [listening] }
    let usable = NetworkInterface.all.filter { interface in
      // A link-local address means another machine on every link.
      let host = interface.address.host
      return !host.hasPrefix("fe80:") && (!interface.address.isIPv6 || listening.host == "::")
    }
    let ordered =
      usable.filter { !$0.isInternal && !$0.address.isIPv6 }
      + usable.filter { !$0.isInternal && $0.address.isIPv6 } + usable.filter { $0.isInternal && !$0.address.isIPv6 }
    return ordered.prefix(Ticket.maximumAddresses).map { PeerAddress(host: $0.address.host, port: listening.port) }
  }

  /// Accepts connections from now on, at one address or, for host `*`, at all. Port 0 picks a free one.
  ///
  /// - Parameter accept: called for each, with the caller's address.
  /// - Returns: the address.
  func listen(
    at address: PeerAddress, accept: @escaping @AutomergeRepo (TLSTransport, PeerAddress) -> Void
  ) throws(PeerNetworkError) -> PeerAddress {
    // Where there is IPv6, its wildcard address accepts both kinds.
    let hosts = address.host == PeerAddress.anyHost ? ["::", "0.0.0.0"] : [address.host]
    var problem = PeerNetworkError.badAddress(address.description)
    for host in hosts {
      do {
        let new = try TCPListener(on: loop, host: host, port: address.port) { [weak self] stream in
          nonisolated(unsafe) let stream = stream
          AutomergeRepo.assumeIsolated {
            guard let self, let source = stream.peerAddress, let session = try? TLSSession(self.tls, .listener) else {
              return stream.close()
            }
            accept(TLSTransport(stream, session), PeerAddress(host: source.host.withoutIPv6Mapping, port: source.port))
          }
        }
        listener?.close()
        listener = new
        return listening ?? address
      } catch {
        problem = .cannotListen(address, reason: error.message)
      }
    }
    throw problem
  }

  func stopListening() {
    listener?.close()
    listener = nil
  }

  // MARK: Calling

  /// Opens a TCP connection to an address.
  func connect(
    to address: PeerAddress, timeout: Duration,
    done: @escaping @AutomergeRepo (Result<TCPStream, PeerNetworkError>) -> Void
  ) {
    TCPStream.connect(on: loop, host: address.host, port: address.port, timeout: timeout) { result in
      nonisolated(unsafe) let result = result
      AutomergeRepo.assumeIsolated {
        done(
          result.mapError { error in
            error.isSilence
              ? .noAnswer(address, reason: "\(error)") : .unreachable(address, reason: "\(error)")
          })
      }
    }
  }

  /// The transport over a connection that we opened.
  ///
  /// - Parameter expected: the first bytes of the only fingerprints that are accepted; nil for any
  func transport(over stream: TCPStream, expecting expected: [UInt8]?) throws(PeerNetworkError) -> TLSTransport {
    do {
      return TLSTransport(stream, try TLSSession(tls, .dialer, expecting: expected))
    } catch {
      throw .insecure(error)
    }
  }
}
