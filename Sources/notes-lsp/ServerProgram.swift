import AutomergeRepo
import Foundation
import JSONRPC
import Logging
import NotesServer
import PeerNetwork
import PeerTransport
import PostgresStorage
import SQLiteStorage
import Store
import SyncServer
import UV
import WebSocketNetwork

/// The parts of a service without an editor: peers connect to the repo, the repo to the store, and monitoring programs
/// to the metrics.
@AutomergeRepo
final class ServerProgram {
  struct Settings: Sendable {
    /// The folder of the server's key, its locks, and what it knows of peers.
    var home: String
    var documents: StoreLocation
    /// The name that peers see, from an option.
    var name: String?
    var login: String
    var listen: String
    var websocket: String?
    /// If there is one, the WebSocket is encrypted.
    var certificate: WebSocketCertificate?
    var metrics: String?
    var accessPath: String?
  }

  /// How long storing may take at the end. The server does not wait longer for a database that does not answer.
  private static let maximumStoringTime: Duration = .seconds(4)

  private(set) var outcome: Result<Void, Failure> = .success(())
  private let settings: Settings
  private let loop: Loop
  private let clock: LoopClock
  private let log = Logger(label: "serve")
  private var signals: [SignalWatcher] = []
  private var parts: ServerParts?
  private var isEnding = false

  init(settings: Settings, loop: Loop) {
    (self.settings, self.loop) = (settings, loop)
    clock = LoopClock(loop)
  }

  /// Starts; everything else is driven by the loop.
  func start() {
    Task { @AutomergeRepo in
      do {
        try watchSignals()
        try await open()
      } catch let failure as Failure {
        fail(failure.message)
      } catch let error as StorageError {
        fail("The store at \(settings.storeName) cannot be used: \(error).")
      } catch {
        fail("notes-lsp serve cannot start: \(error)")
      }
    }
  }

  private func open() async throws {
    let file = try readAccess()
    let parts = try await ServerParts.open(settings, file: file, loop: loop, clock: clock)
    guard !isEnding else { return parts.stop() }
    self.parts = parts
    try await parts.listen()
    Output.print(json: parts.readyLine)
    fflush(nil)
  }

  private func fail(_ message: String) {
    outcome = .failure(Failure(message: message))
    parts?.stop()
    loop.stop()
  }

  // MARK: The access file

  private func readAccess() throws -> ServerAccess? {
    guard let path = settings.accessPath else { return nil }
    do {
      let access = try ServerAccess(path: path)
      if access.isExposed {
        log.warning("Everybody on this machine can read the tokens in \(path). Run: chmod o-r '\(path)'")
      }
      return access
    } catch {
      throw Failure(message: "The access file cannot be used: \(error).")
    }
  }

  private func readAccessAgain() {
    guard settings.accessPath != nil, let parts else { return }
    do {
      guard let file = try readAccess() else { return }
      parts.use(file)
      log.notice("The access file was read again: \(file.tokenCount) tokens, \(file.peers.count) peers.")
    } catch {
      log.error("\((error as? Failure)?.message ?? "\(error)") The old one stays in force.")
    }
  }

  // MARK: The end

  private func watchSignals() throws {
    for signal in [SIGTERM, SIGINT] {
      signals.append(try SignalWatcher(on: loop, signal: signal) { AutomergeRepo.assumeIsolated { self.end() } })
    }
    signals.append(
      try SignalWatcher(on: loop, signal: SIGHUP) { AutomergeRepo.assumeIsolated { self.readAccessAgain() } })
  }

  /// Stores everything and ends. A second call ends at once.
  private func end() {
    guard !isEnding else { return fail("Second signal: stopped at once; some changes may not be stored.") }
    isEnding = true
    guard let parts else { return loop.stop() }
    parts.stopListening()
    _ = clock.schedule(after: Self.maximumStoringTime) { [weak self] in
      self?.fail("Not everything could be stored within \(Self.maximumStoringTime.components.seconds) seconds.")
    }
    Task { @AutomergeRepo in
      do throws(StorageError) {
        try await parts.store()
        parts.stop()
        // The last messages to the peers are sent first.
        loop.later { [loop] in loop.stop() }
      } catch {
        fail("Not everything could be stored: \(error).")
      }
    }
  }
}

extension ServerProgram.Settings {
  /// The name for a log, without a password.
  var storeName: String {
    switch documents {
    case .directory(let path): path
    case .postgres(let url): url.description
    }
  }
}
