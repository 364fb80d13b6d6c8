import AutomergeRepo
import JSONRPC

/// What to tell a person about an open note when the nature of its buffer changes: the kinds of `notes/event`, their
/// reasons, and the words that both editors show.
enum NoteNews: Hashable {
  /// Why a buffer is no longer a note.
  enum Reason: String, Hashable {
    case deleted, deletedForEveryone, itemDeleted, purged
    /// A peer has deleted the text in its document, which another program may have made.
    case textDeleted
    /// The service was restarted and does not know the note.
    case notFound
    /// The note exists but cannot be opened.
    case notOpened
  }

  /// The host has changed what this person may do.
  case access(Access, host: String)
  /// What was typed is not in the note, but in a file of its own.
  case refused(recovered: String)
  /// The disk accepts no copy of words that the note does not accept, either. The service keeps them in memory and
  /// tries again.
  case notStored(isFull: Bool)
  /// The file is not UTF-8, and neither it nor the note is updated from the other; or it is again.
  case file(isText: Bool)
  /// The host no longer shares the note with this person; no host if this person has blocked it.
  case unshared(host: String?)
  /// A guest has stopped sharing a note of this person's.
  case gaveUp(guest: String)
  /// Another text of the document is now the note's: a peer has chosen it, or replaced the former one by it.
  case anotherText
  /// From now on the buffer is a plain file's.
  case detached(Reason)
  /// The note is not here yet; the name is that of the host, or of what else it waits for.
  case waiting(for: String)
  /// The note continues in another document, without the removed guests.
  case moved(from: DocumentId, Mover)
  /// The note has another title.
  case renamed(from: String, by: Author?)

  enum Author: Hashable {
    /// This person, in another editor.
    case oneself
    case person(String)
  }

  /// The person who removed the guests.
  enum Mover: Hashable {
    /// This person removed the guest with this name.
    case removed(String)
    case host(String)
  }

  var kind: String {
    switch self {
    case .access: "access"
    case .refused: "refused"
    case .notStored: "notStored"
    case .file: "file"
    case .unshared: "unshared"
    case .gaveUp: "left"
    case .anotherText: "text"
    case .detached: "detached"
    case .moved: "moved"
    case .waiting: "waiting"
    case .renamed: "renamed"
    }
  }

  /// One line, ready to show, of at most `maximumMessageLength` characters; a long title is cut.
  func message(title: String) -> String {
    switch self {
    case .access(.write, let host): Self.fitted(host, " lets you edit ", title, "")
    case .access(_, let host): Self.fitted(host, " made ", title, " read-only for you")
    case .refused: Self.fitted("", "Read-only: ", title, " stays; your words are in a copy")
    case .notStored(let isFull):
      Self.fitted("", "WARNING: words of ", title, " are not stored: disk \(isFull ? "full" : "error")")
    case .file(false): Self.fitted("", "Not UTF-8: file of ", title, "; convert it to sync")
    case .file(true): Self.fitted("", "UTF-8 again: file of ", title, "; syncing")
    case .unshared(nil): Self.fitted("", "No longer shared: ", title, "; your copy stays")
    case .unshared(let host?): Self.fitted(host, " stopped sharing ", title, "; your copy stays")
    case .gaveUp(let guest): Self.fitted(guest, " no longer shares ", title, "")
    case .waiting(let name): Self.fitted("Waiting for \(name)", " to send ", title, "; typing is kept")
    case .moved(_, .removed(let name)): Self.fitted(name, " was removed from ", title, "; the others go on")
    case .moved(_, .host(let host)): Self.fitted(host, " removed a person from ", title, "; it continues")
    case .renamed(_, .oneself): Self.fitted("", "Renamed to ", title, "")
    case .renamed(let former, .person(let name)):
      Self.fitted(name, " renamed \"\(Self.cut(former, to: 16))\" to ", title, "")
    case .renamed(let former, nil): Self.fitted("", "\"\(Self.cut(former, to: 24))\" is now ", title, "")
    case .detached(.deleted): Self.fitted("", "Deleted ", title, "; undelete restores it")
    case .detached(.deletedForEveryone): Self.fitted("", "Deleted for everyone: ", title, "; undelete restores it")
    case .detached(.itemDeleted): Self.fitted("", "Item deleted: ", title, "; its text is kept as recovered")
    case .detached(.textDeleted): Self.fitted("", "Text deleted: ", title, "; it is kept as recovered")
    case .anotherText: Self.fitted("A peer put another text into ", "", title, "")
    case .detached(.purged): Self.fitted("", "Removed for good: ", title, "; only this text is left")
    case .detached(.notFound): Self.fitted("", "Not found: ", title, "; the text stays as a plain file")
    case .detached(.notOpened): Self.fitted("", "Cannot open ", title, "; the text stays as a plain file")
    }
  }

