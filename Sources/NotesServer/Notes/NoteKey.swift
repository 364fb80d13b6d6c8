import AutomergeRepo
import Crypto
import Foundation

/// Names one text that an editor can have open, and its file: a note, or one item of a meeting's agenda.
struct NoteKey: Hashable {
  let document: DocumentId
  /// An agenda item's id, as the document has it: any text. Nil for a note, and for a meeting as a whole.
  var item: String?

  init(_ document: DocumentId, item: String? = nil) { (self.document, self.item) = (document, item) }

  /// Names the lock of the working file.
  var lockName: String { names.joined(separator: "-") }

  /// The key as names that may stand in a store key or be a file's: of limited length, without a slash.
  var names: [String] {
    guard let item else { return [document.description] }
    let digest = SHA256.hash(data: Data(item.utf8)).prefix(16)
    return [document.description, digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()]
  }
}
