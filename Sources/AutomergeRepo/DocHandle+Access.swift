import Automerge

/// Why a document and a peer's copy of it stay different though the two are linked.
extension DocHandle {
  /// Whether the peer may only read, and has changes that are not taken here.
  public func refuses(_ peer: PeerId) -> Bool {
    guard let link = sync.links.first(where: { $0.peer == peer }), link.access < .write, let theirs = link.theirHeads
    else { return false }
    return !document.unknown(theirs).isEmpty
  }

  /// Whether the peer takes nothing from here, and lacks something that is here.
  public func isRefused(by peer: PeerId) -> Bool {
    guard let link = sync.links.first(where: { $0.peer == peer }), link.state.isPeerReadOnly,
      let theirs = link.theirHeads, theirs != currentHeads
    else { return false }
    return document.unknown(theirs).isEmpty
  }
}
