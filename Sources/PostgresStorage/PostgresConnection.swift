import AutomergeRepo
internal import CPostgres
import UV

/// An open connection in pipeline mode: statements are sent without waiting for the answers to earlier ones.
///
/// Never blocks. Runs on the loop, like everything in `AutomergeRepo`.
@AutomergeRepo
final class PostgresConnection {
  /// Statements that are sent and answered together. If one fails, the server skips the rest.
  struct Exchange {
    let statements: [SQLStatement]
    let done: @AutomergeRepo (Result<[SQLResult], SQLFailure>) -> Void
    var sentCount = 0
    var isSynchronized = false
    var results: [SQLResult] = []
    var failure: SQLFailure?
  }

  /// Called once, when the connection has ended by itself; no other callback follows.
  var onLost: (@AutomergeRepo (SQLFailure) -> Void)?
  /// Called at each sign of life.
  var onAnswer: (@AutomergeRepo () -> Void)?

  private let raw: OpaquePointer
  private let clock: any RepoClock
  /// How long the server may be silent while an answer is due.
  private let maximumSilence: Duration
  private var watcher: DescriptorWatcher?
  private var exchanges: [Exchange] = []
  /// The first exchange that is not completely sent.
  private var sending = 0
  private var hasUnsent = false
  private var lastAnswer: Duration
  private var silenceTimer: (any ScheduledAction)?

  init(
    _ opened: OpenedConnection, on loop: Loop, clock: any RepoClock, maximumSilence: Duration
  ) throws(UVError) {
    (raw, self.clock, self.maximumSilence) = (opened.raw, clock, maximumSilence)
    lastAnswer = clock.now
    do {
      let watcher = try DescriptorWatcher(on: loop, descriptor: PQsocket(raw))
      self.watcher = watcher
      watcher.onEvents = { [weak self] events, _ in
        AutomergeRepo.assumeIsolated { self?.ready(events) }
      }
      try watcher.watch(.readable)
    } catch {
      watcher?.close()
      PQfinish(raw)
      throw error
    }
  }

  /// Whether the connection is open.
  var isOpen: Bool { watcher != nil }

  /// Sends statements after those that were given earlier.
  ///
  /// - Parameter done: called once, with the result of each statement, or the first failure; inside this call if the
  ///   connection turns out to have ended
  func perform(
    _ statements: [SQLStatement], done: @escaping @AutomergeRepo (Result<[SQLResult], SQLFailure>) -> Void
  ) {
    guard isOpen else { return done(.failure(.lost("the connection is closed"))) }
    if exchanges.isEmpty { lastAnswer = clock.now }
    exchanges.append(Exchange(statements: statements, done: done))
    watchSilence()
    if !hasUnsent { send() }
  }

  /// Ends the connection without a report.
  func close() {
    onLost = nil
    end(.lost("the connection is closed"))
  }

  // MARK: Sending

  /// Sends as much as the socket accepts. libpq buffers little, because it is given no statement before the earlier
  /// ones are sent.
  private func send() {
    while !hasUnsent, sending < exchanges.count {
      let exchange = exchanges[sending]
      let isSent: Bool
      if exchange.sentCount < exchange.statements.count {
        isSent = exchange.statements[exchange.sentCount].send(on: raw)
        exchanges[sending].sentCount += 1
      } else {
        isSent = PQpipelineSync(raw) == 1
        exchanges[sending].isSynchronized = true
        sending += 1
      }
      guard isSent else { return lose() }
      // Small statements are sent together, followed by the synchronization.
      if sending < exchanges.count, exchanges[sending].nextIsSmall { continue }
      switch PQflush(raw) {
      case 0: break
      case 1: hasUnsent = true
      default: return lose()
      }
    }
    watch()
  }

  private func watch() {
    try? watcher?.watch(hasUnsent ? [.readable, .writable] : .readable)
  }

