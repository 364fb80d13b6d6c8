import AutomergeRepo
import JSONRPC
import NotesServer

/// A note that was just joined. At first a long one has only its beginning here; the rest is still arriving.
@AutomergeRepo
struct Arrival {
  /// How often to ask in any case: the process that receives the note passes its changes on, but reports neither how
  /// much is missing nor that the sender has gone offline.
  private static let lookInterval: Duration = .seconds(1)
  /// How long nothing may arrive before the command continues without the rest.
  private static let patience: Duration = .seconds(60)
  /// How long the process that receives the note may take to store it and to write its file.
  private static let filePatience: Duration = .seconds(10)

  let session: Session
  let id: DocumentId

  /// Returns when the whole note is in its file, or nothing more arrives. Shows meanwhile how much is here.
  func wait() async throws {
    var progress: Progress?
    var (last, end) = (-1, ContinuousClock.now + Self.patience)
    try await session.result(lookingAgainAfter: Self.lookInterval, at: id) { () -> Void? in
      guard let people = try await people() else { return ContinuousClock.now < end ? nil : () }
      guard let (name, percent) = Self.sender(among: people) else { return () }
      if progress == nil { progress = Progress("Receiving from \(name)", total: 100, .percent) }
      progress?.reach(percent)
      if percent != last { (last, end) = (percent, .now + Self.patience) }
      return ContinuousClock.now < end ? nil : ()
    }
    progress?.end()
    end = .now + Self.filePatience
    try await session.result(lookingAgainAfter: Self.lookInterval, at: id) { () -> Void? in
      try await session.isFileCurrent(id) || ContinuousClock.now >= end ? () : nil
    }
  }

  /// The people of the note, as the process that receives it knows them; nil if that process is too busy to answer.
  private func people() async throws -> [JSONValue]? {
    let answer = try await session.performInService("notes/people", ["id": .string(id.description)])
    return answer?["people"]?.arrayValue ?? (session.isServiceRunning ? nil : [])
  }

  /// The name of the person whose changes are arriving, and how much of them is here, in percent; nil if there are
  /// none.
  private static func sender(among people: [JSONValue]) -> (name: String, percent: Int)? {
    for person in people {
      guard let percent = person["receiving"]?.intValue else { continue }
      return (Output.field(person["name"]?.stringValue ?? "?", onTerminal: true), percent)
    }
    return nil
  }
}
