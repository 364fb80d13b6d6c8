import Foundation
import JSONRPC
import TestSupport

/// One person's store and folder of notes, which outlive the processes that use them.
public final class NotesUser {
  public let name: String
  public let directory: TemporaryDirectory
  public let home: String
  public let notes: String

  public init(_ name: String) throws {
    self.name = name
    directory = try TemporaryDirectory()
    home = try directory.directory("home")
    notes = try directory.directory("notes")
  }

  /// The command line of the service for this person.
  public func command(_ extra: [String] = []) throws -> [String] {
    guard let binary = NotesBinary.path else {
      throw ProcessError.ended(waitingFor: "notes-lsp", details: "it is not built, and NOTES_LSP_BINARY is not set")
    }
    return [binary, "--home", home, "--notes", notes, "--name", name, "--listen", "127.0.0.1:0", "--no-discovery"]
      + extra
  }

  public var logPath: String { directory.file("service.log") }

  /// The recovered texts that are files now; a text that is still being written has another name until then.
  public var recoveredTexts: [String] {
    let folder = notes + "/.recovered"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let files = names.filter { !$0.hasSuffix("~") }
    return files.compactMap { try? String(contentsOfFile: folder + "/" + $0, encoding: .utf8) }
  }

  /// What the services of this person have logged so far.
  public var log: String { (try? String(contentsOfFile: logPath, encoding: .utf8)) ?? "" }

  /// Starts a service, and sends it nothing.
  public func start(input: ChildProcess.Input = .pipe, extra: [String] = []) throws -> NotesProcess {
    try NotesProcess(ChildProcess(command(["--log", logPath] + extra), input: input), of: self)
  }

  /// Starts a service with the default settings: all addresses, and discovery.
  ///
  /// - Parameters:
  ///   - prefix: a command that runs the rest of the line, in a network namespace for instance.
  ///   - options: more of the command line.
  public func startInTheOpen(prefix: [String] = [], options: [String] = []) throws -> NotesProcess {
    guard let binary = NotesBinary.path else {
      throw ProcessError.ended(waitingFor: "notes-lsp", details: "it is not built, and NOTES_LSP_BINARY is not set")
    }
    let command = prefix + [binary, "--home", home, "--notes", notes, "--name", name, "--log", logPath] + options
    let process = try NotesProcess(ChildProcess(command), of: self)
    try process.initialize(userName: name)
    return process
  }

  /// Starts a service and initializes it as a notes plugin would.
  public func startInitialized(encoding: PositionEncoding = .utf8) throws -> NotesProcess {
    let process = try start()
    try process.initialize(userName: name, encodings: [encoding])
    return process
  }

  /// Runs a subcommand on this store, and returns its output.
  public func run(_ arguments: [String]) throws -> (exit: ChildProcess.Exit, output: String) {
    guard let binary = NotesBinary.path else { return (.code(127), "") }
    let result = try ChildProcess.run([binary] + arguments + ["--home", home, "--notes", notes])
    return (result.exit, String(decoding: result.output, as: UTF8.self))
  }

  /// Removes the document of a note from the store, but not its record. No service may be using the store.
  public func forgetDocument(_ id: String) throws {
    let program = """
      import sqlite3, sys
      store = sqlite3.connect(sys.argv[1])
      store.execute("DELETE FROM item WHERE key LIKE ? || '%'", [sys.argv[2]])
      store.commit()
      """
    let result = try ChildProcess.run(["python3", "-c", program, home + "/notes.db", id])
    guard result.exit == .code(0) else {
      throw ProcessError.ended(waitingFor: "the store to forget \(id)", details: "\(result)")
    }
  }

  /// The stored text of a note, read by a process of its own.
  public func storedText(of id: String) throws -> String {
    let result = try run(["show", id])
    guard result.exit == .code(0) else {
      throw ProcessError.ended(waitingFor: "notes-lsp show \(id)", details: "\(result)")
    }
    return result.output
  }
}
