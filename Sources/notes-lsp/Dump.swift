import ArgumentParser
import Automerge

/// `notes-lsp dump FILE`: a whole document as JSON.
struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print an Automerge file as JSON, also one in .meetingnotes.",
    discussion: "Heads, values with types, ids, conflicts and marks, texts by path, and the changes with their bytes.")

  @Argument(help: "The file.", completion: .file()) var file: String
  @Flag(help: "Leave the changes out.") var noChanges = false
  @Flag(help: "Print everything on one line.") var compact = false
  @Flag(help: "Accepted for consistency; the output is always JSON.") var json = false

  func run() throws {
    let dump = try DocumentFile.load(file).dump(includingChanges: !noChanges)
    Output.print(line: Output.json(text: dump.text(indented: !compact)))
  }
}
