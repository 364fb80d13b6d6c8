/// Who has written here.
extension Document {
  /// The last change that `actor` made; nil if it made none.
  public func lastChange(by actor: ActorId) -> ChangeHash? {
    withCore { core in
      core.commitPending()
      guard let index = core.actors.find(actor), let row = core.graph.lastRow(of: index) else { return nil }
      core.computeHashes()
      return core.graph.hashes[Int(row)]
    }
  }
}
