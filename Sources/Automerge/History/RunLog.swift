/// The operations of all changes of a document, in the order in which they were applied here.
///
/// One act of one author is one run, however many changes it makes: further typing extends the last run. Only the graph
/// knows which change an operation belongs to, by its index among all operations.
final class RunLog: OpSource {
  private struct Logged: BitwiseCopyable {
    var run: OpRun
    /// The run's first operation.
    let id: OpId
    /// How many operations come before the run.
    let start: UInt32
  }

  private var logged: [Logged] = []
  private(set) var others: [OtherOp] = []
  /// How many operations there are.
  private(set) var opCount = 0
  /// The run used last: readers usually continue from there.
  private var last = 0
  let bytes: TextBytes
  let actors: ActorTable

  /// Runs of text beyond ASCII are split by counting scalars, so they stay short.
  private static let maximumWideByteCount = 512

  init(bytes: TextBytes, actors: ActorTable) { (self.bytes, self.actors) = (bytes, actors) }

  init(copying other: RunLog, bytes: TextBytes, actors: ActorTable) {
    (self.bytes, self.actors) = (bytes, actors)
    (logged, others, opCount) = (other.logged, other.others, other.opCount)
  }

  var text: [UInt8] { bytes.bytes }
  var actorList: [ActorId] { actors.actors }

  /// The number of acts that the operations form.
  var runCount: Int { logged.count }

  /// Operations are numbered with 32 bits.
  func hasRoom(for count: Int) -> Bool { count <= Int(UInt32.max) - opCount }

  // MARK: Writing

  /// Makes room for so many runs, so that none are moved when there are more of them.
  func reserve(_ count: Int) {
    var logged: [Logged] = []
    swap(&logged, &self.logged)
    logged.reserveCapacity(count)
    swap(&logged, &self.logged)
  }

  /// Adds the next operations; `id` is the first one. The caller has checked `hasRoom`.
  func append(_ run: OpRun, id: OpId) {
    let start = UInt32(opCount)
    opCount += Int(run.count)
    // Taken out while it changes: see decision 25.
    var logged: [Logged] = []
    swap(&logged, &self.logged)
    defer { swap(&logged, &self.logged) }
    if let last = logged.last, last.id.actor == id.actor, last.id.counter &+ last.run.count == id.counter,
      last.run.byteCount == last.run.count && run.byteCount == run.count
        || Int(last.run.byteCount) + Int(run.byteCount) <= Self.maximumWideByteCount,
      logged[logged.count - 1].run.merge(run, id: last.id)
    {
      return
    }
    logged.append(Logged(run: run, id: id, start: start))
  }

  /// Adds an operation that is not a run.
  func append(_ op: OtherOp, id: OpId) {
    append(.other(object: op.object, index: keep(op)), id: id)
  }

  /// Stores an operation that is not a run; returns its number, for `OpRun.other`.
  func keep(_ op: OtherOp) -> Int {
    others.append(op)
    return others.count - 1
  }

  // MARK: Reading

  /// The runs of some operations, cut to them.
  /// - Complexity: O(k + log n) for k runs among n; O(k) directly after what was read last
  func runs(in range: Range<Int>) -> [OpRun] {
    var runs: [OpRun] = []
    forEachRun(in: range) { run, _ in runs.append(run) }
    return runs
  }

  /// The run that some operations are part of; nil if there are none, or if they are in several runs.
  @inline(__always)
  func singleRun(in range: Range<Int>) -> OpRun? {
    guard !range.isEmpty else { return nil }
    let place = place(of: range.lowerBound)
    return range.upperBound <= end(of: place) ? part(of: place, range) : nil
  }

  /// The runs of some operations, cut to them, with the first operation of each.
  func forEachRun(in range: Range<Int>, _ body: (OpRun, OpId) -> Void) {
    if range.isEmpty { return }
    var place = place(of: range.lowerBound), at = range.lowerBound
    while at < range.upperBound {
      let end = min(range.upperBound, self.end(of: place))
      body(part(of: place, at..<end), logged[place].id.advanced(by: at - Int(logged[place].start)))
      (place, at) = (place + 1, end)
    }
  }

  private func end(of place: Int) -> Int { Int(logged[place].start) + Int(logged[place].run.count) }

  /// The index of the run that contains an operation.
  private func place(of position: Int) -> Int {
    precondition(position >= 0 && position < opCount, "the operation is there")
    for place in last...last + 1
    where place < logged.count && Int(logged[place].start) <= position && position < end(of: place) {
      last = place
      return place
    }
    var low = 0, high = logged.count - 1
    while low < high {
      let middle = (low + high + 1) / 2
      if Int(logged[middle].start) <= position { low = middle } else { high = middle - 1 }
    }
    last = low
    return low
  }

  /// Some operations of one run.
  private func part(of place: Int, _ range: Range<Int>) -> OpRun {
    let whole = logged[place]
    var run = whole.run
    if range.count == Int(run.count) { return run }
    let skipped = range.lowerBound - Int(whole.start)
    if skipped > 0 { _ = run.takePrefix(skipped, id: whole.id, text: bytes) }
    guard range.count < Int(run.count) else { return run.normalized }
    return run.takePrefix(range.count, id: whole.id.advanced(by: skipped), text: bytes).normalized
  }
}

extension OpRun {
  /// A single deletion counts as forward.
  fileprivate var normalized: OpRun {
    guard count == 1, kind == .deleteBackward else { return self }
    var run = self
    run.kind = .deleteForward
    return run
  }
}
