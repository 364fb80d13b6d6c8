import ArgumentParser
import AutomergeRepo
import Foundation
import JSONRPC
import NotesServer

// The subcommands for documents that other programs made, in which a person chooses the text to edit.

/// `notes-lsp open NOTE`: prints a note's file, also for a document that only a server or a peer has.
struct Open: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make sure that a note is on this machine and print the path of its file.",
    discussion: """
      Takes an automerge: URL, too, of any document; if it is not here, a running editor's service fetches it. --text \
      names the text to edit, or the URL does (automerge:ID/chapters/0/body). A file that ends in .automerge or .meetingnotes is \
      edited in place: services keep it equal to the note.
      """)

  @OptionGroup var store: StoreOptions
  @Argument(help: "The note's id, its title, an automerge: URL, or a document's file.", completion: .file()) var note:
    String
  @Option(help: "The text to edit, as .chapters.[0].body.") var text: String?
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let (note, text) = (note, text.map(JSONValue.string))
    let result = try StoreRequest.run(store) { session in
      if Self.isDocumentFile(note) {
        return try await session.perform("notes/open", .object(present: ["path": absolutePath(note), "text": text]))
      }
      guard let url = AutomergeURL(note) else {
        return try await session.perform(
          "notes/open", .object(present: ["id": try await session.id(of: note), "text": text]))
      }
      let params = JSONValue.object(present: ["url": .string(note), "text": text])
      do throws(ResponseError) {
        return try await session.perform("notes/open", params)
      } catch {
        guard error.isAboutAbsence else { throw error }
      }
      // The running service fetches the document.
      do throws(ResponseError) {
        let ticket = JSONValue.string("automerge:\(url.documentId)")
        _ = try await session.perform("notes/join", .object(present: ["ticket": ticket, "text": text]))
      } catch {
        // The URL may name the text.
        guard error.data?["kind"] == "chooseText", !url.path.isEmpty else { throw error }
      }
      return try await session.perform("notes/open", params)
    }
    if json { Output.print(json: result) } else { Output.print(fields: result["path"]?.stringValue ?? "") }
  }

  private static func isDocumentFile(_ name: String) -> Bool {
    [".automerge", ".meetingnotes"].contains { name.lowercased().hasSuffix($0) }
      && FileManager.default.fileExists(atPath: name)
  }
}

extension ResponseError {
  /// Whether the error says that the document is not here.
  fileprivate var isAboutAbsence: Bool {
    ["notFound", "unreachable", "timedOut"].contains(data?["kind"]?.stringValue ?? "")
  }
}

/// `notes-lsp texts FILE`: the texts of a document.
struct Texts: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the texts in an Automerge document, to choose one for import or open.",
    discussion: "Each line is a path, and the text's first line. Choosing a plain string turns it into a text.")

  @OptionGroup var store: StoreOptions
  @Argument(help: "A file, or an automerge: URL of a document that is here.", completion: .file()) var document: String
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let document = document
    let result = try StoreRequest.run(store) { session in
      let id = AutomergeURL(document)?.documentId.description
      return try await session.perform(
        "notes/texts", id.map { ["id": .string($0)] } ?? ["path": absolutePath(document)])
    }
    guard !json else { return Output.print(json: result) }
    let texts = result["texts"]?.arrayValue ?? []
    if texts.isEmpty { Output.note("The document contains no text.") }
    for text in texts {
      Output.print(fields: text["text"]?.stringValue ?? "", text["start"]?.stringValue ?? "")
    }
  }
}
