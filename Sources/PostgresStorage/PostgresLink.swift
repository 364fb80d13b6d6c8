import AutomergeRepo
import Logging
import UV

/// Keeps one connection to the database open: opens it on a worker thread, and replaces it when it ends.
@AutomergeRepo
final class PostgresLink {
  /// Called when a connection is open, and when it has ended or could not be opened; `isUp` and `problem` say which.
  var onChange: (@AutomergeRepo () -> Void)?

  /// The open connection.
  private(set) var connection: PostgresConnection?
  /// Why there is no connection, and whether waiting may help; nil while connected, and before the first attempt has
  /// ended.
  private(set) var problem: StorageError?
  /// Since when the server has given no answer; nil while there is a connection.
  private(set) var downSince: Duration?

  /// When an operation that has waited since `submitted` is given up; nil while there is a connection.
  func expiry(submitted: Duration) -> Duration? {
    guard let downSince else { return nil }
    // The database is reachable, but refuses us.
    if let problem, !problem.isPassing { return submitted }
    return max(downSince + Self.patience, submitted + Self.shortPatience)
  }

  /// How long operations wait for a database that is unreachable, and the least that each of them waits. Source:
  /// Storage.md, "PostgreSQL".
  static let patience: Duration = .seconds(5)
  static let shortPatience: Duration = .seconds(1)

  private let opening: PostgresOpening
  private let loop: Loop
  private let clock: any RepoClock
  private var random: RandomSource
  private let log: Logger
  private var reconnection = Reconnection()
  private var silence = SilenceLimit()
  private var timer: (any ScheduledAction)?

  init(_ opening: PostgresOpening, loop: Loop, clock: any RepoClock, random: RandomSource, log: Logger) {
    (self.opening, self.loop, self.clock, self.random, self.log) = (opening, loop, clock, random, log)
    downSince = clock.now
  }

  func start() { tell(.started) }

  func stop() { tell(.stopped) }

  private func tell(_ event: Reconnection.Event) {
    for effect in reconnection.receive(event, using: &random) {
      switch effect {
      case .connect: connect()
      case .startTimer(let pause):
        timer = clock.schedule(after: pause) { [weak self] in self?.tell(.timerFired) }
      case .close:
        timer?.cancel()
        connection?.close()
        connection = nil
      }
    }
  }

  private func connect() {
    let opening = opening
    WorkQueue(on: loop).submit {
      Result { () throws(StorageError) in try opening.open() }
    } done: { [weak self] result in
      AutomergeRepo.assumeIsolated { self?.opened(result) }
    }
  }

  private func opened(_ result: Result<OpenedConnection, StorageError>) {
    do {
      let opened = try result.get()
      let connection = try PostgresConnection(opened, on: loop, clock: clock, maximumSilence: silence.limit)
      self.connection = connection
      connection.onLost = { [weak self] failure in self?.lost(failure) }
      connection.onAnswer = { [weak self] in self?.tell(.answered) }
      if problem != nil { log.notice("The database is reached again.") }
      (problem, downSince) = (nil, nil)
      tell(.connected)
    } catch {
      let reason = (error as? StorageError) ?? .unreachable("\(error)")
      if problem != reason { log.warning("The store: \(reason)") }
      problem = reason
      tell(.failed)
    }
    guard !reconnection.isStopped else { return }
    onChange?()
  }

  /// The server answered in time.
  func succeeded() { silence.succeeded() }

  private func lost(_ failure: SQLFailure) {
    connection = nil
    let reason = failure.storageError
    log.warning("The connection to the database has ended: \(failure)")
    problem = reason
    downSince = clock.now
    if failure == SilenceLimit.failure {
      downSince = clock.now - silence.limit
      silence.exceeded()
    }
    tell(.lost)
    onChange?()
  }
}

/// How long a server may be silent while an answer is due, before its connection counts as lost.
///
/// The limit grows, so that a server that is only slow is not sent the same statements over and over.
struct SilenceLimit {
  static let first: Duration = .seconds(5)
  static let maximum: Duration = .seconds(160)
  static let failure = SQLFailure.lost("the server does not answer")

  private(set) var limit = first

  mutating func exceeded() { limit = min(limit * 2, Self.maximum) }

  mutating func succeeded() { limit = Self.first }
}

extension StorageError {
  /// Whether the same operation may soon succeed without any repair.
  var isPassing: Bool {
    switch self {
    case .unreachable, .busy, .full: true
    case .notPermitted, .newerVersion, .foreign, .invalidKey, .damaged, .deleted, .failed: false
    }
  }
}
