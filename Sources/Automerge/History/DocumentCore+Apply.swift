/// Applying changes of other replicas.
extension DocumentCore {
  /// Applies changes, or keeps them until their dependencies arrive.
  ///
  /// - Parameter areOwn: whether this replica has accepted them before
  func receive(
    _ changes: [DecodedChange], edits: inout TextEditCollector?, areOwn: Bool = false
  ) throws(LoadError) {
    commitPending()
    computeHashes()
    if changes.count == 1, queue.isEmpty, changes[0].header.deps.allSatisfy({ graph.row(of: $0) != nil }) {
      // A keystroke of another actor.
      if graph.row(of: changes[0].hash) == nil { try applyReady(changes[0], edits: &edits, isOwn: areOwn) }
      return
    }
    for change in changes where graph.row(of: change.hash) == nil { queue.add(change) }
    var firstError: LoadError?
    while true {
      let ready = queue.takeReady(graph)
      if ready.order.isEmpty { break }
      graph.reserve(ready.order.count)
      for place in ready.order {
        do throws(LoadError) { try applyReady(ready.changes[place], edits: &edits, isOwn: areOwn) } catch {
          firstError = firstError ?? error
        }
      }
    }
    queue.trim()
    if let firstError { throw firstError }
  }

  func applyReady(
    _ change: DecodedChange, edits: inout TextEditCollector?, isOwn: Bool = false
  ) throws(LoadError) {
    guard graph.row(of: change.hash) == nil else { return }
    let deps = change.header.deps.compactMap { graph.row(of: $0).map(UInt32.init) }
    guard deps.count == change.header.deps.count else {
      // A change that it depends on turned out to be unusable.
      queue.add(change)
      return
    }
    let known = change.actorList.map { actors.index(of: $0) }
    try ChangeCheck(change, core: self, actors: known).run(deps: deps, isOwn: isOwn)
    let header = change.header
    ReceivedOps(self).apply(change, actors: known, edits: &edits)
    let record = ChangeRecord(
      actor: known[0], seq: UInt32(header.seq), startOp: header.startOp, opCount: UInt32(change.opCount),
      time: header.time)
    graph.append(record, deps: deps, message: header.message, extra: header.extra)
    graph.appendHash(change.hash)
  }
}
