import AutomergeRepo

/// Reads over a connection of its own, so that no read waits for a write to reach the disk. Several statements run at a
/// time.
@AutomergeRepo
final class PostgresReader {
  /// Larger than the number of documents that are opened at once.
  private static let maximumCount = 1 << 14
  private static let maximumUnderWay = 32

  private struct Read {
    let statement: SQLStatement
    let submitted: Duration
    let done: @AutomergeRepo (Result<SQLResult, StorageError>) -> Void
  }

  private let link: PostgresLink
  private let clock: any RepoClock
  /// The oldest first.
  private var waiting: [Read] = []
  private var underWayCount = 0
  /// The reads whose connection was lost, until they are put before all others.
  private var unanswered: [Read] = []
  private var expiry: (any ScheduledAction)?
  private var isStopped = false

  init(_ link: PostgresLink, clock: any RepoClock) {
    (self.link, self.clock) = (link, clock)
    link.onChange = { [weak self] in self?.linkChanged() }
  }

  func start() { link.start() }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    expiry?.cancel()
    link.stop()
    let left = unanswered + waiting
    (unanswered, waiting) = ([], [])
    for read in left { read.done(.failure(.unreachable("the store is closed"))) }
  }

  /// Calls back once, with the rows.
  func read(_ statement: SQLStatement, done: @escaping @AutomergeRepo (Result<SQLResult, StorageError>) -> Void) {
    guard !isStopped else { return done(.failure(.unreachable("the store is closed"))) }
    guard waiting.count < Self.maximumCount else { return done(.failure(.busy)) }
    waiting.append(Read(statement: statement, submitted: clock.now, done: done))
    if link.connection == nil { watchExpiry() } else { sendNext() }
  }

  private func linkChanged() {
    guard !isStopped else { return }
    waiting = unanswered + waiting
    unanswered = []
    if link.connection == nil { watchExpiry() } else { sendNext() }
  }

  private func sendNext() {
    while underWayCount < Self.maximumUnderWay, !waiting.isEmpty, let connection = link.connection, connection.isOpen {
      let read = waiting.removeFirst()
      underWayCount += 1
      connection.perform([read.statement]) { [weak self] result in self?.answered(read, result) }
    }
  }

  private func answered(_ read: Read, _ result: Result<[SQLResult], SQLFailure>) {
    underWayCount -= 1
    switch result {
    case .success(let results):
      link.succeeded()
      read.done(results.first.map { .success($0) } ?? .failure(.failed(operation: "read", code: 0)))
      sendNext()
    case .failure(.lost):
      if isStopped { read.done(.failure(.unreachable("the store is closed"))) } else { unanswered.append(read) }
    case .failure(let failure):
      read.done(.failure(failure.storageError))
      sendNext()
    }
  }

  /// Fails operations that have waited long enough for a database that is unreachable.
  private func watchExpiry() {
    expiry?.cancel()
    let now = clock.now
    func isDue(_ read: Read) -> Bool { link.expiry(submitted: read.submitted).map { $0 <= now } ?? false }
    let due = waiting.filter(isDue)
    waiting.removeAll(where: isDue)
    for read in due { read.done(.failure(link.problem ?? .unreachable("the server does not answer"))) }
    guard !isStopped, let next = waiting.compactMap({ link.expiry(submitted: $0.submitted) }).min() else { return }
    expiry = clock.schedule(after: max(.milliseconds(10), next - now)) { [weak self] in self?.watchExpiry() }
  }
}
