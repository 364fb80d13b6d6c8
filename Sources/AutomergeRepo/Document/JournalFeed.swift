import Automerge

/// Hands every change of a document, once, to a program that keeps a journal.
struct JournalFeed {
  /// What the journal already has of the document.
  private enum Known {
    /// The changes up to these heads. The journal has not been told of any change yet.
    case heads(Set<ChangeHash>)
    /// The first changes, in the order in which this replica received them. A count costs a keystroke less than heads.
    case count(Int)
  }

  private(set) var handler: (@AutomergeRepo ([UInt8]) -> Void)?
  private var known = Known.heads([])

  /// - Parameter heads: what the journal has already, if it was not told of changes before
  mutating func set(_ handler: (@AutomergeRepo ([UInt8]) -> Void)?, from heads: @autoclosure () -> Set<ChangeHash>) {
    if handler != nil, self.handler == nil { known = .heads(heads()) }
    self.handler = handler
  }

  /// Call when changes were removed from the document. The journal is not told again of those that remain.
  mutating func restart(on document: Document) { known = .count(document.getHistory().count) }

  /// The changes that the journal has not been told of, as chunks; nil if there are none, or no journal.
  mutating func takeNews(of document: Document) -> [UInt8]? {
    guard handler != nil else { return nil }
    switch known {
    case .heads(let heads):
      let (chunks, count) = document.chunks(since: heads)
      known = .count(count)
      return chunks.isEmpty ? nil : chunks
    case .count(let count):
      guard let news = document.chunks(after: count) else { return nil }
      known = .count(news.count)
      return news.bytes
    }
  }
}
