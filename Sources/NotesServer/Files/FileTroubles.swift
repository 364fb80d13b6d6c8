import Foundation

/// The files that are out of date for a reason of which the person was told: of each once, until it is up to date again.
struct FileTroubles {
  private var told: Set<String> = []

  /// The message that a file has a trouble; nil if the person was told.
  mutating func message(_ what: String, of path: String) -> String? {
    guard told.insert(path).inserted else { return nil }
    let room = NoteNews.maximumMessageLength - what.count - 1
    return "\(NoteNews.cut(OneLine.shown((path as NSString).lastPathComponent), to: room)) \(what)"
  }

  mutating func end(of path: String) { told.remove(path) }
}
