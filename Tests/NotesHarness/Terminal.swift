import Foundation
import TestSupport

/// A tmux server of its own with one window, in which one program runs as if a person had started it.
public final class Terminal {
  public static let columns = 100
  public static let rows = 30

  private let socket: String
  /// Held, because the socket must not disappear before the server.
  private let directory: TemporaryDirectory
  private var server: pid_t = 0
  /// The program in the window; it runs for a moment longer than its window exists.
  public let programProcessId: pid_t
  private var watchdog: ChildProcess?
  /// Shows the screen at each look.
  private let looks: ControlClient

  /// Starts the program; tmux and the program end with this object, or with this process however it ends.
  public init(in directory: TemporaryDirectory, name: String, command: [String], environment: [String: String]) throws {
    self.directory = directory
    socket = directory.file("\(name).tmux")
    let variables = ["TERM": "screen-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"]
      .merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }.sorted()
    // Set before there is a window, so that the output of a program that ends at once stays on the screen.
    let options = ["start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"]
    let session = [
      "new-session", "-d", "-P", "-F", "#{pid} #{pane_pid}", "-x", "\(Self.columns)", "-y", "\(Self.rows)",
    ]
    let start = ["-f", "/dev/null", "-u"] + options + session + ["--", "env"] + variables + command
    // An earlier server of this socket may still be about to end: then the command fails, or succeeds and does nothing.
    var (answer, ids): ([UInt8], [pid_t]) = ([], [])
    for attempt in 1...5 where ids.count != 2 {
      do { answer = try Self.tmux(socket, start) } catch { if attempt == 5 { throw error } }
      ids = String(decoding: answer, as: UTF8.self).split { $0.isWhitespace }.compactMap { pid_t($0) }
    }
    guard ids.count == 2 else {
      let details = String(decoding: answer, as: UTF8.self)
      throw ProcessError.ended(waitingFor: "tmux to name its processes", details: details)
    }
    (server, programProcessId) = (ids[0], ids[1])
    looks = try ControlClient(socket)
    // The watchdog's standard input ends when this process does, even if it is killed.
    watchdog = try ChildProcess(["sh", "-c", "cat >/dev/null; kill \(server)"])
    try tmux(["set-option", "-sg", "escape-time", "0"])
  }

  deinit { killServer() }

  /// Types text as a person would, character by character.
  public func type(_ text: String) throws {
    try tmux(["send-keys", "-l", "--", text])
  }

  /// Presses keys by their tmux names, such as `Escape`, `Enter`, `C-x`.
  public func press(_ keys: String...) throws {
    try tmux(["send-keys"] + keys)
  }

  /// What is on the screen now, one line a row.
  public func screen() throws -> String { try looks.answer(to: "capture-pane -p") }

  /// What is on the screen now with its colors, as escape sequences.
  public func styledScreen() throws -> String { try looks.answer(to: "capture-pane -p -e") }

  /// Resizes the window, as by dragging its corner.
  public func resize(columns: Int, rows: Int) throws {
    try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
  }

  /// Ends tmux, which hangs up on the program.
  public func killServer() {
    if server > 0 { kill(server, SIGTERM) }
    server = 0
  }

  @discardableResult
  private func tmux(_ arguments: [String]) throws -> [UInt8] { try Self.tmux(socket, arguments) }

  private static func tmux(_ socket: String, _ arguments: [String]) throws -> [UInt8] {
    let result = try ChildProcess.run(["tmux", "-S", socket] + arguments)
    guard result.exit == .code(0) else {
      throw ProcessError.ended(
        waitingFor: "tmux \(arguments.joined(separator: " "))",
        details: String(decoding: result.errorOutput, as: UTF8.self))
    }
    return result.output
  }
}
