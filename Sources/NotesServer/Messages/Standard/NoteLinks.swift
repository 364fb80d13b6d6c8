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
  var encoding: PositionEncoding { editor.client.encoding }

  /// The notes with this title in any case. This person's own come first, because other people choose the titles of
  /// theirs, and must not divert a link; then those with exactly this title, and of these the one that changed last.
  func notes(titled title: String) -> [NoteRecord] {
    let wanted = title.lowercased()
    let found = service.notebook.byModification.filter { $0.title == title || $0.title.lowercased() == wanted }
    func rank(_ record: NoteRecord) -> Int {
      (service.sharing.host(of: record.id) == nil ? 0 : 2) + (record.title == title ? 0 : 1)
    }
    return (0..<4).flatMap { number in found.filter { rank($0) == number } }
  }

  /// The link at a place of a buffer.
  func link(at place: DocumentPosition) -> NoteLink? {
    guard let line = editor.clientLine(at: place) else { return nil }
    return NoteLink.all(in: line.bytes[...]).first {
      ($0.whole.lowerBound...$0.whole.upperBound).contains(line.offset)
    }
  }

  /// The buffer's own note.
  func own(at place: DocumentPosition) -> NoteRecord? {
    guard case .attached(let binding)? = editor.buffers[place.uri] else { return nil }
    return service.notebook[binding.id]
  }

  /// The title at a place: that of the link there, otherwise that of the buffer's own note.
  func title(at place: DocumentPosition) -> String? { link(at: place)?.title ?? own(at: place)?.title }

  /// The place that a link leads to; nil if the note has no file.
  func place(of link: NoteLink, in record: NoteRecord) async throws -> Place? {
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

  /// Every note, or item of a meeting, with links to this title: in the text that the client shows if it is open,
  /// otherwise in its own.
  ///
  /// - Complexity: O(n) in the bytes of all notes; other requests are served meanwhile
  func linking(to title: String) async -> [(part: NoteRecord, titles: [LinkedTitle])] {
    let texts = NoteTexts(service: service)
    var found: [(NoteRecord, [LinkedTitle])] = []
    for record in service.notebook.byModification {
      for part in texts.parts(of: record) {
        let shown = editor.buffers.binding(at: part.key)?.clientText
        guard let text = if let shown { shown } else { await texts.text(of: part) } else { continue }
        let titles = await LinkedTitle.allOffLoop(to: title, in: text, encoding)
        if !titles.isEmpty { found.append((part, titles)) }
      }
    }
    return found
  }

  /// The location of a part: its open buffer, otherwise its file.
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
