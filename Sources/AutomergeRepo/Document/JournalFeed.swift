import Automerge

/// Hands every change of a document to a program that keeps a journal, each once.
struct JournalFeed {
  /// What the journal has of the document.
  private enum Known {
    /// Whatever comes before these heads; it was not told of anything yet.
    case heads(Set<ChangeHash>)
    /// The first changes, in the order in which they came to be in this replica. Counting costs a keystroke less than heads.
    case count(Int)
  }

  private(set) var handler: (@AutomergeRepo ([UInt8]) -> Void)?
  private var known = Known.heads([])

  /// - Parameter heads: what the journal need not be told, if it was not told of changes before
  mutating func set(_ handler: (@AutomergeRepo ([UInt8]) -> Void)?, from heads: @autoclosure () -> Set<ChangeHash>) {
    if handler != nil, self.handler == nil { known = .heads(heads()) }
    self.handler = handler
  }

  /// Changes were removed from the document; what is left is not told again.
  mutating func restart(on document: Document) { known = .count(document.getHistory().count) }

  /// The changes that the journal has not been told of, as chunks; nil if there is none, or no journal.
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
