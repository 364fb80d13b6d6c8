import Foundation

/// Looking back, and going on from an earlier state.
extension Document {
  /// A change by its name; nil if it is none of this document.
  public func change(hash: ChangeHash) -> Change? {
    withCore { core in
      core.commitPending()
      return core.row(of: hash).map { core.change(ofRow: $0) }
    }
  }

  /// The changes that are not among `heads` nor come before them, each behind those it was made on top of. Unknown
  /// heads count for nothing.
  public func changes(since heads: Set<ChangeHash>) -> [Change] {
    withCore { core in
      core.commitPending()
      let rows = core.graph.rows(notAncestorsOf: heads.compactMap { core.row(of: $0) })
      return rows.map { core.change(ofRow: $0) }
    }
  }

  /// Goes back to the state at `heads`: until `integrate`, all is read and edited as it was then, `heads` are those, and
  /// what is done there goes into changes on top of them. What comes in meanwhile is taken in, but does not show. Text
  /// edits and measures in UTF-8 are of the present all the same. Throws `DocError.unknownChange` if one of them is not
  /// a change of this document.
  public func isolate(heads: Set<ChangeHash>) throws { try withCore { try $0.isolate(at: heads) } }

  /// Comes back to the present from where `isolate` went.
  public func integrate() {
    withCore { core in
      core.commitPending()
      core.isolation = nil
    }
  }

  /// The document as it was at `heads`, to be changed independently, by a new actor. Throws `DocError.unknownChange` if
  /// one of them is not a change of this document.
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
  /// The changes have their hashes.
  func change(ofRow row: Int) -> Change {
    let header = header(ofRow: row)
    return Change(
      actorId: header.actor, message: header.message, deps: header.deps,
      timestamp: Date(timeIntervalSince1970: Double(header.time)), bytes: Data(chunk(ofRow: row)),
      hash: graph.hashes[row])
  }
}
