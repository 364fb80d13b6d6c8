import AutomergeRepo
import JSONRPC
import NotesServer

/// A note that was just joined: its beginning is here, and of a long one the rest is still to arrive.
@AutomergeRepo
struct Arrival {
  private static let interval: Duration = .milliseconds(200)
  /// How long nothing may arrive before the command goes on without the rest.
  private static let patience = 300
  private static let filePatience = 50

  let session: Session
  let id: DocumentId

  /// Returns when all of the note is here, or no more of it comes. Shows meanwhile how much there is.
  func wait() async throws {
    var progress: Progress?
    var (last, repetitions) = (-1, 0)
    while let (name, percent) = try await sender(), repetitions < Self.patience {
      if progress == nil { progress = Progress("Receiving from \(name)", total: 100, .percent) }
      progress?.reach(percent)
      (last, repetitions) = (percent, percent == last ? repetitions + 1 : 0)
      guard await session.pause(for: Self.interval) else { break }
    }
    progress?.end()
    // The process that has received the text also writes it to the file.
    for _ in 0..<Self.filePatience {
      guard try await !session.isFileCurrent(id), await session.pause(for: Self.interval) else { return }
    }
  }

  /// The name of the person whose changes arrive, and how much of them is here, in percent; nil if nothing is on its way.
  private func sender() async throws -> (name: String, percent: Int)? {
    let answer = try await session.performInService("notes/people", ["id": .string(id.description)])
    for person in answer?["people"]?.arrayValue ?? [] {
      guard let percent = person["receiving"]?.intValue else { continue }
      return (Output.field(person["name"]?.stringValue ?? "?", onTerminal: true), percent)
    }
    return nil
  }
}
