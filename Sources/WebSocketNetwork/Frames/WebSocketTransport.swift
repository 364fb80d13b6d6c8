import AutomergeRepo
import PeerTransport
import UV

/// A WebSocket over a channel: the HTTP upgrade, and then one binary message for each message of the link.
///
///     upgrading ──the other end's head──► carrying ──closed by either──► ended
///         └───────────────refused──────────────────────────────────────────▲
@AutomergeRepo
final class WebSocketTransport: Transport {
  typealias Authorization = @AutomergeRepo (WebSocketRequest) -> WebSocketAdmission

  enum Role {
    case caller(ClientUpgrade)
    /// - Parameter host: the caller's host
    case server(host: String, authorize: Authorization)
  }

  private enum State {
    /// The part of the other end's head received so far.
    case upgrading([UInt8])
    case carrying(WebSocketCodec)
    case ended
  }

  /// How many bytes may answer pings while the other end reads nothing.
  private static let maximumPongByteCount = 64 << 10

  private let channel: any ByteChannel
  private let role: Role
  /// Called when the first text message has been skipped.
  private let onText: @AutomergeRepo () -> Void
  private var random: RandomSource
  private var state = State.upgrading([])
  private var report: (@AutomergeRepo (TransportEvent) -> Void)?
  private var failure: LinkError?
  private var limit = (byteCount: Frame.maximumByteCountBeforeHandshake, skipsLonger: false)
  /// The number of bytes that answered pings when nothing was waiting to be sent.
  private var pongByteCountAtRest = 0
  private var hasReportedText = false

  init(
    _ channel: any ByteChannel, as role: Role, random: RandomSource, onText: @escaping @AutomergeRepo () -> Void = {}
  ) {
    (self.channel, self.role, self.random, self.onText) = (channel, role, random, onText)
  }

  func open(_ report: @escaping @AutomergeRepo (TransportEvent) -> Void) {
    self.report = report
    // The channel holds this callback, and so keeps the transport alive, until it is closed.
    channel.open { event in
      switch event {
      case .ready: if case .caller(let upgrade) = self.role { self.write(upgrade.request) }
      case .worked(let start): report(.worked(since: start))
      case .received(let bytes): self.received(bytes)
      case .drained: report(.drained)
      case .closed(let error):
        (self.state, self.report) = (.ended, nil)
        report(.closed(self.failure ?? error))
      }
    }
  }

  // MARK: The upgrade

  private func received(_ bytes: UnsafeRawBufferPointer) {
    let start = MonotonicTime.now
    switch state {
    case .upgrading(let before):
      let head = before + Array(bytes)
      state = .upgrading(head)
      upgrade(head)
      report?(.worked(since: start))
    case .carrying(let codec):
      take(bytes, codec, since: start)
    case .ended: break
    }
  }

  private func upgrade(_ bytes: [UInt8]) {
    do throws(HTTPError) {
      guard let (head, byteCount) = try HTTPHead.read(bytes) else { return }
      switch role {
      case .caller(let upgrade):
        if let problem = upgrade.problem(with: head) { return end(.lost(reason: problem)) }
        carry(.address(upgrade.url.description), bytes.dropFirst(byteCount))
      case .server(let host, let authorize):
        let answer = ServerUpgrade.answer(head, from: host) { request in
          AutomergeRepo.assumeIsolated { authorize(request) }
        }
        perform(answer, bytes.dropFirst(byteCount))
      }
    } catch {
      switch role {
      case .caller: end(.lost(reason: "the server does not speak HTTP"))
      case .server: perform(ServerUpgrade.answer(to: error), [])
      }
    }
  }

  private func perform(_ answer: ServerUpgrade.Answer, _ rest: ArraySlice<UInt8>) {
    switch answer {
    case .upgrade(let response, let proof):
      write(response)
      carry(proof, rest)
    case .refusal(let response, let status):
      write(response)
      end(.lost(reason: "refused with HTTP status \(status)"))
    }
  }

