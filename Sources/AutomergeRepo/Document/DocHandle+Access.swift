import Automerge

/// Whether refusals keep a document and a linked peer's copy of it different.
extension DocHandle {
  /// Whether the peer has read access only, and has changes that we refuse.
  public func refuses(_ peer: PeerId) -> Bool {
    guard let link = sync.links.first(where: { $0.peer == peer }), link.access < .write, let theirs = link.heads
    else { return false }
    return !document.unknown(theirs).isEmpty
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
