import AutomergeRepo
import Logging
import UV

/// The two connections of a store.
@AutomergeRepo
final class PostgresClient: Sendable {
  private let reader: PostgresReader
  private let writer: PostgresWriter

  init(
    _ url: PostgresURL, _ processId: String, loop: Loop, clock: any RepoClock, random: RandomSource, losses: LossCount,
    log: Logger
  ) {
    func link(_ name: String) -> PostgresLink {
      let opening = PostgresOpening(url: url, applicationName: name)
      return PostgresLink(opening, loop: loop, clock: clock, random: random, log: log)
    }
    let name = "notes-lsp writer \(processId)"
    reader = PostgresReader(link("notes-lsp reader \(processId)"), clock: clock)
    writer = PostgresWriter(
      link(name), id: processId, applicationName: name, clock: clock, losses: losses, log: log)
    reader.start()
    writer.start()
  }

  func stop() {
    reader.stop()
    writer.stop()
  }

  func read(_ statement: SQLStatement) async throws(StorageError) -> SQLResult {
    let result = await withCheckedContinuation { continuation in
      reader.read(statement) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  func commit(_ steps: [WriteStep]) async throws(StorageError) {
    let error = await withCheckedContinuation { continuation in
      writer.commit(steps) { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }
}
