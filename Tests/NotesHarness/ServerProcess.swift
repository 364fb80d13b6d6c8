import Foundation
import JSONRPC
import TestSupport

/// A running `notes-lsp serve`. For use from one thread.
public final class ServerProcess {
  public let child: ChildProcess
  /// Its first line of output, once it is ready.
  public let ready: JSONValue
  private let home: String

  /// Starts a server and waits until it is ready.
  ///
  /// - Parameters:
  ///   - home: its store, which outlives it.
  ///   - options: the rest of the command line.
  public init(home: String, options: [String] = []) throws {
    self.home = home
    child = try ChildProcess(Self.command(home: home, options: options), input: .null)
    try child.wait(for: "the server to be ready", until: .now + Patience.hang) {
      $0.output.contains(UInt8(ascii: "\n"))
    }
    let line = child.output.prefix { $0 != UInt8(ascii: "\n") }
    child.output.removeFirst(line.count + 1)
    ready = try JSONValue(parsing: Array(line))
  }

  /// The command line of a server that listens on loopback only.
  public static func command(home: String, options: [String]) throws -> [String] {
    guard let binary = NotesBinary.path else {
      throw ProcessError.ended(waitingFor: "notes-lsp", details: "it is not built, and NOTES_LSP_BINARY is not set")
    }
    return [binary, "serve", "--home", home, "--listen", "127.0.0.1:0"] + options
  }

  public var peer: String { ready["peer"]?.stringValue ?? "" }
  public var listen: String { ready["listen"]?.stringValue ?? "" }
  public var websocket: String { ready["websocket"]?.stringValue ?? "" }

  /// What it has logged so far.
  public var log: String {
    child.collect()
    return String(decoding: child.errorOutput, as: UTF8.self)
  }

  public func signal(_ signal: Int32) { kill(child.processId, signal) }

  /// Waits until it has logged a text.
  public func waitForLog(_ text: String) throws {
    try child.wait(for: "\"\(text)\" in the log", until: .now + Patience.hang) { _ in self.log.contains(text) }
  }

  /// The figures that a monitoring program reads.
  public func metrics() throws -> [String: Double] {
    let url = ready["metrics"]?.stringValue ?? ""
    let result = try ChildProcess.run(["curl", "--silent", "--show-error", "--fail", url])
    guard result.exit == .code(0) else { throw ProcessError.ended(waitingFor: "metrics", details: "\(result)") }
    var values: [String: Double] = [:]
    for line in String(decoding: result.output, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
      let words = line.split(separator: " ")
      if words.count == 2 { values[String(words[0])] = Double(words[1]) }
    }
    return values
  }

  /// Ends it as its operator does.
  @discardableResult
  public func end() throws -> ChildProcess.Exit {
    signal(SIGTERM)
    return try child.waitForExit()
  }

  /// Runs a command on the server's store, and returns its output.
  public func run(_ arguments: [String]) throws -> (exit: ChildProcess.Exit, output: String) {
    let result = try ChildProcess.run([NotesBinary.path ?? ""] + arguments + ["--home", home])
    return (result.exit, String(decoding: result.output, as: UTF8.self))
  }
}
