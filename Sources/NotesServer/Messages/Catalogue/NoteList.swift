import AutomergeRepo
import JSONRPC

/// The answer to `notes/list`, as JSON text: there may be ten thousand notes.
struct NoteList: RequestResult {
  /// A place where a text matches the query.
  typealias Match = (part: NoteRecord, match: TextSearch.Match)

  let encoded: [UInt8]

  var json: JSONValue { get throws { try JSONValue(parsing: encoded) } }

  init(_ screen: ScreenAnswer) { encoded = screen.encoded }

  @AutomergeRepo
  init(of notes: [(NoteKey, Match?)], _ service: Service) {
    let list = NoteListWriter(service: service, texts: NoteTexts(service: service), peers: service.peersByDocument)
    var writer = JSONTextWriter()
    writer.object { writer in
      writer.key("notes")
      writer.array { writer in
        for (key, match) in notes {
          if let record = service.notebook[key] { list.write(record, match, to: &writer) }
        }
      }
    }
    encoded = writer.bytes
  }
}

@AutomergeRepo
private struct NoteListWriter {
  let service: Service
  let texts: NoteTexts
  /// The names of the connected people that have each document.
  let peers: [DocumentId: [String]]

  func write(_ record: NoteRecord, _ found: NoteList.Match?, to writer: inout JSONTextWriter) {
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
          for item in texts.parts(of: record) { writeItem(item, to: &writer) }
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
        for person in service.presenceTracker.people(in: record.id) { writer.string(person.name) }
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

extension Service {
  /// The names of the connected people that have each document.
  fileprivate var peersByDocument: [DocumentId: [String]] {
    var names: [DocumentId: [String]] = [:]
    for peer in sharing.peers where peer.isConnected {
      for note in peer.notes where note.access != .none { names[note.document, default: []].append(peer.name) }
    }
    return names
  }
}
