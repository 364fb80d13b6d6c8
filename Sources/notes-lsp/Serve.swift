import ArgumentParser
import AutomergeRepo
import Foundation
import Logging
import PostgresStorage
import UV
import WebSocketNetwork

/// `notes-lsp serve`: a service without an editor, always on.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a service without an editor, for peers that are never online together.",
    discussion: """
      Prints one line of JSON when it is ready. SIGTERM and SIGINT store everything and end it; SIGHUP reads the access \
      file again. Sources/Documentation/Serve.md describes the access file and how to run it under systemd.
      """)

  @Option(
    help: ArgumentHelp("The folder of the store (NOTES_HOME; else ~/.local/share/notes-lsp).", valueName: "dir"),
    completion: .directory)
  var home: String?
  @Option(help: ArgumentHelp("The name that peers see (NOTES_NAME).", valueName: "name"))
  var name: String?
  @Option(
    help: ArgumentHelp(
      "The address for notes-lsp peers; * is every address of this machine, port 0 the last used or a free one.",
      valueName: "host:port")
  )
  var listen = "*:0"
  @Option(
    help: ArgumentHelp(
      "The address for WebSocket peers that speak automerge-repo's protocol.", valueName: "host:port"))
  var websocket: String?
  @Option(
    help: ArgumentHelp("The WebSocket's certificate, with those above it, in PEM.", valueName: "file"),
    completion: .file())
  var certificate: String?
  @Option(help: ArgumentHelp("The certificate's private key, in PEM.", valueName: "file"), completion: .file())
  var key: String?
  @Option(help: ArgumentHelp("Answer GET /metrics here, for Prometheus.", valueName: "host:port"))
  var metrics: String?
  @Option(
    help: ArgumentHelp("The file that says who may read, write and create which documents.", valueName: "file"),
    completion: .file())
  var access: String?
  @Option(
    help: ArgumentHelp(
      "The store of the documents: a directory (default: --home), or postgres://user@host:port/database, which several "
        + "servers share.", valueName: "url"))
  var store: String?
  @Option(help: "trace, debug, info, notice, warning, error or critical.", completion: Completions.levels)
  var logLevel = "notice"

  func validate() throws {
    guard (certificate == nil) == (key == nil) else { throw ValidationError("Give --certificate and --key together.") }
    guard certificate == nil || websocket != nil else { throw ValidationError("--certificate is for --websocket.") }
  }

  func run() throws {
    guard let level = Logger.Level(rawValue: logLevel) else {
      throw ValidationError("--log-level must be trace, debug, info, notice, warning, error or critical.")
    }
    _ = FileLog.bootstrap(path: nil, level: level)
    Self.raiseFileLimit()
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
    let location: StoreLocation
    do {
      location = try StoreLocation(self.store ?? store.homeDirectory)
    } catch {
      throw Failure(message: "--store: \(error.description).")
    }
    var files: WebSocketCertificate?
    if let certificate, let key { files = WebSocketCertificate(certificateFile: certificate, keyFile: key) }
    return ServerProgram.Settings(
      home: store.homeDirectory, documents: location, name: store.givenName, login: store.loginName, listen: listen,
      websocket: websocket,
      certificate: files, metrics: metrics, accessPath: access)
  }

  /// Each connection takes a file descriptor. Usually the system allows 1,024 and lets a process ask for more.
  private static func raiseFileLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 1 << 16)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
