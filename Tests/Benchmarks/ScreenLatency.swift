import ArgumentParser
import Foundation
import NotesHarness

/// From a key in one person's terminal until its letter stands on the other person's screen, in real editors. The terminals are
/// Python's, and so is the program.
struct ScreenLatency: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "screen", abstract: "Keystroke to the other person's screen, in real editors in real terminals.",
    discussion: "Options are those of Tests/Benchmarks/screen_bench.py. Needs pyte, which `make screen-bench` installs."
  )

  @Argument(parsing: .allUnrecognized, help: "Options of screen_bench.py.")
  var options: [String] = []

  func run() throws {
    guard let program = NotesBinary.path else {
      throw ValidationError("notes-lsp is not built, and NOTES_LSP_BINARY is not set")
    }
    let root = NotesBinary.packageRoot, bench = Process()
    bench.executableURL = URL(fileURLWithPath: root + "/.build-bench-venv/bin/python")
    bench.arguments = [root + "/Tests/Benchmarks/screen_bench.py", program] + options
    try bench.run()
    bench.waitUntilExit()
    throw ExitCode(bench.terminationStatus)
  }
}
