import ArgumentParser
import Foundation
import NotesServer

/// `notes-lsp`: without a subcommand it serves the editor that started it.
@main
struct NotesLSP: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes-lsp",
    abstract: "Multiplayer for the notes you keep in Vim and Emacs.",
    discussion: "Without a subcommand it speaks the editor protocol on standard input and output.",
    version: "notes-lsp \(Service.version)",
    subcommands: [
      Edit.self, List.self, Show.self, New.self, Rename.self, Remove.self, Export.self, Import.self, Merge.self,
      Share.self, Join.self, Peers.self, Invite.self, History.self, Diff.self,
      Doctor.self, Fsck.self, Backup.self, Dump.self, Validate.self, JoinFiles.self,
    ],
    defaultSubcommand: Edit.self)

  /// An editor waits for what no subcommand means, and to look through all of them takes a while.
  private static func parsed() throws -> any ParsableCommand {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first?.hasPrefix("-") ?? true, let edit = try? Edit.parse(arguments) { return edit }
    return try parseAsRoot()
  }

  /// Exit codes: 0, 1 for what failed (one line on standard error), 2 for a wrong command line.
  static func main() async {
    do {
      var command = try parsed()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as Failure {
      FileHandle.standardError.write(Data("notes-lsp: \(failure.message)\n".utf8))
      exit(withError: ExitCode(1))
    } catch {
      let code = exitCode(for: error)
      guard code == .validationFailure else { exit(withError: error) }
      FileHandle.standardError.write(Data((fullMessage(for: error) + "\n").utf8))
      exit(withError: ExitCode(2))
    }
  }
}

/// What went wrong and what to do, in one line.
struct Failure: Error {
  var message: String
}
