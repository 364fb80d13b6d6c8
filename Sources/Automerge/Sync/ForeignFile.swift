import Foundation

/// What could be read of a file, or of several chunks, that another person may have made.
package struct ForeignFile: Sendable {
  package let document: Document
  /// What is not in the document; nil if everything is.
  package let leftOut: LeftOut?

  package enum LeftOut: Hashable, Sendable {
    /// Chunks that are cut, damaged or beyond the limits.
    case damagedPart
    /// So many changes, because changes on which they depend are missing.
    case changes(Int)
  }

  /// - Parameter isDamaged: whether some of the bytes could not be used
  package init(_ document: Document, isDamaged: Bool) {
    self.document = document
    let waiting = document.stats().waitingChangeCount
    leftOut = isDamaged ? .damagedPart : waiting > 0 ? .changes(waiting) : nil
  }

  /// Loads a file like `Document(_:)`, but with a peer's limits, so that a small file can take neither gigabytes of memory nor
  /// minutes.
  ///
  /// Throws `LoadError` if none of its chunks can be used, or if it has too many operations for its size.
  ///
  /// - Parameter limit: how many operations other than typing and deleting it may have beyond one for each byte.
  package static func load(_ file: Data, denseOpsAtMost limit: Int = 1 << 19) throws -> ForeignFile {
    let document = Document()
    let inflatedByteCount = max(IncomingMessage.Limit.inflatedByteCount, FormatLimits.inflatedRatio * file.count)
    let incoming = IncomingMessage(chunks: Array(file)[...], inflatingAtMost: inflatedByteCount)
    while let portion = incoming.nextPortion() {
      guard incoming.charges.denseOpCount <= limit else { throw LoadError.format(.tooMany(limit: limit, at: 0)) }
      document.replacingCore { core in
        var edits: TextEditCollector?, filter: AuthorFilter?
        do throws(LoadError) {
          core = try core.take(portion, edits: &edits, filter: &filter)
          incoming.noteGood()
        } catch {
          incoming.note(error)
        }
      }
    }
    if let error = incoming.firstError, !incoming.isAnyGood { throw error }
    return ForeignFile(document, isDamaged: incoming.firstError != nil)
  }
}
