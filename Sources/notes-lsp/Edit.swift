import ArgumentParser
import AutomergeRepo
import Foundation
import Logging
import NotesServer
import UV

/// Serves one editor on standard input and output until the editor exits.
struct Edit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Serve an editor on standard input and output.",
    discussion: "Editors start this; it is what notes-lsp does without a command.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var network: NetworkOptions
  @OptionGroup var logging: LogOptions

  func run() throws {
    guard let level = Logger.Level(rawValue: logging.logLevel) else {
      throw ValidationError("--log-level must be trace, debug, info, notice, warning, error or critical.")
    }
    guard FileLog.bootstrap(path: logging.log, level: level) else {
      throw Failure(message: "The log file \(logging.log ?? "") cannot be opened.")
    }
    if Prompt.isPossible, Output.isTerminal {
      Output.note("Waiting for an editor on standard input; C-d ends it. notes-lsp --help lists the commands.")
    }
    let loop = try Loop()
    AutomergeRepo.install(executor: loop)
    let settings = Program.Settings(
      home: store.homeDirectory, notes: store.notesFolder, name: store.givenName, login: store.loginName,
      listen: network.listen,
      hasNetwork: !network.noNetwork, hasDiscovery: !network.noDiscovery, record: logging.record)
    let program = AutomergeRepo.assumeIsolated { Program(settings: settings, loop: loop) }
    AutomergeRepo.assumeIsolated { program.start() }
    loop.run()
    let exitCode = AutomergeRepo.assumeIsolated { program.exitCode }
    loop.closeHandles()
    throw ExitCode(exitCode)
  }
}
