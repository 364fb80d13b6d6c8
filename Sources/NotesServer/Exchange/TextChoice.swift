import Automerge
import AutomergeRepo
import JSONRPC

/// Decides which text of a document made elsewhere is the note. The document stores the choice, so that everyone edits
/// the same text.
@AutomergeRepo
struct TextChoice {
  /// How a person names a text.
  enum Name {
    /// `.chapters.[0].body`
    case path(String)
    /// The part that an `automerge:` URL names.
    case names([String])

    var shown: String {
      switch self {
      case .path(let path): path
      case .names(let names): names.joined(separator: "/")
      }
    }
  }

  let service: Service
  /// Nil if the person named no text.
  var name: Name?

  /// The text to choose in a document; nil if the person named none and the document's root names it.
  ///
  /// Throws `chooseText` if there are several.
  func place(in document: Document) async throws -> TextPlace? {
    if name == nil, document.isNoteOrMeeting { return nil }
    let list = await TextList(of: document)
    guard !list.places.isEmpty else { throw NotesError(.notANote, "The document contains no text.") }
    let found: TextPlace? =
      switch name {
      case .path(let path): list[path]
      case .names(let names): list[names]
      case nil: list.only
      }
    guard let found else { throw list.choice(insteadOf: name?.shown) }
    return found
  }

  /// Throws if the document is already a note with another text.
  func check(_ place: TextPlace, for handle: DocHandle) throws {
    guard service.notebook[handle.id]?.hasPlace ?? false, !isChosen(place, in: handle) else { return }
    throw NotesError(.conflict, "You already have this note, with another text of its document.")
  }

  private func isChosen(_ place: TextPlace, in handle: DocHandle) -> Bool {
    place.text != nil && NoteDocument(handle.document)?.content == place.text
  }

  /// Makes the text the note's. A string becomes a text first.
  func choose(_ place: TextPlace, in handle: DocHandle) throws {
    guard !isChosen(place, in: handle) else { return }
    try check(place, for: handle)
    try service.checkMayWrite(handle.id)
    try handle.change { try NoteDocument.choose(try place.makeText(in: $0), in: $0) }
  }

  /// Chooses the text that was named, or the only one.
  func settle(_ handle: DocHandle) async throws {
    if let place = try await place(in: handle.document) { try choose(place, in: handle) }
  }
}

extension Parameters {
  /// The text to edit that a request names.
  func textName() throws(ResponseError) -> TextChoice.Name? { try stringIfPresent("text").map { .path($0) } }
}
