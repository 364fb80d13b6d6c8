/// Working at a past state: reading and writing as if all later changes had not been made.
struct Isolation {
  /// The changes that new ones are made on top of.
  var rows: [Int]
  /// Their state, as of the first `rowCount` changes.
  fileprivate var clock = Clock.now
  fileprivate var rowCount = -1

  init(rows: [Int]) { self.rows = rows }
}

extension DocumentCore {
  /// The state that is read and edited: the present, unless the document is isolated.
  var view: Clock {
    guard var isolation else { return .now }
    if isolation.rowCount != graph.count {
      (isolation.clock, isolation.rowCount) = (graph.clock(of: isolation.rows), graph.count)
      self.isolation = isolation
    }
    var clock = isolation.clock
    if let transaction { clock.set(.max, actor: transaction.author) }
    return clock
  }

  func isolate(at heads: Set<ChangeHash>) throws(DocError) {
    commitPending()
    var rows: [Int] = []
    for hash in heads {
      guard let row = row(of: hash) else { throw .unknownChange(hash) }
      rows.append(row)
    }
    isolation = Isolation(rows: rows)
  }

  /// The actor of the next transaction, and the rows that it is made on top of.
  ///
  /// An actor's changes form a chain, so what it does at a past state without its own last change is written by another
  /// actor that is named after it. Source: automerge-format, section 6.3.
  func author() -> (actor: UInt32, deps: [UInt32]?) {
    let own = ownActor
    guard let isolation else { return (own, nil) }
    let clock = view
    func isFree(_ actor: UInt32) -> Bool {
      graph.lastRow(of: actor).map { graph.records[Int($0)].seq == seq(of: actor, at: clock) } ?? true
    }
    var author = own, level: UInt64 = 0
    while !isFree(author) {
      level += 1
      var writer = ByteWriter()
      writer.raw([0x13, 0xb2, 0x23, 0x09])
      writer.uleb(level)
      writer.raw(actor.bytes)
      author = actors.index(of: ActorId(bytes: writer.bytes))
    }
    return (author, isolation.rows.map { UInt32($0) })
  }

  /// How many of an actor's changes belong to a state.
  private func seq(of actor: UInt32, at clock: Clock) -> UInt32 {
    let limit = clock.limit(actor: actor)
    return graph.records.last { $0.actor == actor && $0.startOp <= limit }?.seq ?? 0
  }

  /// An object that is about to be edited. Throws if it did not exist yet in the state in view: the change would refer to an
  /// object that its deps lack, and peers refuse such a change.
  @inline(__always)
  func inView<Content>(_ found: (OpId, Content)) throws(DocError) -> (OpId, Content) {
    if isolation != nil, !view.covers(found.0) { throw .unknownObject(objId(found.0)) }
    return found
  }

  // MARK: Sequences as they are in view

  func total(of tree: TextTree) -> TextSums { isolation == nil ? tree.total : tree.sums(at: view) }

  func gap(in tree: TextTree, before amount: Int, _ unit: TextUnit) -> TextTree.Gap {
    isolation == nil ? tree.gap(before: amount, unit) : tree.gap(before: amount, unit, at: view)
  }

  func visible(in tree: TextTree, before gap: TextTree.Gap) -> TextSums {
    if isolation == nil { return tree.visible(before: gap) }
    return tree.first == nil ? .zero : tree.sums(before: gap.place, gap.element, at: view)
  }

  func string(of tree: TextTree) -> String {
    isolation == nil ? tree.string : String(decoding: tree.utf8(at: view), as: UTF8.self)
  }
}
