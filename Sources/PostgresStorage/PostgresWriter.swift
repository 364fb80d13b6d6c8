import AutomergeRepo
import Foundation
import Logging
import Synchronization

/// Makes commits over its own connection, one transaction at a time; commits that arrive meanwhile form the next one.
///
///     down ──connection──► claiming ──claimed──► idle ──commits──► writing ──► idle
///      ▲                       │                   │                  │
///      └──────── lost ─────────┴───────────────────┴──────────────────┘
@AutomergeRepo
final class PostgresWriter {
  private enum State {
    case down
    case claiming
    case idle
    case writing
  }

  private let link: PostgresLink
  private let applicationName: String
  private let clock: any RepoClock
  private let losses: LossCount
  private let log: Logger
  private var state = State.down
  private var queue = CommitQueue()
  private var claim: WriterClaim
  /// The number of the last transaction that was begun, and of the last that is certainly stored.
  private var lastNumber: Int64 = 0
  private var storedNumber: Int64 = 0
  /// The commits of the transaction that is running, or whose connection was lost before the answer to COMMIT.
  private var current: [CommitQueue.Commit] = []
  private var expiry: (any ScheduledAction)?
  private var isStopped = false

  init(
    _ link: PostgresLink, id: String, applicationName: String, clock: any RepoClock, losses: LossCount, log: Logger
  ) {
    (self.link, self.applicationName, self.clock, self.losses, self.log) = (link, applicationName, clock, losses, log)
    claim = WriterClaim(id: id)
    link.onChange = { [weak self] in self?.linkChanged() }
  }

  func start() { link.start() }

  /// Ends the connection. Waiting commits fail.
  func stop() {
    guard !isStopped else { return }
    isStopped = true
    expiry?.cancel()
    let left = current + queue.take { _ in true }
    current = []
    for commit in left { commit.done(.unreachable("the store is closed")) }
    guard case .idle = state, let connection = link.connection else { return link.stop() }
    // The answer is not awaited: a row that stays is removed later.
    connection.perform([claim.leaving]) { [link] _ in link.stop() }
  }

  /// Calls back when all steps are stored, in one transaction, or have failed.
  func commit(_ steps: [WriteStep], done: @escaping @AutomergeRepo (StorageError?) -> Void) {
    guard !isStopped else { return done(.unreachable("the store is closed")) }
    let commit = CommitQueue.Commit(steps: steps, submitted: clock.now, done: done)
    guard queue.append(commit) else { return done(.busy) }
    if case .down = state { watchExpiry() }
    writeNext()
  }

  // MARK: The connection

  private func linkChanged() {
    guard !isStopped else { return }
    if link.connection == nil {
      state = .down
      watchExpiry()
    } else if case .down = state {
      claimRow()
    }
  }

  private func claimRow() {
    guard let connection = link.connection else { return }
    state = .claiming
    let statements = [claim.terminating(applicationName: applicationName), claim.raising, WriterClaim.removal]
    connection.perform(statements) { [weak self] result in self?.claimed(result) }
  }

  private func claimed(_ result: Result<[SQLResult], SQLFailure>) {
    guard !isStopped else { return }
    switch result {
    case .failure(.lost): return
    case .failure(let failure):
      log.error("The store cannot be written: \(failure)")
      refuse(failure.storageError)
    case .success(let results):
      guard results.count == 3, let epoch = results[1].integer(0, 0), let number = results[1].integer(0, 1) else {
        return refuse(.failed(operation: "claim", code: 0))
      }
      claim.epoch = epoch
      if number < storedNumber {
        log.error("The database is older than what was stored in it; all that is in memory is stored anew.")
        losses.add()
      }
      let unanswered = current
      current = []
      state = .idle
      if !unanswered.isEmpty {
        if number == lastNumber {
          storedNumber = lastNumber
          finish(unanswered, nil)
        } else {
          queue.putBack(unanswered, alone: false)
        }
      }
      // In any case, the next transaction's number is still unused.
      lastNumber = max(lastNumber, number)
      writeNext()
    }
  }

