/// How a person names a note: by its id, or by its title in any case.
public struct NoteName: Sendable {
  public let text: String

  public init(_ text: String) { self.text = text }

  /// The notes that it may mean: the one with this id; otherwise those with exactly this title; otherwise those whose
  /// title differs only in case.
  public func matches<Note>(in notes: [Note], id: (Note) -> String?, title: (Note) -> String?) -> [Note] {
    if let note = notes.first(where: { id($0) == text }) { return [note] }
    let exact = notes.filter { title($0) == text }
    return exact.isEmpty ? notes.filter { title($0)?.lowercased() == text.lowercased() } : exact
  }

  /// The message if it may mean several notes.
  public func ambiguity(_ ids: [String]) -> String {
    "\(ids.count) notes are called \"\(text)\": choose one in the list, or by its id: \(ids.joined(separator: ", "))."
  }
}
