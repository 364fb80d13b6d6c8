import Automerge
import AutomergeRepo
import Cryptography
import Foundation

/// Identifies one text that an editor can have open, and its file: a note, or one item of a meeting's agenda.
struct NoteKey: Hashable {
  let document: DocumentId
  /// An agenda item's id, as in the document: any text. Nil for a note, and for a meeting as a whole.
  var item: String?

  init(_ document: DocumentId, item: String? = nil) { (self.document, self.item) = (document, item) }

  /// The name of the working file's lock.
  var lockName: String { names.joined(separator: "-") }

  /// The key as names that are valid in a store key or as a file's: of limited length, without a slash.
  var names: [String] {
    guard let item else { return [document.description] }
    return [document.description, hexadecimal(SHA256.hash(data: Data(item.utf8)).prefix(16))]
  }
}