  private func carry(_ proof: PeerProof, _ rest: ArraySlice<UInt8>) {
    let codec: WebSocketCodec
    do {
      let isCaller = if case .caller = role { true } else { false }
      codec = try WebSocketCodec(
        isCaller ? .client : .server, maximumByteCount: limit.byteCount,
        absoluteMaximumByteCount: Frame.maximumByteCount
      ) { [weak self] in AutomergeRepo.assumeIsolated { self?.random.bytes(4) ?? [0, 0, 0, 0] } }
    } catch {
      return end(.lost(reason: "\(error)"))
    }
    codec.assembly.skipsTooLong = limit.skipsLonger
    state = .carrying(codec)
    report?(.proven(proof))
    guard !rest.isEmpty else { return }
    // A copy, because the bytes are used after this function has returned to the link in between.
    Array(rest).withUnsafeBytes { take($0, codec, since: MonotonicTime.now) }
  }

  // MARK: Receiving

  private func take(_ bytes: UnsafeRawBufferPointer, _ codec: WebSocketCodec, since start: Duration) {
    var problem: LinkError?
    do throws(WebSocketError) {
      try codec.receive(bytes)
    } catch {
      problem = .lost(reason: Self.reason(error))
    }
    flush(codec)
    if codec.assembly.textCount > 0, !hasReportedText {
      hasReportedText = true
      onText()
    }
    report?(.worked(since: start))
    report?(.received)
    if let problem {
      end(problem)
    } else if codec.isClosed {
      end(nil)
    } else if channel.unsentByteCount == 0 {
      pongByteCountAtRest = codec.pongByteCount
    } else if codec.pongByteCount - pongByteCountAtRest > Self.maximumPongByteCount {
      end(.lost(reason: "it does not read what it is sent"))
    }
  }

  private static func reason(_ error: WebSocketError) -> String {
    switch error {
    case .broken(let status): "it broke the WebSocket protocol (status \(status))"
    case .failed(let code): "WebSocket failed (wslay's code \(code))"
    }
  }

  func nextMessage() throws(FrameError) -> [UInt8]? {
    if case .carrying(let codec) = state { codec.assembly.next() } else { nil }
  }

  func limitMessages(to maximumByteCount: Int, skipsLonger: Bool) {
    limit = (maximumByteCount, skipsLonger)
    guard case .carrying(let codec) = state else { return }
    (codec.assembly.maximumByteCount, codec.assembly.skipsTooLong) = (maximumByteCount, skipsLonger)
  }

  var unfinishedByteCount: Int {
    switch state {
    case .upgrading(let head): head.count
    case .carrying(let codec): codec.assembly.unfinishedByteCount
    case .ended: 0
    }
  }

  func resumeReading() { channel.resumeReading() }
  func pauseReading() { channel.pauseReading() }

  // MARK: Sending

  func send(_ message: [UInt8]) throws(LinkError) {
    guard case .carrying(let codec) = state else { throw .lost(reason: "the connection is closed") }
    do {
      try codec.send(message)
    } catch {
      throw .lost(reason: Self.reason(error))
    }
    try channel.write(codec.takeOutput())
  }

  func ping() -> Bool {
    guard case .carrying(let codec) = state else { return false }
    try? codec.ping()
    flush(codec)
    return true
  }

  private func flush(_ codec: WebSocketCodec) { write(codec.takeOutput()) }

  private func write(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, channel.isOpen else { return }
    // A write that fails closes the channel, which is reported then.
    try? channel.write(bytes)
  }

  // MARK: The end

  /// Ends the connection after sending what waits.
  private func end(_ error: LinkError?) {
    guard channel.isOpen else { return }
    failure = failure ?? error
    finish()
  }

  func finish() {
    if case .carrying(let codec) = state {
      try? codec.close()
      flush(codec)
    }
    state = .ended
    channel.finish()
  }

  func close() { channel.close() }

  var isOpen: Bool { channel.isOpen }
  var unsentByteCount: Int { channel.unsentByteCount }
  var delivery: Delivery? { channel.delivery }
  var localHost: String? { channel.localHost }
}
