import ArgumentParser
import Automerge

/// `notes-lsp join-files A B -o C`: merges several copies of a document into one.
struct JoinFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join-files", abstract: "Merge Automerge files into one.",
    discussion: "The result contains all changes of all copies of the document.")

  @Argument(help: "The files to merge.", completion: .file()) var files: [String]
  @Option(name: .shortAndLong, help: "The merged file to write.", completion: .file()) var output: String
  @Flag(help: "Replace the output file if it exists.") var force = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard files.count >= 2 else { throw ValidationError("Name at least two files to merge.") }
  }

  func run() throws {
    let documents = try files.map(DocumentFile.load)
    let merged = documents[0]
    for other in documents.dropFirst() { try merged.merge(other: other) }
    try DocumentFile.write(merged.save(), to: output, replacing: force)
    let changes = merged.getHistory().count
    guard json else {
      Output.print(fields: "\(output): \(counted(changes, "change"))")
      return
    }
    Output.print(
      line: DumpedJSON.object([
        ("file", .string(output)), ("heads", .array(merged.headNames.map { .string($0) })),
        ("changes", .number(changes)),
      ]).text(indented: true))
  }
}
