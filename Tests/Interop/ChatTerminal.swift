import Foundation
import NotesHarness
import TestSupport

/// A terminal that runs the chat of the tutorial.
final class ChatTerminal {
  /// The chat, beside the program that runs the tests; nil if it is not built.
  static let program: String? = NotesBinary.path.map { path in
    URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent("chat").path
  }.flatMap { FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil }

  private let child: ChildProcess

  init(_ arguments: [String]) throws {
    // A pipe is no terminal, and would get its lines at the end.
    child = try ChildProcess(["stdbuf", "-oL", Self.program ?? "chat"] + arguments)
  }

  func type(_ line: String) { child.write(Array("\(line)\n".utf8)) }

  /// The next line that it shows.
  func nextLine() throws -> String {
    try child.wait(for: "the next line", until: .now + Patience.hang) { $0.output.contains(10) }
    let line = child.output.prefix { $0 != 10 }
    child.output.removeFirst(line.count + 1)
    return String(decoding: line, as: UTF8.self)
  }

  /// The words after "chat NAME PASSCODE" in the line that a new room begins with.
  func invitation() throws -> [String] {
    try nextLine().split(separator: " ").dropFirst(5).map(String.init)
  }

  /// The end of the input, and of the chat.
  func close() throws -> ChildProcess.Exit {
    child.closeInput()
    return try child.waitForExit()
  }
}
