import Foundation

/// The changes of a document in the order in which it got them, each with what the document held then.
public struct History<Model: Codable>: RandomAccessCollection, Sendable {
  public let commits: [Commit<Model>]

  /// The history up to now. Later changes are not in it.
  /// - Complexity: O(n) in the changes. What they held is read when it is asked for.
  public init(_ typed: TypedDocument<Model>) {
    let document = typed.document
    commits = document.withCore { core in
      core.commitPending()
      core.computeHashes()
      return core.graph.records.indices.map { row in
        let record = core.graph.records[row]
        return Commit(
          document: document, hash: core.graph.hashes[row], actor: core.actors[record.actor],
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
  let document: Document
  public let hash: ChangeHash
  public let actor: ActorId
  public let message: String?
  /// Whole seconds, by the author's clock.
  public let timestamp: Date

  /// The value as its author saw it right after the change: made of the change and all that came before it. Throws what
  /// `AutomergeDecoder` throws if that was no `Model`.
  ///
  /// Its texts and counters belong to a copy of that time; changing them changes nothing else.
  /// - Complexity: O(n) in the changes that came before.
  public var snapshot: Model {
    get throws { try AutomergeDecoder(doc: try document.copy(at: hash)).decode(Model.self) }
  }
}

extension Document {
  /// A document that consists of a change and its ancestors.
  func copy(at hash: ChangeHash) throws -> Document {
    let changes = try withCore { core throws in
      guard let last = core.row(of: hash) else { return [DecodedChange]() }
      let later = Set(core.graph.rows(notAncestorsOf: [last]))
      return try core.graph.records.indices.filter { !later.contains($0) }.map { try core.decodedChange(ofRow: $0) }
    }
    let copy = Document(textEncoding: textEncoding)
    try copy.replacingCore { core in
      var edits: TextEditCollector?
      try core.receive(changes, edits: &edits)
    }
    return copy
  }
}
