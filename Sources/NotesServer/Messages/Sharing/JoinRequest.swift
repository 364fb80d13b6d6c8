import AutomergeRepo
import Foundation
import JSONRPC

/// `notes/join`: gets a note that another person shares. Answered when its text is here and stored.
struct JoinRequest: NetworkRequest {
  static let method = "notes/join"

  enum Source {
    case ticket(String)
    /// A document that a connected peer shares already.
    case document(DocumentId)
  }

  let source: Source
  /// The text of a document made elsewhere that is to be the note.
  private let text: TextChoice.Name?

  init(_ params: Parameters) throws(ResponseError) {
    text = try params.textName()
    if let ticket = try params.stringIfPresent("ticket") {
      source = .ticket(ticket.trimmingCharacters(in: .whitespacesAndNewlines))
    } else {
      _ = try params.string("peer")
      source = .document(try params.documentId("id"))
    }
  }

  func perform(for editor: Editor) async throws -> NotePlace {
    let id: DocumentId
    switch source {
    case .ticket(let ticket):
      id = try await editor.service.receiving { try await editor.service.sharing.join(ticket: ticket) }
    case .document(let document): id = document
    }
    do {
      if let text {
        let choice = TextChoice(service: editor.service, name: text)
        try await choice.settle(try await editor.service.fetchArrival(id))
      }
      return try await NoteOpener(service: editor.service).placeOfArrival(id)
    } catch {
      if editor.service.repo.handle(of: id) == nil { await editor.service.sharing.gaveUp(id) }
      throw error
    }
  }
}
