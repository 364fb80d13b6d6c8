import Automerge
import AutomergeRepo
import Cryptography
import Foundation

/// Identifies a buffer of this process's editor by its note, and by its URI if the editor has the note open under another one,
/// too.
struct BufferKey: Hashable {
  let note: NoteKey
  /// A digest of the URI; nil for the first buffer of the note.
  let twin: String?

  var document: DocumentId { note.document }
  var item: String? { note.item }

  init(_ note: NoteKey, twin: String? = nil) { (self.note, self.twin) = (note, twin) }

  init(_ note: NoteKey, uri: String) {
    self.init(note, twin: hexadecimal(SHA256.hash(data: Data(uri.utf8)).prefix(8)))
  }

  /// The name under which what the buffer contains is stored.
  ///
  /// - Parameter run: the process's name
  func record(of run: String) -> String { twin.map { run + "-" + $0 } ?? run }

  /// Whether `record` returns this name for one of the process's buffers.
  static func isRecord(_ name: String, of run: String) -> Bool { name == run || name.hasPrefix(run + "-") }
}
