extension RepoMessage {
  /// The same message with one peer id replaced by another, as sender and as target: for providers that know a peer by
  /// another id than the repo does.
  package func exchanging(_ old: PeerId, for new: PeerId) -> RepoMessage {
    func exchanged(_ peer: PeerId) -> PeerId { peer == old ? new : peer }
    switch self {
    case .join(let sender, let metadata, let versions):
      return .join(senderId: exchanged(sender), metadata: metadata, versions: versions)
    case .peer(let sender, let target, let metadata, let version):
      return .peer(
        senderId: exchanged(sender), targetId: target.map(exchanged), metadata: metadata, version: version)
    case .leave(let sender): return .leave(senderId: exchanged(sender))
    case .error(let sender, let target, let text):
      return .error(senderId: sender.map(exchanged), targetId: target.map(exchanged), message: text)
    case .document(var message):
      (message.senderId, message.targetId) = (exchanged(message.senderId), exchanged(message.targetId))
      return .document(message)
    case .ephemeral(var message):
      (message.senderId, message.targetId) = (exchanged(message.senderId), exchanged(message.targetId))
      return .ephemeral(message)
    case .other(let type, var fields):
      for name in ["senderId", "targetId"] where fields[name]?.text == old.description {
        fields[name] = .text(new.description)
      }
      return .other(type: type, fields: fields)
    }
  }
}
