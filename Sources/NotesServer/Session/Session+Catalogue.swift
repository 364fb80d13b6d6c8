import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that list notes and search them.
extension Editor {
  private static let mostSymbols = 500

  func list(_ params: Parameters) async throws -> JSONValue { try JSONValue(parsing: try await listText(params)) }

  /// The answer to `notes/list`, as JSON text: there may be ten thousand notes.
  func listText(_ params: Parameters) async throws -> [UInt8] {
    let query = try params.stringIfPresent("query") ?? ""
    for attachment in buffers.attachments { attachment.countWords() }
    let isOfDeleted = try params.boolIfPresent("deleted") ?? false
    let all = isOfDeleted ? service.notebook.keysOfDeleted : service.notebook.keysByModification
    let found = query.isEmpty ? all.map { ($0, nil) } : await matches(query, among: all)
    let connected = peersByDocument()
    var writer = JSONTextWriter()
    writer.object { writer in
      writer.key("notes")
      writer.array { writer in
        for (key, match) in found {
          if let record = service.notebook[key] { write(record, connected, match, to: &writer) }
        }
      }
    }
    return writer.bytes
  }

  /// The places where a text matches the query.
  private typealias Found = (part: NoteRecord, match: TextSearch.Match)

  private func matches(_ query: String, among keys: [NoteKey]) async -> [(NoteKey, Found?)] {
    let search = TextSearch(query)
    var notes: [(NoteKey, Found?)] = []
    for key in keys {
      guard let record = service.notebook[key] else { continue }
      var found = search.found(inTitle: record.title)
      if found.count == search.count {
        notes.append((key, nil))
        continue
      }
      var best: (found: Found, count: Int)?
      for part in parts(of: record) {
        guard let text = await text(of: part) else { continue }
        let here = search.found(in: text)
        found.formUnion(here)
        if here.count > best?.count ?? 0, let match = search.bestMatch(in: text), match.count > best?.count ?? 0 {
          best = ((part, match.match), match.count)
        }
      }
      guard found.count == search.count else { continue }
      if let part = best?.found.part { best?.found.part = await withFile(part) }
      notes.append((key, best?.found))
    }
    return notes
  }

  /// Notes by title, and the headings in them. Without a query: the titles.
  func symbols(_ params: Parameters) async throws -> JSONValue {
    let search = TextSearch(try params.string("query"))
    let isAll = try params.string("query").isEmpty
    var symbols: [JSONValue] = []
    for record in service.notebook.byModification {
      for part in parts(of: record) {
        guard symbols.count < Self.mostSymbols else { return .array(symbols) }
        guard let path = part.path else { continue }
        let title = part.item == nil ? record.title : "\(record.title) – \(part.title)"
        if search.matches(title) { symbols.append(symbol(title, kind: 1, path, line: 0, in: nil)) }
        guard !isAll, let text = await text(of: part) else { continue }
        for heading in Headings.all(in: text) where search.matches(heading.title) {
          symbols.append(symbol(heading.title, kind: 15, path, line: heading.line, in: title))
        }
      }
    }
    return .array(symbols)
  }

  private func symbol(_ name: String, kind: Int, _ path: String, line: Int, in container: String?) -> JSONValue {
    let position = Position(line: line, character: 0)
    return .object(present: [
      "name": .string(name), "kind": JSONValue(kind), "containerName": container.map(JSONValue.string),
      "location": [
        "uri": .string(FileURI.uri(path: path)), "range": PositionRange(start: position, end: position).json,
      ],
    ])
  }

  // MARK: Parts

  /// The note itself, or a meeting's items in the agenda's order, also those without a file.
  private func parts(of record: NoteRecord) -> [NoteRecord] {
    guard record.folder != nil else { return [record] }
    // An earlier version did not keep the agenda.
    guard !record.agenda.isEmpty else { return service.notebook.items(of: record.id) }
    return record.agenda.map { entry in
      service.notebook[NoteKey(record.id, item: entry.id)]
        ?? NoteRecord(
          id: record.id, item: entry.id, title: entry.title, created: record.created, modified: record.modified)
    }
  }

  /// An item that matched is about to be opened.
  private func withFile(_ part: NoteRecord) async -> NoteRecord {
    guard part.path == nil, let handle = service.repo.handle(of: part.id) else { return part }
    try? await service.caretaker.makeFile(of: part.key, handle)
    return service.notebook[part.key] ?? part
  }

  /// The text in memory, else that of the working file, which is at most half a second older.
  private func text(of record: NoteRecord) async -> [UInt8]? {
    let loaded = service.repo.handle(of: record.id)
    if let handle = record.path == nil ? try? await find(record.id) : loaded {
      // A search reads many notes, and typing must not wait for all of them.
      await Task.yield()
      return NoteDocument(handle.document, item: record.item).map { DocumentText($0).allUTF8 }
    }
    guard let path = record.path else { return nil }
    return try? await service.files.read(path)
  }

  /// The names of the connected people that have each document.
  private func peersByDocument() -> [DocumentId: [String]] {
    var names: [DocumentId: [String]] = [:]
    for peer in service.sharing.peers where peer.isConnected {
      for note in peer.notes where note.access != .none { names[note.document, default: []].append(peer.name) }
    }
    return names
  }

  private func write(
    _ record: NoteRecord, _ peers: [DocumentId: [String]], _ found: Found?, to writer: inout JSONTextWriter
  ) {
    writer.object { writer in
      writer.member("id", record.id.description)
      writer.member("title", record.title)
      writer.key("created")
      writer.integer(record.created.milliseconds)
      writer.key("modified")
      writer.integer(record.modified.milliseconds)
      writePlace(record, to: &writer)
      if let folder = record.folder {
        writer.member("folder", folder)
        writer.key("items")
        writer.array { writer in
          for item in parts(of: record) { writeItem(item, to: &writer) }
        }
      }
      writer.key("words")
      writer.integer(record.words)
      writer.key("peers")
      writer.array { writer in
        for name in peers[record.id] ?? [] { writer.string(name) }
      }
      writer.key("here")
      writer.array { writer in
        for person in service.company.people(in: record.id) { writer.string(person.name) }
      }
      writer.key("shared")
      writer.bool(!service.sharing.people(on: record.id).isEmpty)
      if let host = service.sharing.host(of: record.id) { writer.member("owner", host.name) }
      writer.key("unread")
      writer.bool(record.isUnread)
      if let deleted = record.deletedSince {
        writer.key("deleted")
        writer.integer(deleted.milliseconds)
      }
      guard let found else { return }
      writer.key("match")
      writer.object { writer in
        writer.key("line")
        writer.integer(found.match.line)
        writer.member("text", found.match.text)
        writePlace(found.part, to: &writer)
      }
    }
  }

  private func writeItem(_ record: NoteRecord, to writer: inout JSONTextWriter) {
    writer.object { writer in
      writer.member("item", record.item)
      writer.member("title", record.title)
      writePlace(record, to: &writer)
    }
  }

  private func writePlace(_ record: NoteRecord, to writer: inout JSONTextWriter) {
    guard let path = record.path else { return }
    writer.member("uri", FileURI.uri(path: path))
    writer.member("path", path)
  }
}
