import AutomergeRepo
import Foundation
import PeerTransport
import TestSupport
import UV
import WebSocketNetwork

/// Programs on the documents of one server, all in this process: each has its own connection, and those on one document share one
/// replica, so that the generator is no slower than what it measures.
@AutomergeRepo
final class LoadRun {
  /// How long connecting, and the last keystroke, may take.
  private static let patience: Duration = .seconds(120)
  /// So many connections are opened at a time.
  private static let connectingAtOnce = 64
  private static let tick: Duration = .milliseconds(10)

  private let clock: LoopClock
  private let rooms: [LoadRoom]
  private var clients: [LoadClient] = []
  private var random = SeededGenerator(seed: 17)
  private(set) var keystrokeCount = 0

  /// Connects all clients, and returns when each has its document.
  static func gather(
    connections: Int, documents: Int, at url: WebSocketURL, token: String, loop: Loop
  ) async throws -> LoadRun {
    // The executor may take over a moment after it was installed.
    while !loop.isOnLoop { await Task.yield() }
    let run = try LoadRun(documents: documents, loop: loop)
    for start in stride(from: 0, to: connections, by: connectingAtOnce) {
      for number in start..<min(connections, start + connectingAtOnce) {
        let room = run.rooms[number % documents]
        run.clients.append(LoadClient(number, in: room, at: url, token: token, loop: loop, clock: run.clock))
      }
      try await run.wait("\(run.clients.count) connections") { run.clients.allSatisfy(\.isInSync) }
    }
    return run
  }

  private init(documents: Int, loop: Loop) throws {
    clock = LoopClock(loop)
    var random = RandomSource()
    rooms = try (0..<documents).map { _ in try LoadRoom(id: DocumentId.random(using: &random)) }
  }

  /// Keystrokes of random clients, evenly spread over the time.
  func type(rate: Int, for duration: Duration) async throws {
    let (start, before) = (clock.now, keystrokeCount)
    while clock.now - start < duration {
      let due = Int((clock.now - start) / .seconds(1) * Double(rate))
      while keystrokeCount - before < due {
        keystrokeCount += 1
        try clients[Int.random(in: 0..<clients.count, using: &random)].type(at: clock.now)
      }
      _ = await clock.pause(for: Self.tick)
    }
  }

  /// Returns when every keystroke has arrived.
  func settle() async throws { try await wait("the last keystroke") { clients.allSatisfy(\.isInSync) } }

  /// How long each keystroke took to each other client on its document.
  var milliseconds: [Double] { clients.flatMap(\.milliseconds) }

  func forgetSamples() {
    keystrokeCount = 0
    for client in clients { client.milliseconds = [] }
  }

  func stop() { for client in clients { client.stop() } }

  private func wait(_ what: String, until condition: () -> Bool) async throws {
    let end = clock.now + Self.patience
    while !condition() {
      guard clock.now < end else { throw LoadError.timedOut(what, connected: clients.count(where: \.isInSync)) }
      _ = await clock.pause(for: Self.tick)
    }
  }
}

enum LoadError: Error {
  case timedOut(String, connected: Int)
}
