internal import CUV

/// Why a connection was not established.
public enum ConnectError: Error, Hashable, Sendable {
  /// The name has no address.
  case unresolved(host: String, UVError)
  /// None of the addresses answered; this is the error of the last one.
  case unreachable(host: String, port: UInt16, UVError)
  case timedOut(host: String, port: UInt16)
  case cancelled
}

extension ConnectError {
  /// Whether there was no answer at all, as when a machine or the route to it is gone. A refused connection is an
  /// answer.
  public var isSilence: Bool {
    switch self {
    case .timedOut: true
    case .unreachable(_, _, let error): error == .hostUnreachable || error == .timedOut
    case .unresolved, .cancelled: false
    }
  }
}

extension ConnectError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unresolved(let host, let error): "\(host) has no address (\(error.message))"
    case .unreachable(let host, let port, let error): "\(host) port \(port): \(error.message)"
    case .timedOut(let host, let port): "\(host) port \(port) does not answer"
    case .cancelled: "cancelled"
    }
  }
}

/// An attempt to connect, from the name to the open stream.
///
///     resolving ──addresses──► connecting ──► done
///                                ▲     │
///                                └─────┘ the next address
public final class TCPConnector {
  private let loop: Loop
  private let host: String
  private let port: UInt16
  private var addresses: [sockaddr_storage] = []
  private var stream: TCPStream?
  private var deadline: Timer?
  private var done: ((Result<TCPStream, ConnectError>) -> Void)?

  fileprivate init(
    on loop: Loop, host: String, port: UInt16, done: @escaping (Result<TCPStream, ConnectError>) -> Void
  ) {
    self.loop = loop
    self.host = host
    self.port = port
    self.done = done
  }

  /// Gives up; the callback is called with `cancelled`.
  public func cancel() {
    loop.preconditionOnLoop()
    finish(.failure(.cancelled))
  }

  fileprivate func start(timeout: Duration) {
    do {
      deadline = try loop.after(timeout) { [self] in
        // The loop runs timers before sockets. If it was delayed, read an answer that has arrived before giving up.
        deadline = try? loop.after(.milliseconds(1)) { [self] in giveUp() }
        if deadline == nil { giveUp() }
      }
    } catch {
      // Never inside `connect`, because its caller does not have the connector yet.
      return loop.later { [self] in finish(.failure(.unreachable(host: host, port: port, error))) }
    }
    if let address = sockaddr_storage(numericHost: host, port: port) {
      addresses = [address]
      tryNextAddress(after: .hostNotFound)
    } else {
      resolve()
    }
  }

  private func giveUp() { finish(.failure(.timedOut(host: host, port: port))) }

  private func resolve() {
    guard !host.isEmpty, !host.utf8.contains(0) else {
      return loop.later { [self] in finish(.failure(.unresolved(host: host, .hostNotFound))) }
    }
    // The request is freed, and this object released, in the callback.
    let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let status = uv_getaddrinfo(
      loop.raw, request,
      { request, status, found in
        guard let request, let data = request.pointee.data else { return }
        request.deallocate()
        let connector = Unmanaged<TCPConnector>.fromOpaque(data).takeRetainedValue()
        connector.loop.entered { connector.didResolve(status, found) }
        uv_freeaddrinfo(found)
      }, host, String(port), &hints)
    if status < 0 {
      request.deallocate()
      Unmanaged.passUnretained(self).release()
      loop.later { [self] in finish(.failure(.unresolved(host: host, UVError(rawValue: status)))) }
    }
  }

  private func didResolve(_ status: Int32, _ found: UnsafeMutablePointer<addrinfo>?) {
    guard done != nil else { return }
    guard status == 0 else { return finish(.failure(.unresolved(host: host, UVError(rawValue: status)))) }
    var entry = found
    while let info = entry?.pointee {
      let byteCount = Int(info.ai_addrlen)
      if let address = info.ai_addr, byteCount <= MemoryLayout<sockaddr_storage>.size {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
          $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: byteCount))
        }
        addresses.append(storage)
      }
      entry = info.ai_next
    }
    tryNextAddress(after: .hostNotFound)
  }

  private func tryNextAddress(after error: UVError) {
    guard done != nil else { return }
    guard !addresses.isEmpty else {
      return loop.later { [self] in finish(.failure(.unreachable(host: host, port: port, error))) }
    }
    let address = addresses.removeFirst()
    do {
      let stream = try TCPStream(on: loop)
      self.stream = stream
      try connect(stream, to: address)
    } catch {
      didConnect(error)
    }
  }

  private func connect(_ stream: TCPStream, to address: sockaddr_storage) throws(UVError) {
    // The callback frees the request and releases this object. libuv calls it even if the stream is closed.
    let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let status = address.withSockaddr { address in
      uv_tcp_connect(request, stream.raw(uv_tcp_t.self), address) { request, status in
        guard let request, let data = request.pointee.data else { return }
        request.deallocate()
        let connector = Unmanaged<TCPConnector>.fromOpaque(data).takeRetainedValue()
        connector.loop.entered { connector.didConnect(status == 0 ? nil : UVError(rawValue: status)) }
      }
    }
    if status < 0 {
      request.deallocate()
      Unmanaged.passUnretained(self).release()
      throw UVError(rawValue: status)
    }
  }

  private func didConnect(_ error: UVError?) {
    guard done != nil, let stream else { return }
    if let error {
      self.stream = nil
      stream.close(error)
      tryNextAddress(after: error)
    } else {
      stream.sendSmallWritesAtOnce()
      finish(.success(stream))
    }
  }

  private func finish(_ result: Result<TCPStream, ConnectError>) {
    guard let done else { return }
    self.done = nil
    deadline?.close()
    deadline = nil
    if case .failure = result { stream?.close(.cancelled) }
    stream = nil
    done(result)
  }
}

extension TCPStream {
  public static let defaultConnectTimeout: Duration = .seconds(10)

  /// Connects to a numeric address or a name, whose addresses are tried in turn.
  ///
  /// - Parameter done: called once, never inside this call
  /// - Returns: the attempt, for cancelling it; it need not be retained
  @discardableResult
  public static func connect(
    on loop: Loop, host: String, port: UInt16, timeout: Duration = defaultConnectTimeout,
    done: @escaping (Result<TCPStream, ConnectError>) -> Void
  ) -> TCPConnector {
    loop.preconditionOnLoop()
    let connector = TCPConnector(on: loop, host: host, port: port, done: done)
    connector.start(timeout: timeout)
    return connector
  }
}
