import Foundation

/// A file that another person may have made.
package enum ForeignFile {
  /// Loads it like `Document(_:)`, but with a peer's limits, so that a small file can take neither gigabytes of memory nor minutes.
  ///
  /// Throws `LoadError` if none of its chunks can be used, or if it has too many operations for its size.
  ///
  /// - Parameter limit: how many operations other than typing and deleting it may have beyond one for each byte.
  package static func load(_ file: Data, denseOpsAtMost limit: Int = 1 << 19) throws -> Document {
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
    return document
  }
}
