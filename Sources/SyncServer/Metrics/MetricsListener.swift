import AutomergeRepo
import UV

/// Answers `GET /metrics`, a few connections at a time.
@AutomergeRepo
public final class MetricsListener {
  /// A further connection closes the oldest.
  static let maximumConnections = 16
  /// The time limit for receiving a request, and then for sending its answer.
  static let patience: Duration = .seconds(5)

  private let loop: Loop
  private let page: @AutomergeRepo () -> String
  private var listener: TCPListener?
  private var streams: [TCPStream] = []

  /// Listens from now on.
  ///
  /// - Parameters:
  ///   - host: a numeric address
  ///   - port: 0 takes a free one, see `address`
  ///   - page: makes the page for each request
  public init(
    on loop: Loop, host: String, port: UInt16, page: @escaping @AutomergeRepo () -> String
  ) throws(UVError) {
    (self.loop, self.page) = (loop, page)
    listener = try TCPListener(on: loop, host: host, port: port, backlog: 16) { [weak self] stream in
      nonisolated(unsafe) let stream = stream
      AutomergeRepo.assumeIsolated {
        if let self { self.accept(stream) } else { stream.close() }
      }
    }
  }

  /// The address where it listens; nil once stopped.
  public var address: SocketAddress? { listener?.address }

  public func stop() {
    listener?.close()
    listener = nil
    for stream in streams { stream.close() }
  }

  private func accept(_ stream: TCPStream) {
    if streams.count >= Self.maximumConnections { streams.removeFirst().close() }
    streams.append(stream)
    var request = MetricsRequest()
    let deadline = try? loop.after(Self.patience) { stream.close() }
    stream.onClose = { [weak self, unowned stream] _ in
      deadline?.close()
      AutomergeRepo.assumeIsolated { self?.streams.removeAll { $0 === stream } }
    }
    stream.onRead = { [weak self, unowned stream] bytes in
      guard let answer = request.receive(bytes) else { return }
      AutomergeRepo.assumeIsolated { self?.send(answer, to: stream) }
    }
    stream.resumeReading()
  }

  private func send(_ answer: MetricsRequest.Answer, to stream: TCPStream) {
    // A write that fails closes the stream.
    try? stream.write(answer.response(page: page))
    stream.shutdownThenClose(within: Self.patience)
  }
}
