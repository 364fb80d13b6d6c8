import ArgumentParser
import Automerge
import Foundation
import NotesServer

/// `notes-lsp join-files A B -o C`: merges several copies of a document into one.
struct JoinFiles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join-files", abstract: "Merge Automerge files into one.",
    discussion:
      "The result contains all changes of all copies of the document. A .meetingnotes file keeps the document's id.")

  @Argument(help: "The files to merge.", completion: .file()) var files: [String]
  @Option(name: .shortAndLong, help: "The merged file to write.", completion: .file()) var output: String
  @Flag(help: "Replace the output file if it exists.") var force = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard files.count >= 2 else { throw ValidationError("Name at least two files to merge.") }
  }

  func run() throws {
    let copies = try files.map(Copy.init)
    let merged = copies[0].document
    for other in copies.dropFirst() {
      guard merged.isCopy(other.document) else {
        throw Failure(message: "\(other.path) is not a copy of the document in \(files[0]); nothing was merged.")
      }
      do { try merged.merge(other: other.document) } catch {
        throw Failure(message: "\(other.path) cannot be merged: \(error.localizedDescription)")
      }
    }
    try DocumentFile.write(try contained(merged.save(), of: copies), to: output, replacing: force)
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

  /// One of the files.
  private struct Copy {
    let path: String
    let document: Document
    /// The file itself, if it names the document.
    let container: MeetingNotesFile?

    init(_ path: String) throws {
      self.path = path
      document = try DocumentFile.load(path)
      container = MeetingNotesFile(Array(try DocumentFile.read(path)))
    }
  }

  /// The merged document as the output file contains it.
  private func contained(_ data: Data, of copies: [Copy]) throws -> Data {
    let named = copies.filter { $0.container != nil }
    if let other = named.first(where: { $0.container?.id != named[0].container?.id }) {
      throw Failure(message: "\(named[0].path) and \(other.path) have different ids; nothing was merged.")
    }
    guard (output as NSString).pathExtension.lowercased() == "meetingnotes" else { return data }
    guard var container = named.first?.container else {
      throw Failure(message: "No file names the document's id, which .meetingnotes needs; let -o end in .automerge.")
    }
    container.data = data
    return Data(container.encoded)
  }
}
