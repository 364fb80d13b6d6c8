import Foundation
import JSONRPC
import TestSupport

/// The parts around an editor under test: its terminal, the control connection, the delaying proxy's records.
public final class EditorSession {
  public let user: NotesUser
  public let terminal: Terminal
  private let control: ControlListener
  private let recordPrefix: String
  private var nextId = 1
  private var growingAudits: [TrafficAudit] = []

  /// Makes the service's command line, with the proxy before it, for the editor's settings.
  public static func serviceCommand(
    user: NotesUser, recordPrefix: String, seed: UInt64, maximumDelay: Duration
  ) throws -> [String] {
    [
      "python3", NotesBinary.packageRoot + "/Tests/EndToEnd/delay_proxy.py", "--seed", "\(seed)",
      "--max-ms", "\(maximumDelay / .milliseconds(1))", "--record", recordPrefix, "--",
    ] + (try user.command(["--log", user.logPath]))
  }

  /// Starts the editor and waits until it has connected.
  public init(user: NotesUser, kind: String, recordPrefix: String, command: [String]) throws {
    self.user = user
    self.recordPrefix = recordPrefix
    control = try ControlListener()
    terminal = try Terminal(
      in: user.directory, name: kind, command: command,
      environment: [
        "NOTES_TEST_PORT": "\(control.port)", "HOME": user.directory.path, "NOTES_HOME": user.home,
        "NOTES_DIR": user.notes,
      ])
    do {
      try control.acceptConnection(until: .now + Patience.hang)
    } catch {
      throw ProcessError.timedOut(waitingFor: "\(kind) to connect", details: (try? terminal.screen()) ?? "no screen")
    }
  }

  /// Sends `["expr", code, id]` and returns the value of the answer that carries this id.
  public func evaluate(_ code: String, idSign: Int) throws -> JSONValue {
    let id = nextId * idSign
    nextId += 1
    try send(["expr", .string(code), JSONValue(id)])
    // Completion in a note of ten thousand lines takes Vim half a minute on a busy machine.
    let deadline = ContinuousClock.now + Patience.hang
    do {
      while true {
        let answer = try JSONValue(parsing: control.receiveLine(until: deadline))
        if answer[0]?.intValue == id { return answer[1] ?? .null }
      }
    } catch let error as ProcessError {
      throw ProcessError.timedOut(waitingFor: "the value of \(code)", details: "\(error)\n\(details)")
    }
  }

  public func send(_ message: JSONValue) throws { try control.send(message.encoded()) }

  /// Checks repeatedly until the condition holds.
  public func wait(
    for what: String, within duration: Duration = Patience.hang, _ condition: () throws -> Bool
  ) throws {
    guard try Polling.comesTrue(within: duration, condition) else {
      throw ProcessError.timedOut(waitingFor: what, details: details)
    }
  }

  /// The records of the services that this editor has started, oldest first, with their process ids.
  public var records: [(path: String, processId: pid_t)] {
    let folder = user.directory.path
    let prefix = (recordPrefix as NSString).lastPathComponent + "-"
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { $0.hasPrefix(prefix) && $0.hasSuffix(".traffic") }
    return names.sorted().map { name in
      (folder + "/" + name, pid_t(name.dropLast(8).split(separator: "-").last ?? "") ?? 0)
    }
  }

  /// The audits of the records so far, one for each service.
  public func audits() throws -> [TrafficAudit] {
    for record in records.dropFirst(growingAudits.count) { growingAudits.append(TrafficAudit(of: record.path)) }
    for index in growingAudits.indices { try growingAudits[index].readMore() }
    return growingAudits.map(\.settled)
  }

  /// Kills the service that is running now, which the proxy started.
  public func killService() {
    if let processId = records.last?.processId, processId > 0 { kill(processId, SIGKILL) }
  }

  /// Waits until the editor and all services it started have ended.
  public func waitForEnd(within duration: Duration = Patience.hang) throws {
    try wait(for: "the end of the services", within: duration) {
      !records.contains { Self.isRunning($0.processId) }
    }
  }

  /// Whether a process still runs; one that waits to be reaped does not.
  public static func isRunning(_ processId: pid_t) -> Bool {
    guard kill(processId, 0) == 0 else { return false }
    let status = try? String(contentsOfFile: "/proc/\(processId)/stat", encoding: .utf8)
    return !(status?.contains(") Z ") ?? false)
  }

  /// The screen, the last messages between editor and service, and the end of the service's log, for failures.
  public var details: String {
    let said = records.last.flatMap { FileManager.default.contents(atPath: $0.path) } ?? Data()
    return """
      screen:
      \((try? terminal.screen()) ?? "")
      said last (c: the editor, s: the service):
      \(String(decoding: said.suffix(4000), as: UTF8.self))
      log:
      \(user.log.suffix(3000))
      """
  }
}
