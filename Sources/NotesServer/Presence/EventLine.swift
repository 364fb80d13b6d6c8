import JSONRPC

/// How an editor with a plugin shows an event: the members `line`, with what the person can do about it, and `level`.
///
/// The code that makes an event sets both, because the words of an event may be a peer's. An event with neither shows
/// its message, as news.
///
/// Commands have their names in Vim (`:NotesAnswer`); the plugin for Emacs turns them into its own.
enum EventLine {
  enum Level: String {
    /// Waits until the person has read other lines.
    case news
    /// Stays until the person has read it.
    case urgent
    /// Says where the person's words are, before everything else.
    case words

    var json: JSONValue { .string(rawValue) }
  }

  /// A message, and in a second sentence what the person can do; one mark between them.
  static func text(_ message: String, then reply: String?) -> String {
    guard let reply else { return message }
    return message + (message.last.map(".?!…".contains) == true ? " " : ". ") + reply
  }

  /// The parameters of a `notes/event` as they are sent; an event without a message has no line.
  static func completed(_ event: JSONValue) -> JSONValue {
    guard case .object(var members) = event else { return event }
    guard let message = event["message"]?.stringValue, !message.isEmpty else {
      members["line"] = nil
      members["level"] = nil
      return .object(members)
    }
    members["line"] = members["line"] ?? .string(message)
    members["level"] = members["level"] ?? Level.news.json
    return .object(members)
  }
}
