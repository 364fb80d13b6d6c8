/// A selection as CRDT cursors, which only the document can resolve. `end` is the caret.
struct CursorRange: Hashable, Sendable {
  var start: [UInt8]
  var end: [UInt8]
  /// The id of the text, in a document of several; a cursor at the end of a text does not name it.
  var text: String?
}

/// A person's caret, selection and name as shown in a document.
struct PresenceState: Hashable, Sendable {
  var name: String
  /// The colour this person would like to have, 0–11.
  var color: Int?
  var ranges: [CursorRange]
}

/// What peers send each other as `{"__presence": {"type": …}}`.
enum PresencePayload: Hashable, Sendable {
  /// A part of it has changed.
  case update(PresenceState)
  /// All of it, for a peer that has just connected. A receiver that did not know the sender answers with its own.
  case snapshot(PresenceState)
  /// The person is still there.
  case heartbeat
  /// The person has left.
  case goodbye
  /// The person points at a place.
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
