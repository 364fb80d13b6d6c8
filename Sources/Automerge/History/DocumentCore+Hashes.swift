/// Hashing changes: their bytes are made again from the log.
extension DocumentCore {
  /// Computes the hashes of all changes that have none yet.
  func computeHashes() {
    guard graph.hashes.count < graph.count else { return }
    var encoder = SingleRunEncoder()
    graph.reserve(graph.count - graph.hashes.count)
    while graph.hashes.count < graph.count {
      let row = graph.hashes.count
      if encoder.write(row: row, of: self) {
        let hash = encoder.changeHash()
        graph.appendHash(hash)
        if row == graph.count - 1 { keepNewest(encoder.chunk(named: hash), byteCount: encoder.body.count, ofRow: row) }
      } else {
        graph.appendHash(Chunk.hash(.change, body: anyBody(ofRow: row)))
      }
    }
  }

  /// Compares the heads of a document that was loaded unverified with those that it should have.
  func verify() throws(LoadError) {
    guard !graph.isVerified else { return }
    computeHashes()
    try graph.verify()
  }

  /// The body of a change's chunk. Its dependencies must have their hashes.
  func body(ofRow row: Int) -> [UInt8] {
    var encoder = SingleRunEncoder()
    return encoder.write(row: row, of: self) ? Array(encoder.body) : anyBody(ofRow: row)
  }

  private func anyBody(ofRow row: Int) -> [UInt8] {
    let record = graph.records[row]
    return ChangeEncoder.body(header(ofRow: row), author: record.actor, runs: log.runs(in: record.ops), of: log)
  }
}

extension SingleRunEncoder {
  /// Writes the body of a change that is one run of plain text or of deletions; false if it is another kind of change.
  fileprivate mutating func write(row: Int, of core: DocumentCore) -> Bool {
    let record = core.graph.records[row]
    guard core.graph.extras.isEmpty || core.graph.extras[row] == nil, let run = core.log.singleRun(in: record.ops)
    else {
      return false
    }
    guard run.kind != .other, run.kind != .insertText || run.byteCount == run.count else { return false }
    let author = record.actor
    // The other actors that the change names, in byte order.
    var first = run.object.actor == author ? nil : Optional(run.object.actor), second: UInt32?
    if !run.target.isZero, run.target.actor != author, run.target.actor != first {
      (first, second) = first == nil ? (run.target.actor, nil) : (first, run.target.actor)
      if let left = first, let right = second, core.actors.ranks[Int(left)] > core.actors.ranks[Int(right)] {
        (first, second) = (right, left)
      }
    }
    func number(_ actor: UInt32) -> Int { actor == author ? 0 : actor == first ? 1 : 2 }
    let message = core.graph.messages.isEmpty ? nil : core.graph.messages[row]
    let deps = core.graph.deps(of: row)
    begin(
      room: 32 * deps.count + 3 * FormatLimits.actorByteCount + (message?.utf8.count ?? 0)
        + Int(run.byteCount))
    count(deps.count)
    for dep in deps { hash(core.graph.hashes[Int(dep)]) }
    head(
      .init(seq: UInt64(record.seq), startOp: record.startOp, time: record.time, message: message),
      actor: core.actors[author])
    count(first == nil ? 0 : second == nil ? 1 : 2)
    if let first { actor(core.actors[first]) }
    if let second { actor(core.actors[second]) }
    let object = SingleRunEncoder.Id(actor: number(run.object.actor), counter: run.object.counter)
    let target =
      run.target.isZero
      ? nil : SingleRunEncoder.Id(actor: number(run.target.actor), counter: run.target.counter)
    if run.kind == .insertText {
      core.bytes.bytes.withUnsafeBufferPointer {
        table(
          object: object, target: target, id: record.startOp, count: Int(run.count),
          .text(UnsafeBufferPointer(rebasing: $0[run.textRange])))
      }
    } else {
      table(
        object: object, target: target, id: record.startOp, count: Int(run.count), .deletion(step: Int64(run.step)))
    }
    return true
  }
}
