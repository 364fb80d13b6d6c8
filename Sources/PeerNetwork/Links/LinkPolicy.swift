import AutomergeRepo

/// What a provider asks about a peer, because only the directory knows.
struct LinkPolicy {
  typealias Question = @AutomergeRepo (PeerId) -> Bool

  /// Whether we know a peer, so that it may send long messages.
  var isKnown: Question = { _ in false }
  /// Whether the program admits a peer that no person has met, so that it may send long messages, too.
  var isAdmitted: Question = { _ in false }
  /// Whether a peer is announced on a network of this machine.
  var isNearby: Question = { _ in false }
  /// Whether this person waits for an answer from a peer that may be a stranger.
  var isAwaited: Question = { _ in false }
  /// The host whose lists alone make a peer known; nil for strangers, and for peers with which this person dealt itself.
  var introducer: @AutomergeRepo (PeerId) -> PeerId? = { _ in nil }
  /// Whether a peer gets no answers, as when it is blocked.
  var isBlocked: Question = { _ in false }
}
