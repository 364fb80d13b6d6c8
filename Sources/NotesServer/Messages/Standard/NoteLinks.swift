import Automerge
import AutomergeRepo
import JSONRPC

/// The links between this person's notes.
@AutomergeRepo
struct NoteLinks {
  /// A place in a file.
  struct Place: RequestResult {
    let uri: String
    let range: PositionRange

    var json: JSONValue { ["uri": .string(uri), "range": range.json] }
  }

  let editor: Editor
  private var service: Service { editor.service }
  private var encoding: PositionEncoding { editor.client.encoding }

  /// The note with this title; of several, the one that changed last.
  func note(titled title: String) -> NoteRecord? {
    NoteName(title).matches(in: service.notebook.byModification, id: { _ in nil }, title: \.title).first
  }

  /// The link at a place of a buffer.
  func link(at place: DocumentPosition) -> NoteLink? {
    guard let lines = editor.clientLines(of: place.uri) else { return nil }
    let (line, offset) = lines.place(place.position)
    return NoteLink.all(in: lines.lines[line]).first { ($0.whole.lowerBound...$0.whole.upperBound).contains(offset) }
  }

  /// The title that a place is about: that of the link there, else that of the buffer's own note.
  func title(at place: DocumentPosition) -> String? {
    if let link = link(at: place) { return link.title }
    guard case .attached(let binding)? = editor.buffers[place.uri] else { return nil }
    return service.notebook[binding.id]?.title
  }

  /// Where a link leads; nil if there is no such note, or it has no file.
  func target(of link: NoteLink) async throws -> Place? {
    guard let record = note(titled: link.title) else { return nil }
    let opened = NotePlace(try await NoteOpener(service: service).open(record.id), service)
    guard let path = opened.path else { return nil }
    var line = 0
    if let heading = link.heading?.lowercased(),
      let text = await NoteTexts(service: service).text(of: service.notebook[record.id] ?? record)
    {
      line = Headings.all(in: text).first { $0.title.lowercased() == heading }?.line ?? 0
    }
    let start = Position(line: line, character: 0)
    return Place(uri: FileURI.uri(path: path), range: PositionRange(start: start, end: start))
  }

  /// The links to a title in one text.
  func links(to title: String, in text: [UInt8]) -> [(line: Int, link: NoteLink)] {
    text.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated().flatMap { line, bytes in
      NoteLink.all(in: bytes).filter { $0.leads(to: title) }.map { (line, $0) }
    }
  }

  /// Every note, or item of a meeting, with links to this title: what the client shows of it if it is open, else its text.
  ///
  /// - Complexity: O(n) in the bytes of all notes; others are served meanwhile
  func linking(to title: String) async -> [(part: NoteRecord, text: [UInt8], links: [(line: Int, link: NoteLink)])] {
    let texts = NoteTexts(service: service)
    var found: [(NoteRecord, [UInt8], [(line: Int, link: NoteLink)])] = []
    for record in service.notebook.byModification {
      for part in texts.parts(of: record) {
        let shown = editor.buffers.binding(at: part.key)?.clientText
        guard let text = if let shown { shown } else { await texts.text(of: part) } else { continue }
        let links = links(to: title, in: text)
        if !links.isEmpty { found.append((part, text, links)) }
      }
    }
    return found
  }

  func places(of links: [(line: Int, link: NoteLink)], in text: [UInt8], uri: String) -> [Place] {
    let lines = ClientLines(text, encoding)
    return links.map { Place(uri: uri, range: lines.range(inLine: $0.line, $0.link.part)) }
  }

  /// The location of a part: in its open buffer, else in its file.
  func uri(of part: NoteRecord) -> String? {
    editor.buffers.binding(at: part.key)?.uri ?? part.path.map(FileURI.uri(path:))
  }
}

/// The result of a request that found nothing.
struct NullResult: RequestResult {
  var json: JSONValue { .null }
}

/// Several results as an array.
struct ListResult: RequestResult {
  let items: [JSONValue]

  var json: JSONValue { .array(items) }
}
