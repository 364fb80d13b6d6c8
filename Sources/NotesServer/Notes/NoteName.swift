/// What a person writes to name a note: its id, or its title in any case.
public struct NoteName: Sendable {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// The notes that may be meant: the one with this id, else all of this title, else all whose title differs in case only.
  public func matches<Note>(in notes: [Note], id: (Note) -> String?, title: (Note) -> String?) -> [Note] {
    if let note = notes.first(where: { id($0) == text }) { return [note] }
    let exact = notes.filter { title($0) == text }
    return exact.isEmpty ? notes.filter { title($0)?.lowercased() == text.lowercased() } : exact
  }

  /// What to say when several notes may be meant.
  public func ambiguity(_ ids: [String]) -> String {
    "\(ids.count) notes are called \"\(text)\"; name one by its id: \(ids.joined(separator: ", "))."
  }
}
