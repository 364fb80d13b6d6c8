import AutomergeRepo
import Foundation
import JSONRPC

/// The requests that list notes and look for words in them.
extension Session {
  private static let mostSymbols = 500

  func list(_ params: Parameters) async throws -> JSONValue {
    let query = try params.stringIfPresent("query") ?? ""
    for case .attached(let attachment) in buffers.values { attachment.countWords() }
    let all = try params.boolIfPresent("deleted") ?? false ? service.notebook.deleted : service.notebook.byModification
    let connected = peersByDocument()
    guard !query.isEmpty else { return ["notes": .array(all.map { summary($0, connected, nil) })] }
    let search = TextSearch(query)
    var notes: [JSONValue] = []
    for record in all {
      if search.matches(record.title) {
        notes.append(summary(record, connected, nil))
        continue
      }
      for part in parts(of: record) {
        guard let text = await text(of: part), let match = search.firstMatch(in: text) else { continue }
        notes.append(summary(record, connected, (part, match)))
        break
      }
    }
    return ["notes": .array(notes)]
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

  /// The note itself, or a meeting's items.
  private func parts(of record: NoteRecord) -> [NoteRecord] {
    record.folder == nil ? [record] : service.notebook.items(of: record.id).sorted { $0.title < $1.title }
  }

  /// The text as it is in memory, else as it is in the working file, which is the same half a second later.
  private func text(of record: NoteRecord) async -> [UInt8]? {
    if let handle = service.repo.handle(of: record.id) {
      return NoteDocument(handle.document, item: record.item).map { DocumentText($0).allUTF8 }
    }
    guard let path = record.path else { return nil }
    return try? await service.files.read(path)
  }

  /// The names of those who are connected and have the document.
  private func peersByDocument() -> [DocumentId: [String]] {
    var names: [DocumentId: [String]] = [:]
    for peer in service.sharing.peers where peer.state == .connected {
      for note in peer.notes where note.access != .none { names[note.document, default: []].append(peer.name) }
    }
    return names
  }

  private func summary(
    _ record: NoteRecord, _ peers: [DocumentId: [String]], _ found: (part: NoteRecord, match: TextSearch.Match)?
  ) -> JSONValue {
    let match = found.map { found -> JSONValue in
      .object(present: [
        "line": JSONValue(found.match.line), "text": .string(found.match.text),
        "uri": found.part.path.map { .string(FileURI.uri(path: $0)) }, "path": found.part.path.map(JSONValue.string),
      ])
    }
    let items = record.folder == nil ? nil : service.notebook.items(of: record.id).map(itemSummary)
    return .object(present: [
      "id": .string(record.id.description),
      "title": .string(record.title),
      "created": .int(Int64(record.created.milliseconds)),
      "modified": .int(Int64(record.modified.milliseconds)),
      "uri": record.path.map { .string(FileURI.uri(path: $0)) },
      "path": record.path.map(JSONValue.string),
      "folder": record.folder.map(JSONValue.string),
      "items": items.map(JSONValue.array),
      "words": JSONValue(record.words),
      "peers": JSONValue(peers[record.id] ?? []),
      "unread": .bool(record.isUnread),
      "deleted": record.deletedSince.map { .int(Int64($0.milliseconds)) },
      "match": match,
    ])
  }

  private func itemSummary(_ record: NoteRecord) -> JSONValue {
    .object(present: [
      "item": record.item.map(JSONValue.string), "title": .string(record.title),
      "uri": record.path.map { .string(FileURI.uri(path: $0)) }, "path": record.path.map(JSONValue.string),
    ])
  }

  // MARK: News

  /// Somebody, here or elsewhere, has made, renamed, put away or brought back a note: lists are to be asked for anew.
  func catalogueChanged(_ change: Notebook.Change) {
    guard phase == .running, isNotesClient else { return }
    connection.notify(
      "notes/event",
      .object(present: [
        "kind": .string(change.kind.rawValue), "id": .string(change.id.description), "title": .string(change.title),
        "uri": change.path.map { .string(FileURI.uri(path: $0)) },
        "peer": .string(service.identity.peer.description), "name": .string(service.identity.name), "message": "",
      ]))
  }
}
