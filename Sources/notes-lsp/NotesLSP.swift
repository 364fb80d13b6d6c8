import ArgumentParser
import Foundation
import NotesServer

/// `notes-lsp`: without a subcommand it serves the editor that started it.
@main
struct NotesLSP: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes-lsp",
    abstract: "Multiplayer for the notes you keep in Vim and Emacs.",
    discussion: """
      Your editor starts notes-lsp by itself and talks to it on standard input and output. The commands below work on the \
      same notes from a shell, even while editors are running. A NOTE is an id or a title.
      """,
    version: ProgramVersion.description,
    groupedSubcommands: [
      CommandGroup(
        name: "Note",
        subcommands: [
          List.self, Find.self, Show.self, New.self, Rename.self, Remove.self, Undelete.self, Purge.self, History.self,
          Diff.self, Export.self, Import.self, Texts.self, Open.self, Merge.self,
        ]),
      CommandGroup(
        name: "Sharing",
        subcommands: [
          Share.self, Join.self, Invite.self, Answer.self, Unshare.self, RemovePerson.self, Peers.self, Name.self,
          Status.self,
        ]),
      CommandGroup(name: "Server", subcommands: [Serve.self, Connect.self, Disconnect.self]),
      CommandGroup(name: "Store", subcommands: [Doctor.self, Fsck.self, Backup.self]),
      CommandGroup(name: "Automerge file", subcommands: [Dump.self, Validate.self, JoinFiles.self]),
      CommandGroup(name: "Editor", subcommands: [Edit.self]),
    ],
    defaultSubcommand: Edit.self)

  /// Tries `edit` first when no subcommand is named: an editor is waiting, and trying all subcommands takes a while.
  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    if arguments.first?.hasPrefix("-") ?? true, let edit = try? Edit.parse(arguments) { return edit }
    let ordered = CommandLineOrder.verbFirst(arguments)
    let commands = configuration.subcommands.map { $0._commandName } + ["help"]
    if let first = ordered.first, let unknown = UnknownCommand(first, commands: commands) { throw unknown }
    return try parseAsRoot(ordered)
  }

  /// Exit codes: 0, 1 for what failed (one line on standard error), 2 for a wrong command line.
  static func main() async {
    Output.occupyStandardDescriptors()
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard !arguments.isEmpty || !Prompt.isPossible || !Output.isTerminal else { return introduce() }
    do {
      var command = try parsed(arguments)
      // These two take the options of their log themselves.
      if !(command is Edit || command is Serve) { CommandLog.bootstrap() }
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as Failure {
      Output.note("notes-lsp: \(failure.message)")
      exit(withError: ExitCode(1))
    } catch let unknown as UnknownCommand {
      Output.note("notes-lsp: \(unknown.message)")
      exit(withError: ExitCode(2))
    } catch {
      let code = exitCode(for: error)
      let message = fullMessage(for: error)
      switch code {
      case .success:
        if !message.isEmpty { Output.print(line: message) }
        exit(withError: ExitCode.success)
      case .validationFailure:
        Output.writeError(message + "\n")
        exit(withError: ExitCode(2))
      default:
        if !message.isEmpty { Output.writeError(message + "\n") }
        exit(withError: ExitCode(code.rawValue))
      }
    }
  }

  /// Printed when the user types the bare command.
  private static func introduce() {
    Output.print(
      line: """
        notes-lsp \(Service.version): multiplayer for the notes you keep in Vim and Emacs.

        Your editor starts this program by itself. To make a note and share it:
          in Vim                    :NotesNew Shopping, then :NotesShare
          in Emacs                  M-x notes-new, then M-x notes-share

        In a shell:
          notes-lsp list            your notes
          notes-lsp show NOTE       the text of one
          notes-lsp join TICKET     join a note that you have a ticket for
          notes-lsp doctor          what works on this machine, and what to do if not
          notes-lsp --help          everything else
        """)
  }
}

/// What went wrong and what to do about it, in one line.
struct Failure: Error {
  var message: String
}
