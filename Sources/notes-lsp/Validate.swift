import ArgumentParser
import Automerge
import Foundation

/// `notes-lsp validate FILE…`: checks whether files can be loaded completely, and reports what cannot be.
struct Validate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check Automerge files, also in .meetingnotes.",
    discussion: "Prints where a file is damaged, and which changes it read but rejected. Exit code 1 if there are any.")

  @Argument(help: "The files.", completion: .file()) var files: [String]
  @Flag(help: "Print JSON, one object for each file.") var json = false

  func validate() throws {
    guard !files.isEmpty else { throw ValidationError("Name a file.") }
  }

  func run() throws {
    let verdicts = try files.map(FileVerdict.init)
    for verdict in verdicts {
      Output.print(line: json ? Output.json(text: verdict.json.text(indented: false)) : Output.field(verdict.line))
    }
    let bad = verdicts.filter { !$0.isGood }
    let sentences = [
      sentence("Damaged, or not read in full", bad.filter { !$0.isForeign }),
      sentence("Not Automerge documents", bad.filter(\.isForeign)),
    ]
    guard bad.isEmpty else { throw Failure(message: sentences.compactMap(\.self).joined(separator: " ")) }
  }

  private func sentence(_ fault: String, _ verdicts: [FileVerdict]) -> String? {
    verdicts.isEmpty ? nil : "\(fault): \(verdicts.map(\.file).joined(separator: ", "))."
  }
}
