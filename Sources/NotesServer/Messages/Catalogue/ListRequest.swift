import AutomergeRepo
import JSONRPC

/// `notes/list`: all notes, or those that contain all words of a query, newest first; with a `width`, as lines for a screen.
struct ListRequest: EditorRequest {
  static let method = "notes/list"

  let query: String
  /// Whether the deleted notes are listed, and no others.
  let isOfDeleted: Bool
  /// The width of the screen, if lines are wanted.
  let width: Int?
  /// Identifies what the client has of the list: the token of that answer; nil if it has nothing.
  let token: Int?
  /// The most lines that the client wants, if it has nothing.
  let count: Int?
  let order: NotesScreen.Order
  /// The path of a file that the client has read: it may be a note's that was moved there.
  let file: String?

  init(_ params: Parameters) throws(ResponseError) {
    width = try params.widthIfPresent()
    token = try params.nonNegativeIntIfPresent("since")
    count = try params.nonNegativeIntIfPresent("atMost")
    order = try params.choiceIfPresent("order", as: NotesScreen.Order.self) ?? .changed
    query = try params.stringIfPresent("query") ?? ""
    file = try params.stringIfPresent("file")
    isOfDeleted = try params.boolIfPresent("deleted") ?? false
  }

  func perform(for editor: Editor) async throws -> NoteList {
    let service = editor.service
    if let file { await service.fileSync.movedFiles.found(file) }
    for binding in editor.buffers.bindings { binding.updates.countWords() }
    let all = isOfDeleted ? service.notebook.keysOfDeleted : service.notebook.keysByModification
    let found = query.isEmpty ? all.map { ($0, nil) } : await matches(among: all, service)
    if let width {
      let table = NotesScreen(service).table(of: found.map(\.0), order, width: width, areDeleted: isOfDeleted)
      let isKept = token != nil || count != nil
      return NoteList(isKept ? editor.screens.answer(table, since: token, atMost: count) : ScreenAnswer(table))
    }
    return NoteList(of: found, service)
  }

  private func matches(among keys: [NoteKey], _ service: Service) async -> [(NoteKey, NoteList.Match?)] {
    let search = TextSearch(query)
    let texts = NoteTexts(service: service)
    var notes: [(NoteKey, NoteList.Match?)] = []
    for key in keys {
      guard let record = service.notebook[key] else { continue }
      var found = search.found(inTitle: record.title)
      if found.count == search.count {
        notes.append((key, nil))
        continue
      }
      var best: (found: NoteList.Match, count: Int)?
      for part in texts.parts(of: record) {
        guard let text = await texts.text(of: part) else { continue }
        let here = search.found(in: text)
        found.formUnion(here)
        if here.count > best?.count ?? 0, let match = search.bestMatch(in: text), match.count > best?.count ?? 0 {
          best = ((part, match.match), match.count)
        }
      }
      guard found.count == search.count else { continue }
      if let part = best?.found.part { best?.found.part = await texts.withFile(part) }
      notes.append((key, best?.found))
    }
    return notes
  }
}
