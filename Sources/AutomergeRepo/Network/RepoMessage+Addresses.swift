extension RepoMessage {
  /// Whether a provider may deliver the message that arrived from `peer`: the peer is its sender, and `local` its target, as far
  /// as it names them. Only an ephemeral message may have another author, whose word the peer passes on.
  public func isAddressed(from peer: PeerId, to local: PeerId) -> Bool {
    switch self {
    case .document(let message): message.senderId == peer && message.targetId == local
    case .ephemeral(let message): message.targetId == local
    case .error: true
    case .other(_, let fields):
      (fields["senderId"]?.text ?? peer.description) == peer.description
        && (fields["targetId"]?.text ?? local.description) == local.description
    case .join, .peer, .leave: false
    }
  }
}