  private func ready(_ events: DescriptorWatcher.Events) {
    guard isOpen else { return }
    if hasUnsent {
      switch PQflush(raw) {
      case 0: hasUnsent = false
      case 1: break
      default: return lose()
      }
      // The server has received something.
      lastAnswer = clock.now
    }
    // A descriptor in error is readable, too: reading reports the error.
    if events != .writable {
      guard PQconsumeInput(raw) == 1 else { return lose() }
      lastAnswer = clock.now
      onAnswer?()
      receive()
    }
    if isOpen, !hasUnsent { send() }
  }

  // MARK: Receiving

  private func receive() {
    var emptyCount = 0
    while isOpen, !exchanges.isEmpty, PQisBusy(raw) == 0 {
      guard let next = PQgetResult(raw) else {
        // Each statement's results end with an empty one. A further empty one means that no statement is running.
        emptyCount += 1
        if emptyCount > 2 { return PQstatus(raw) == CONNECTION_OK ? () : lose() }
        continue
      }
      emptyCount = 0
      switch SQLOutcome(owning: next) {
      case .rows(let result): exchanges[0].results.append(result)
      case .skipped: break
      case .failed(.lost(let reason)): return lose(reason)
      case .failed(let failure): exchanges[0].failure = exchanges[0].failure ?? failure
      case .synchronized:
        guard exchanges[0].isSynchronized else { return lose("the server does not keep to its protocol") }
        let exchange = exchanges.removeFirst()
        sending -= 1
        exchange.done(exchange.failure.map { .failure($0) } ?? .success(exchange.results))
      }
    }
    if isOpen, PQstatus(raw) != CONNECTION_OK { lose() }
  }

  // MARK: Ending

  /// libpq reports a closed connection at the next use, and never reports a silent one.
  private func watchSilence() {
    guard silenceTimer == nil else { return }
    let pause = lastAnswer + maximumSilence - clock.now
    silenceTimer = clock.schedule(after: max(.milliseconds(1), pause)) { [weak self] in
      guard let self else { return }
      self.silenceTimer = nil
      guard self.isOpen, !self.exchanges.isEmpty else { return }
      if self.clock.now - self.lastAnswer >= self.maximumSilence { return self.end(SilenceLimit.failure) }
      self.watchSilence()
    }
  }

  private func lose(_ reason: String? = nil) {
    let message = PQerrorMessage(raw).map { SQLOutcome.firstLine(String(cString: $0)) } ?? ""
    end(.lost(reason ?? message))
  }

  private func end(_ failure: SQLFailure) {
    guard let watcher else { return }
    self.watcher = nil
    silenceTimer?.cancel()
    watcher.close()
    PQfinish(raw)
    let (open, report) = (exchanges, onLost)
    (exchanges, onLost, onAnswer) = ([], nil, nil)
    for exchange in open { exchange.done(.failure(failure)) }
    report?(failure)
  }
}

extension PostgresConnection.Exchange {
  /// Statements up to this size are collected before they are sent.
  private static let smallByteCount = 4096

  fileprivate var nextIsSmall: Bool {
    sentCount >= statements.count || statements[sentCount].byteCount <= Self.smallByteCount
  }
}

extension SQLStatement {
  /// Passes the statement to libpq, which copies it. False if the connection has ended.
  fileprivate func send(on raw: OpaquePointer) -> Bool {
    // One block for all values, each text followed by a zero.
    let wires = parameters.map(\.wire)
    let lengths = wires.map { Int32($0.count) }
    let block = UnsafeMutableRawPointer.allocate(byteCount: lengths.reduce(1) { $0 + Int($1) + 1 }, alignment: 1)
    defer { block.deallocate() }
    var values: [UnsafePointer<CChar>?] = []
    var next = block
    for bytes in wires {
      bytes.copyBytes(to: UnsafeMutableRawBufferPointer(start: next, count: bytes.count))
      values.append(UnsafePointer(next.assumingMemoryBound(to: CChar.self)))
      next += bytes.count
      next.storeBytes(of: 0, as: UInt8.self)
      next += 1
    }
    let formats = parameters.map { if case .bytes = $0 { Int32(1) } else { Int32(0) } }
    return PQsendQueryParams(raw, sql, Int32(parameters.count), nil, values, lengths, formats, 1) == 1
  }
}
