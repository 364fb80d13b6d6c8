import Foundation

/// Reading the history, and continuing from an earlier state.
extension Document {
  /// The change with this hash; nil if the document does not have it.
  public func change(hash: ChangeHash) -> Change? {
    withCore { core in
      core.commitPending()
      return core.row(of: hash).map { core.change(ofRow: $0) }
    }
  }

  /// The changes that are neither among `heads` nor their ancestors, each after those it depends on. Unknown heads are
  /// ignored.
  public func changes(since heads: Set<ChangeHash>) -> [Change] {
    withCore { core in
      core.commitPending()
      let rows = core.graph.rows(notAncestorsOf: heads.compactMap { core.row(of: $0) })
      return rows.map { core.change(ofRow: $0) }
    }
  }

  /// Goes back to the state at `heads`. Until `integrate`, everything is read and edited as it was then, `heads` are
  /// those, and edits become changes on top of them. Incoming changes are applied, but not visible. Text edits and
  /// measures in UTF-8 still refer to the present. Throws `DocError.unknownChange` if the document does not have one of
  /// the heads.
  public func isolate(heads: Set<ChangeHash>) throws { try withCore { try $0.isolate(at: heads) } }

  /// Returns to the present after `isolate`.
  public func integrate() {
    withCore { core in
      core.commitPending()
      core.isolation = nil
    }
  }

  /// The document as it was at `heads`, to be changed independently, by a new actor. Throws `DocError.unknownChange` if
  /// the document does not have one of them.
  public func forkAt(heads: Set<ChangeHash>) throws -> Document {
    let fork = Document(textEncoding: textEncoding)
    let changes = try withCore { core in
      core.commitPending()
      var rows: [Int] = []
      for hash in heads {
        guard let row = core.row(of: hash) else { throw DocError.unknownChange(hash) }
        rows.append(row)
      }
      let later = Set(core.graph.rows(notAncestorsOf: rows))
      return try (0..<core.graph.count).filter { !later.contains($0) }.map { try core.decodedChange(ofRow: $0) }
    }
    var edits: TextEditCollector?
    try fork.withCore { try $0.receive(changes, edits: &edits) }
    return fork
  }
}

extension DocumentCore {
  /// The changes must have their hashes.
  func change(ofRow row: Int) -> Change {
    let header = header(ofRow: row)
    return Change(
      actorId: header.actor, message: header.message, deps: header.deps,
      timestamp: Date(timeIntervalSince1970: Double(header.time)), bytes: Data(chunk(ofRow: row)),
      hash: graph.hashes[row])
  }
}
