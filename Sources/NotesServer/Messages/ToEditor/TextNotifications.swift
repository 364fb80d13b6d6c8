import AutomergeRepo
import JSONRPC

/// `notes/edit`: changes that the client lacks.
struct EditNotification: ServerNotification {
  static let method = "notes/edit"

  let uri: String
  let edit: BufferEdit

  var params: JSONValue {
    [
      "uri": .string(uri), "version": JSONValue(edit.version), "rev": JSONValue(edit.rev),
      "edits": .array(edit.edits.map(\.json)),
      "bytes": JSONValue(edit.bytes), "cause": .string(edit.cause.rawValue),
    ]
  }

  /// The same without building values first, because a person waits for each letter.
  var encoded: [UInt8] {
    var writer = JSONTextWriter(reserving: 256 + uri.utf8.count + edit.edits.reduce(0) { $0 + $1.newText.count })
    writer.object { writer in
      writer.key("uri")
      writer.string(uri)
      writer.key("version")
      writer.integer(edit.version)
      writer.key("rev")
      writer.integer(edit.rev)
      writer.key("edits")
      writer.array { writer in for replacement in edit.edits { replacement.write(to: &writer) } }
      writer.key("bytes")
      writer.integer(edit.bytes)
      writer.key("cause")
      writer.string(edit.cause.rawValue)
    }
    return writer.bytes
  }
}

/// `notes/check`: what the client's text should be.
struct CheckNotification: ServerNotification {
  static let method = "notes/check"

  let uri: String
  let version: Int
  let rev: Int
  let byteCount: Int
  /// The text's SHA-256, in hexadecimal.
  let digest: String

  var params: JSONValue {
    [
      "uri": .string(uri), "version": JSONValue(version), "rev": JSONValue(rev), "bytes": JSONValue(byteCount),
      "sha256": .string(digest),
    ]
  }
}

/// `notes/resync`: asks the client for its full text.
struct ResyncNotification: ServerNotification {
  static let method = "notes/resync"

  let uri: String
  let reason: String

  var params: JSONValue { ["uri": .string(uri), "reason": .string(reason)] }
}

/// `notes/file`: the note has everything that the working file contains, so that the editor may overwrite the file
/// without asking.
struct FileKnownNotification: ServerNotification {
  static let method = "notes/file"

  let uri: String
  /// The SHA-256 of the file's bytes, in hexadecimal.
  let digest: String

  var params: JSONValue { ["uri": .string(uri), "sha256": .string(digest)] }
}

/// `notes/cursors`: other people's carets, replacing those sent before.
struct CursorsNotification: ServerNotification {
  static let method = "notes/cursors"

  struct Peer {
    let person: Presence.Person
    let ranges: [PositionRange]
  }

  let uri: String
  let version: Int
  let rev: Int
  let peers: [Peer]

  var params: JSONValue {
    [
      "uri": .string(uri), "version": JSONValue(version), "rev": JSONValue(rev),
      "peers": .array(
        peers.map { peer in
          [
            "peer": .string(peer.person.peer), "name": .string(peer.person.name),
            "color": JSONValue(peer.person.mark.color), "letter": .string(String(peer.person.mark.letter)),
            "ranges": .array(peer.ranges.map(\.json)),
          ]
        }),
    ]
  }
}

/// `workspace/applyEdit`: changes that a plain client lacks.
struct ApplyEditRequest: ServerRequest {
  static let method = "workspace/applyEdit"

  let uri: String
  let edit: BufferEdit

  var params: JSONValue {
    [
      "label": "notes-lsp",
      "edit": [
        "documentChanges": [
          [
            "textDocument": ["uri": .string(uri), "version": JSONValue(edit.version)],
            "edits": .array(edit.edits.map(\.json)),
          ]
        ]
      ],
    ]
  }

  /// Whether the client says that it has applied them.
  func answer(_ result: JSONValue?) -> Bool { result?["applied"]?.boolValue ?? false }
}

extension PositionRange {
  var json: JSONValue { ["start": start.json, "end": end.json] }
}

extension BufferEdit.Replacement {
  var json: JSONValue { ["range": range.json, "newText": .string(String(decoding: newText, as: UTF8.self))] }

  fileprivate func write(to writer: inout JSONTextWriter) {
    writer.object { writer in
      writer.key("range")
      writer.object { writer in
        writer.key("start")
        range.start.write(to: &writer)
        writer.key("end")
        range.end.write(to: &writer)
      }
      writer.key("newText")
      writer.string(String(decoding: newText, as: UTF8.self))
    }
  }
}

extension Position {
  var json: JSONValue { ["line": JSONValue(line), "character": JSONValue(character)] }

  fileprivate func write(to writer: inout JSONTextWriter) {
    writer.object { writer in
      writer.key("line")
      writer.integer(line)
      writer.key("character")
      writer.integer(character)
    }
  }
}
