import Automerge
import Foundation

/// Hands every change of a document to a program that keeps a journal, each once.
struct JournalFeed {
  private(set) var handler: (@AutomergeRepo (Data) -> Void)?
  /// The heads that the journal has.
  private var heads: Set<ChangeHash> = []

  /// - Parameter heads: what the journal need not be told, if it was not told of changes before
  mutating func set(_ handler: (@AutomergeRepo (Data) -> Void)?, from heads: @autoclosure () -> Set<ChangeHash>) {
    if handler != nil, self.handler == nil { self.heads = heads() }
    self.handler = handler
  }

  /// Changes were removed from the document, and are not to be told again.
  mutating func restart(at heads: Set<ChangeHash>) { self.heads = heads }

  /// The changes that the journal has not been told of; nil if there is none, or no journal.
  mutating func takeNews(of document: Document) -> Data? {
    guard handler != nil else { return nil }
    let now = document.heads()
    guard now != heads else { return nil }
    defer { heads = now }
    return (try? document.encodeChangesSince(heads: heads)) ?? Data()
  }
}