  /// The message for an editor that has our commands.
  func line(title: String) -> String {
    switch self {
    case .refused: ":NotesRecovered has your words; this note is read-only"
    case .detached(.deleted): Self.fitted("", "Deleted ", title, "; :NotesUndelete restores it")
    case .detached(.deletedForEveryone):
      Self.fitted("", "Deleted for everyone: ", title, "; :NotesUndelete restores it")
    case .access, .notStored, .file, .unshared, .gaveUp, .anotherText, .detached, .waiting, .moved, .renamed:
      message(title: title)
    }
  }

  /// Urgent news is what the person must know, even if it needs no answer.
  var level: EventLine.Level {
    switch self {
    case .refused: .words
    case .access, .notStored, .file(false), .unshared, .detached, .waiting, .moved: .urgent
    case .file(true), .gaveUp, .anotherText, .renamed: .news
    }
  }

  /// What a status line of 80 columns can show. Source: EditorProtocol.md.
  static let maximumMessageLength = 60
  private static let minimumTitleLength = 8

  /// `name`, `middle`, the title in quotes and `end`. If there is too little room, cuts the title, and then the name.
  static func fitted(
    _ name: String, _ middle: String, _ title: String, _ end: String, within length: Int = maximumMessageLength
  ) -> String {
    let room = length - middle.count - end.count - 2
    let title = cut(title, to: max(minimumTitleLength, room - name.count))
    return cut(name, to: max(1, room - title.count)) + middle + "\"\(title)\"" + end
  }

  /// The message with the number of such changes, if there were several; the title is cut to make room.
  static func counted(_ message: String, _ count: Int) -> String {
    guard count > 1 else { return message }
    let end = " (\(count) changes)"
    let excess = message.count + end.count - maximumMessageLength
    guard excess > 0, let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""), first < last
    else {
      return cut(message, to: maximumMessageLength - end.count) + end
    }
    let title = message[message.index(after: first)..<last]
    return message[...first] + cut(String(title), to: max(1, title.count - excess)) + message[last...] + end
  }

  /// `1 change`, `2 changes`.
  static func number(_ count: Int, _ what: String) -> String { "\(count) \(what)\(count == 1 ? "" : "s")" }

  /// The mark after a name stays.
  static func cut(_ text: String, to count: Int) -> String {
    guard text.count > count else { return text }
    return NameMark.cut(text, to: count, measuredBy: \.count, cut) ?? text.prefix(max(0, count - 1)) + "…"
  }

  /// The parameters of the event.
  func parameters(uri: String?, id: DocumentId?, title: String, peer: PeerId?, name: String?) -> JSONValue {
    var members: [(String, JSONValue?)] = [
      ("kind", .string(kind)), ("uri", uri.map(JSONValue.string)), ("id", id.map { .string($0.description) }),
      ("peer", peer.map { .string($0.description) }), ("name", name.map(JSONValue.string)),
      ("message", .string(message(title: title))), ("line", .string(line(title: title))), ("level", level.json),
    ]
    switch self {
    case .access(let access, _): members.append(("access", .string(access.rawValue)))
    case .unshared: members.append(("access", .string(Access.write.rawValue)))
    case .refused(let path): members.append(("recovered", .string(path)))
    case .file(let isText): members.append(("file", .string(isText ? "text" : "notUTF8")))
    case .detached(let reason): members.append(("reason", .string(reason.rawValue)))
    case .moved(let old, _): members.append(("from", .string(old.description)))
    case .gaveUp, .waiting, .notStored, .anotherText, .renamed: break
    }
    return .object(JSONObject(members.compactMap { key, value in value.map { (key, $0) } }))
  }
}
