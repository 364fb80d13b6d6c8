import Automerge
import AutomergeRepo

/// A text to keep as a recovered text before changes that it contains are removed.
struct KeptWords: Equatable {
  var title: String
  var text: [UInt8]

  /// The texts that would change if these changes, and all that depend on them, were removed.
  ///
  /// - Parameter announced: changes whose words are kept already
  /// - Complexity: O(n) in the history
  static func lost(
    _ changes: Set<ChangeHash>, of document: Document, _ keys: [NoteKey], _ announced: Set<ChangeHash>
  ) throws -> [NoteKey: KeptWords] {
    guard let id = keys.first?.document, !document.changesOnTop(of: changes).isSubset(of: announced) else { return [:] }
    let after = try document.forkAt(heads: document.heads(without: changes))
    let items = MeetingDocument(document)?.items.map { NoteKey(id, item: $0.id) } ?? []
    var lost: [NoteKey: KeptWords] = [:]
    for key in Set(keys + items) {
      guard let words = KeptWords(document, key), words != KeptWords(after, key) else { continue }
      lost[key] = words
    }
    if let meeting = MeetingDocument(document)?.content, meeting != MeetingDocument(after)?.content,
      lost[NoteKey(id)] == nil
    {
      lost[NoteKey(id)] = KeptWords(title: meeting.title, text: Array(meeting.asText.utf8))
    }
    return lost
  }

  init(title: String, text: [UInt8]) { (self.title, self.text) = (title, text) }

  private init?(_ document: Document, _ key: NoteKey) {
    guard let note = NoteDocument(document, item: key.item) else { return nil }
    self.init(title: note.title ?? "", text: DocumentText(note).allUTF8)
  }
}

extension MeetingContent {
  /// The whole meeting as plain text.
  fileprivate var asText: String {
    let parts = [title, attendees.joined(separator: ", ")] + agendas.flatMap { [$0.title, $0.discussion] }
    return parts.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
  }
}
