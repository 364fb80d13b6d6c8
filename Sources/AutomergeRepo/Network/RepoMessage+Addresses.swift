extension RepoMessage {
  /// Whether a provider may deliver a message from `peer`: if it names a sender and a target, these must be `peer` and
  /// `local`. Only an ephemeral message may have another author, for whom the peer passes it on.
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
