import Automerge

/// Why a document and a linked peer's copy of it stay different.
extension DocHandle {
  /// Whether the peer has read access only, and changes that we refuse.
  public func refuses(_ peer: PeerId) -> Bool {
    guard let link = sync.links.first(where: { $0.peer == peer }), link.access < .write, let theirs = link.theirHeads
    else { return false }
    return !document.unknown(theirs).isEmpty
  }

  /// Whether the peer refuses our changes, and lacks some of them.
  public func isRefused(by peer: PeerId) -> Bool {
    guard let link = sync.links.first(where: { $0.peer == peer }), link.state.isPeerReadOnly,
      let theirs = link.theirHeads, theirs != currentHeads
    else { return false }
    return document.unknown(theirs).isEmpty
  }
}