  /// Fails everything that waits, and tries again when there is something to write.
  private func refuse(_ error: StorageError) {
    let left = current + queue.take { _ in true }
    current = []
    state = .down
    finish(left, error)
  }

  // MARK: Transactions

  private func writeNext() {
    guard let connection = link.connection, !queue.isEmpty else { return }
    switch state {
    case .idle: break
    // A claim that was refused.
    case .down: return claimRow()
    case .claiming, .writing: return
    }
    state = .writing
    current = queue.takeBatch()
    lastNumber += 1
    let batch = WriteBatch(current.flatMap(\.steps), by: claim, number: lastNumber)
    let reading = batch.reading
    if reading.isEmpty {
      connection.perform(batch.beginning + batch.writing(over: [:])) { [weak self] in self?.wrote($0) }
    } else {
      connection.perform(batch.beginning + reading) { [weak self] in self?.read($0, for: batch) }
    }
  }

  /// The records that are merged have been read.
  private func read(_ result: Result<[SQLResult], SQLFailure>, for batch: WriteBatch) {
    guard !isStopped else { return }
    guard let connection = link.connection, case .success(let results) = result else { return wrote(result) }
    var stored: [String: Data] = [:]
    for (key, rows) in zip(batch.mergedKeys, results.dropFirst(batch.beginning.count)) {
      // A damaged record is replaced, as there is nothing to merge with.
      stored[key] = RecordRows.value(of: rows)
    }
    connection.perform(batch.writing(over: stored)) { [weak self] in self?.wrote($0) }
  }

  private func wrote(_ result: Result<[SQLResult], SQLFailure>) {
    guard !isStopped else { return }
    switch result {
    // The next connection shows whether it was committed.
    case .failure(.lost): state = .down
    case .failure(let failure): failed(failure)
    case .success(let results):
      // COMMIT of a transaction that has failed is answered by ROLLBACK.
      guard results.last?.commandTag == "COMMIT" else {
        return failed(.refused(state: "", message: "the server has not committed"))
      }
      storedNumber = lastNumber
      link.succeeded()
      state = .idle
      let stored = current
      current = []
      finish(stored, nil)
      writeNext()
    }
  }

  private func failed(_ failure: SQLFailure) {
    link.connection?.perform([SQLStatement("ROLLBACK")]) { _ in }
    var commits = current
    current = []
    for index in commits.indices { commits[index].attemptCount += 1 }
    state = .idle
    if failure.isFenced {
      // Our row was removed, or a later connection of ours has raised its epoch.
      queue.putBack(commits, alone: false)
      return claimRow()
    }
    if commits.count > 1 {
      queue.putBack(commits, alone: true)
    } else {
      let isGivenUp = !failure.isTransient || commits[0].attemptCount >= CommitQueue.maximumAttempts
      if isGivenUp { finish(commits, failure.storageError) } else { queue.putBack(commits, alone: true) }
    }
    writeNext()
  }

  private func finish(_ commits: [CommitQueue.Commit], _ error: StorageError?) {
    for commit in commits {
      if error == nil {
        for case .updateRecord(_, let data, _, let record) in commit.steps { record.isStored(data) }
      }
      commit.done(error)
    }
  }

  // MARK: Waiting for the database

  /// Fails operations that have waited long enough for a database that is unreachable.
  private func watchExpiry() {
    expiry?.cancel()
    let now = clock.now
    func isDue(_ commit: CommitQueue.Commit) -> Bool {
      link.expiry(submitted: commit.submitted).map { $0 <= now } ?? false
    }
    let due = current.filter(isDue) + queue.take(where: isDue)
    current.removeAll(where: isDue)
    finish(due, link.problem ?? .unreachable("the server does not answer"))
    guard case .down = state, !isStopped,
      let next = (current + queue.waiting).compactMap({ link.expiry(submitted: $0.submitted) }).min()
    else { return }
    expiry = clock.schedule(after: max(.milliseconds(10), next - now)) { [weak self] in self?.watchExpiry() }
  }
}

/// How many times stored data may have been lost; read on any thread.
final class LossCount: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .relaxed) }

  func add() { count.add(1, ordering: .relaxed) }
}
