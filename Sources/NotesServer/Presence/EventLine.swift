import JSONRPC

/// How an editor with a plugin shows an event: the line, with what the person can do about it, and how much it matters.
///
/// Commands have their names in Vim (`:NotesAnswer`); the plugin for Emacs turns them into its own.
struct EventLine {
  enum Level: String {
    /// Waits until the person has read other lines.
    case news
    /// Stays until the person has read it.
    case urgent
    /// Says where the person's words are, before everything else.
    case words
  }

  let text: String
  let level: Level

  /// Kinds that tell what must be known, even if no one has to answer.
  private static let urgentKinds: Set<String> = [
    "access", "declined", "deleted", "detached", "forged", "keyChanged", "moved", "repeated", "unshared", "waiting",
  ]

  /// Nil for an event that is not to be shown.
  init?(of event: JSONValue) {
    let kind = event["kind"]?.stringValue ?? ""
    if kind == "recovered" {
      (text, level) = (":NotesRecovered has " + (event["copy"]?.stringValue ?? "a copy"), .words)
      return
    }
    guard let message = event["message"]?.stringValue, !message.isEmpty else { return nil }
    if kind == "refused" {
      (text, level) = (":NotesRecovered has your words; this note is read-only", .words)
      return
    }
    text = Self.sentences(
      message.replacing("undelete restores", with: ":NotesUndelete restores"), Self.reply(to: kind, event))
    level =
      event["invitation"] != nil || Self.urgentKinds.contains(kind) || message.hasPrefix("WARNING") ? .urgent : .news
  }

  /// What the person can do about an event, as a sentence; empty if nothing. An answer that needs a confirmation names the
  /// invitation.
  private static func reply(to kind: String, _ event: JSONValue) -> String {
    switch (kind, event["invitation"] != nil) {
    case ("invited", true): ":NotesAnswer to reply"
    case ("accepted", true): ":NotesAnswer to compare codes"
    case ("keyChanged", false): ":NotesVerify"
    case ("away", false): ":NotesDiff"
    case ("pointed", false): ":NotesGo"
    default: ""
    }
  }

  /// Two sentences with one mark between them.
  private static func sentences(_ first: String, _ second: String) -> String {
    guard !second.isEmpty else { return first }
    return first + (first.last.map(".?!…".contains) == true ? " " : ". ") + second
  }

  /// The parameters of a `notes/event`, with what is shown of it.
  static func added(to event: JSONValue) -> JSONValue {
    guard case .object(var members) = event, let line = EventLine(of: event) else { return event }
    members["line"] = .string(line.text)
    members["level"] = .string(line.level.rawValue)
    return .object(members)
  }
}
