/// How far the search for a document is: what the store and each peer have answered so far.
///
///     asking ──all have answered, or one has it, or the time is over──► outcome
public struct FindProgress: Sendable {
  /// Where a document is looked for.
  public enum Source: Hashable, Sendable {
    case storage
    case peer(PeerId)
  }

  public enum Answer: Hashable, Sendable {
    /// The source was asked, and has not answered.
    case asked
    /// The source does not have the document, or does not share it with us.
    case lacks
    /// The source has begun to send the document.
    case sends
  }

  public let id: DocumentId
  /// Peers are listed from the moment they are asked, which is after the store has answered.
  public var sources: [Source: Answer]
  /// The outcome of the search; nil while it lasts.
  public var outcome: FindOutcome?

  init(id: DocumentId, sources: [Source: Answer], outcome: FindOutcome? = nil) {
    (self.id, self.sources, self.outcome) = (id, sources, outcome)
  }

  /// Whether some source may still answer.
  public var isAsking: Bool { outcome == nil }
}
