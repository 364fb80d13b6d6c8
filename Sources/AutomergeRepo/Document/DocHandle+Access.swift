import Automerge

/// Whether refusals keep a document and a linked peer's copy of it different.
extension DocHandle {
  /// Whether the peer has read access only, and has changes that we refuse.
  public func refuses(_ peer: PeerId) -> Bool {
    sync.links.contains { $0.peer == peer && $0.access < .write && !document.unknown($0.heads ?? []).isEmpty }
  }

  /// Whether the peer has told us that it takes no changes of ours, or that it lacks the document, which it may not take either.
  package func limits(of peer: PeerId) -> (isReadOnly: Bool, isLacking: Bool) {
    sync.links.first { $0.peer == peer }.map { ($0.shared.isPeerReadOnly, $0.isLacking) } ?? (false, false)
  }

  /// Whether the peer refuses our changes, and lacks some of them.
  public func isRefused(by peer: PeerId) -> Bool {
    sync.index(of: peer).map { isRefused(at: $0, currentHeads) } ?? false
  }

  /// The same for the peer of the link at `index`. Called for all links after every message, so it copies none of them.
  func isRefused(at index: Int, _ heads: Set<ChangeHash>) -> Bool {
    guard let theirs = sync.links[index].heads, theirs != heads, sync.links[index].shared.isPeerReadOnly
    else { return false }
    return document.unknown(theirs).isEmpty
  }
}
