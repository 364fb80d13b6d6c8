import Foundation

/// The changes of a document in the order in which it got them, each with what the document held then.
public struct History<Model: Codable>: RandomAccessCollection, Sendable {
  public let commits: [Commit<Model>]

  /// The history up to now. Later changes are not in it.
  /// - Complexity: O(n) in the changes. What they held is read when it is asked for.
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

/// One change and what it led to.
public struct Commit<Model: Codable>: Sendable {
  /// Shared by the commits of one history.
  let pasts: Pasts
  public let hash: ChangeHash
  public let actor: ActorId
  public let message: String?
  /// Whole seconds, by the author's clock.
  public let timestamp: Date

  /// The value as its author saw it right after the change: made of the change and all that came before it. Throws what
  /// `AutomergeDecoder` throws if that was no `Model`.
  ///
  /// Its texts and counters stand by themselves; changing them changes nothing else.
  /// - Complexity: O(n) in what the document held, and in the changes that came before; of those, only in what came since an
  ///   earlier commit of the same history whose value was asked for before. So reading one after the other is cheap.
  public var snapshot: Model {
    get throws {
      try pasts.read(at: hash) { try AutomergeDecoder(doc: $0).decodeUnbound(Model.self) }
    }
  }
}
