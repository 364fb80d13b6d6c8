import Automerge
import AutomergeRepo

/// Takes over the title that another person gave to an open note, and tells this person of it.
@AutomergeRepo
struct TitleNews {
  let binding: BufferBinding

  /// - Parameters:
  ///   - edits: what has changed in the document's texts beside the note's own
  ///   - peer: the peer that brought the changes, not always their author
  func titleMayHaveChanged(by edits: [TextEdit], from peer: PeerId) {
    let (notebook, key) = (binding.service.notebook, binding.key)
    guard let title = binding.note.title, let former = notebook[key]?.title, title != former else { return }
    notebook.update(key) { $0.title = title }
    binding.updates.statusChanged()
    // An agenda's items have another line, and the first title of a note that arrives is no news.
    guard key.item == nil, !isFirst(title, edits) else { return }
    let editor = binding.editor
    let event = NoteNews.renamed(from: former, by: author(of: edits)).parameters(
      uri: binding.uri, id: key.document, title: title, peer: peer.owner, name: nil)
    editor.deliver(event)
  }

  private func isFirst(_ title: String, _ edits: [TextEdit]) -> Bool {
    edits.contains { $0.deleted.isEmpty && $0.inserted.elementsEqual(title.utf8) }
  }

  /// The author of the new title; nil if it has only lost letters.
  private func author(of edits: [TextEdit]) -> NoteNews.Author? {
    let (service, document) = (binding.service, binding.note.document)
    guard case .Object(let text, .Text)? = try? document.get(obj: .ROOT, key: "title"),
      let edit = edits.last, edit.object == text, !edit.inserted.isEmpty
    else { return nil }
    let bytes = UInt64(edit.utf8Offset)..<UInt64(edit.utf8Offset + edit.inserted.count)
    guard let span = try? document.blame(obj: text, in: bytes).last else { return nil }
    guard !service.author.isOwn(span.actor) else { return .oneself }
    let identity = service.author.identity
    let authors = NoteAuthors(of: binding.note, own: (identity.person, identity.name), isAlone: false) {
      [sharing = service.sharing] in sharing.metName(ofAuthor: $0)
    }
    let isVerified = binding.handle.vouching().covers(span.change, of: document)
    return .person(authors.name(of: span.actor, isVerified: isVerified))
  }
}
