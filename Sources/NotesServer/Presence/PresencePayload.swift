/// A selection in CRDT cursors, which only the document can read. `end` is where the caret is.
struct CursorRange: Hashable, Sendable {
  var start: [UInt8]
  var end: [UInt8]
}

/// A person's caret, selection and name as shown in a document.
struct PresenceState: Hashable, Sendable {
  var name: String
  /// The colour this person would like to have, 0–11.
  var color: Int?
  var ranges: [CursorRange]
}

/// What travels between peers as `{"__presence": {"type": …}}`.
enum PresencePayload: Hashable, Sendable {
  /// Something of it changed.
  case update(PresenceState)
  /// All of it, for a peer that has just come; a receiver that did not know the sender answers with its own.
  case snapshot(PresenceState)
  /// Still there.
  case heartbeat
  /// Gone.
  case goodbye
  /// Look here.
  case point(CursorRange, text: String)

  /// The payload's `type`.
  var type: String {
    switch self {
    case .update: "update"
    case .snapshot: "snapshot"
    case .heartbeat: "heartbeat"
    case .goodbye: "goodbye"
    case .point: "point"
    }
  }
}
