import Foundation

/// The changes of a document in the order in which it received them, each with the content at that time.
public struct History<Model: Codable>: RandomAccessCollection, Sendable {
  public let commits: [Commit<Model>]

  /// The history up to now, without later changes.
  /// - Complexity: O(n) in the changes. The content at each is read when it is requested.
  public init(_ typed: TypedDocument<Model>) {
    let document = typed.document, pasts = Pasts(of: document)
    commits = document.withCore { core in
      core.commitPending()
      core.computeHashes()
      return core.graph.records.indices.map { row in
        let record = core.graph.records[row]
        return Commit(
          pasts: pasts, hash: core.graph.hashes[row], actor: core.actors[record.actor],
          message: core.graph.messages[row], timestamp: Date(timeIntervalSince1970: Double(record.time)))
      }
    }
  }

  public var startIndex: Int { commits.startIndex }
  public var endIndex: Int { commits.endIndex }
  public subscript(index: Int) -> Commit<Model> { commits[index] }
}

/// One change and the content that it led to.
public struct Commit<Model: Codable>: Sendable {
  /// Shared by the commits of one history.
  let pasts: Pasts
  public let hash: ChangeHash
  public let actor: ActorId
  public let message: String?
  /// Whole seconds, by the author's clock.
  public let timestamp: Date

  /// The value as its author saw it right after the change: the result of the change and its ancestors. Throws what
  /// `AutomergeDecoder` throws if this is not a `Model`.
  ///
  /// Its texts and counters are unbound; changing them changes nothing else.
  /// - Complexity: O(n) in the content, and in the ancestors since the latest one of the same history whose value was
  ///   read before. So reading one commit after the other is cheap.
  public var snapshot: Model {
    get throws {
      try pasts.read(at: hash) { try AutomergeDecoder(doc: $0).decodeUnbound(Model.self) }
    }
  }
}
