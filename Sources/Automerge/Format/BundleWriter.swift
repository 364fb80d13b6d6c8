/// Writes the changes of a bundle as separate chunks.
struct BundleWriter {
  let actors: [ActorId]
  let external: [ChangeHash]
  let changes: [BundleChange]
  let rows: BundleRows

  /// One chunk per change, each after those it depends on.
  /// - Parameter budget: reduced by what the chunks take beyond what each of them counts anyway
  func chunks(taking budget: inout Int) throws(FormatError) -> [Chunk] {
    let operations = try operationsByChange()
    var hashes: [ChangeHash?] = Array(repeating: nil, count: changes.count)
    var chunks: [Chunk] = []
    for row in try dependencyOrder() {
      var deps: [ChangeHash] = []
      for dep in changes[row].deps {
        guard let hash = dep < changes.count ? hashes[dep] : external[dep - changes.count] else {
          throw .invalid(.dependency, at: 0)
        }
        deps.append(hash)
      }
      let change = changes[row]
      let header = ChangeHeader(
        deps: deps, actor: actors[Int(change.actor)], seq: UInt64(change.seq), startOp: change.startOp,
        time: change.time, message: change.message, extra: Array(change.extra))
      var decoded = DecodedChange(hash: Chunk.hash(.change, body: []), header: header, actorList: actors)
      for stretch in rows.stretches[operations[row]] { try decoded.append(stretch.rows, id: stretch.id) }
      let body = ChangeEncoder.body(header, author: change.actor, runs: decoded.runs, of: decoded)
      let counted = FormatLimits.bundleChangeByteCount + decoded.text.count + (change.message?.utf8.count ?? 0)
      try FormatLimits.take(max(0, body.count - counted), from: &budget)
      let hash = Chunk.hash(.change, body: body)
      hashes[row] = hash
      chunks.append(Chunk(kind: .change, body: body[...], hash: hash))
    }
    return chunks
  }

  /// Each change's stretches of operations. Together they are all operations, without gaps.
  private func operationsByChange() throws(FormatError) -> [Range<Int>] {
    var operations = Array(repeating: 0..<0, count: changes.count)
    var next = 0
    let order = changes.indices.sorted {
      (changes[$0].actor, changes[$0].startOp, changes[$0].seq) < (
        changes[$1].actor, changes[$1].startOp, changes[$1].seq
      )
    }
    for row in order {
      let first = next, change = changes[row]
      var left = change.opCount, counter = change.startOp
      while left > 0 {
        guard next < rows.stretches.count else { throw .rowCount(expected: left, at: 0) }
        let stretch = rows.stretches[next]
        // A stretch may not extend past the end of a change.
        guard stretch.id == OpId(counter: counter, actor: change.actor), stretch.rows.count <= left else {
          throw .invalid(.startOp, at: 0)
        }
        left -= stretch.rows.count
        counter &+= UInt32(stretch.rows.count)
        next += 1
      }
      operations[row] = first..<next
    }
    guard next == rows.stretches.count else { throw .rowCount(expected: 0, at: 0) }
    return operations
  }

  /// The rows, ordered so that each comes after its deps. Throws if the dependencies form a cycle.
  private func dependencyOrder() throws(FormatError) -> [Int] {
    var missing = changes.map { change in change.deps.count { $0 < changes.count } }
    var dependents: [Int: [Int]] = [:]
    for (row, change) in changes.enumerated() {
      for dep in change.deps where dep < changes.count { dependents[dep, default: []].append(row) }
    }
    var order = changes.indices.filter { missing[$0] == 0 }
    var next = 0
    while next < order.count {
      for row in dependents[order[next]] ?? [] {
        missing[row] -= 1
        if missing[row] == 0 { order.append(row) }
      }
      next += 1
    }
    guard order.count == changes.count else { throw .invalid(.dependency, at: 0) }
    return order
  }
}
