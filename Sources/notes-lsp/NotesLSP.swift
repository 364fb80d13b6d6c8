import ArgumentParser
import NotesServer

/// `notes-lsp`: without a subcommand it serves the editor that started it.
@main
struct NotesLSP: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes-lsp",
    abstract: "Multiplayer for the notes you keep in Vim and Emacs.",
    discussion: "Without a subcommand it speaks the editor protocol on standard input and output.",
    version: "notes-lsp \(Service.version)",
    subcommands: [Edit.self, List.self, Show.self],
    defaultSubcommand: Edit.self)
}
