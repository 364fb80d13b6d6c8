import ArgumentParser
import AutomergeRepo
import Foundation
import Logging
import UV

/// `notes-lsp serve`: a service without an editor, always on.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a service without an editor, for peers that are never online together.",
    discussion: """
      Prints one line of JSON when it is ready. SIGTERM and SIGINT store everything and end it; SIGHUP reads the access \
      file again. Sources/Documentation/Serve.md describes the access file and how to run it under systemd.
      """)

  @Option(help: ArgumentHelp("The folder of the store (NOTES_HOME; else ~/.local/share/notes-lsp).", valueName: "dir"))
  var home: String?
  @Option(help: ArgumentHelp("The name that peers see (NOTES_NAME).", valueName: "name"))
  var name: String?
  @Option(
    help: ArgumentHelp(
      "Where notes-lsp peers connect; * is every address of this machine, port 0 any free one.", valueName: "host:port"))
  var listen = "*:0"
  @Option(help: ArgumentHelp("Answer GET /metrics here, for Prometheus.", valueName: "host:port"))
  var metrics: String?
  @Option(help: ArgumentHelp("Who may read, write and create which documents.", valueName: "file"))
  var access: String?
  @Option(help: "trace, debug, info, notice, warning, error or critical.") var logLevel = "notice"

  func run() throws {
    guard let level = Logger.Level(rawValue: logLevel) else {
      throw ValidationError("--log-level must be trace, debug, info, notice, warning, error or critical.")
    }
    _ = FileLog.bootstrap(path: nil, level: level)
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    let settings = try settings()
    let program = AutomergeRepo.assumeIsolated { ServerProgram(settings: settings, loop: loop) }
    AutomergeRepo.assumeIsolated { program.start() }
    loop.run()
    let outcome = AutomergeRepo.assumeIsolated { program.outcome }
    loop.closeHandles()
    try outcome.get()
  }

  private func settings() throws -> ServerProgram.Settings {
    var store = StoreOptions()
    (store.home, store.name) = (home, name)
    return ServerProgram.Settings(
      home: store.homeDirectory, name: store.givenName, login: store.loginName, listen: listen, metrics: metrics,
      accessPath: access)
  }
}
