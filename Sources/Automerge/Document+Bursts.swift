import Foundation

/// What one author did to a text without a long pause.
public struct Burst: Hashable, Sendable {
  public let actor: ActorId
  /// The times of its first and last change, by the author's clock, in whole seconds.
  public let start: Date
  public let end: Date
  /// Counted in Unicode scalars, including those that are deleted again.
  public let inserted: Int
  public let deleted: Int
  /// The numbers of the first and last change among the actor's changes, which are numbered from 1.
  public let numbers: ClosedRange<Int>
  /// The message of its changes, if they have one.
  public let message: String?
  /// The beginning of the inserted text.
  public let excerpt: String
  /// The state before the burst: what the document had when its first change was applied here.
  public let before: Set<ChangeHash>
  /// The state after the burst, with what others had done by then. Their changes may be in the bursts of the same time, too.
  public let heads: Set<ChangeHash>
}

extension Document {
  /// The history of a text as a person would tell it: which author wrote how much, and when, oldest first.
  ///
  /// Consecutive changes of an author with the same message are one burst, and so are those without a message that are
  /// at most `pause` seconds apart.
  /// - Parameter excerptLength: the most scalars of an excerpt.
  /// - Complexity: O(n) in the changes of the document.
  public func bursts(obj: ObjId, pause: TimeInterval = 120, excerptLength: Int = 60) throws -> [Burst] {
    try withCore { core in
      core.commitPending()
      let text = try core.text(obj).id
      core.computeHashes()
      var history = BurstHistory(core: core, text: text, pause: pause, excerptLength: excerptLength)
      return history.bursts(before: nil, limit: .max, maximumHeads: .max) ?? []
    }
  }

  /// A page of the history of a text: its last bursts, the oldest first.
  ///
  /// - Parameters:
  ///   - before: the state after a burst; the page ends before that burst. Nil for the whole history.
  ///   - limit: the most bursts.
  ///   - maximumHeads: the most heads that the states of the page have together. A page that ends with a state of more is that
  ///     burst alone.
  /// - Returns: nil if no burst has the state `before`.
  /// - Complexity: O(n) in the changes of the document, without what naming the states before the page would cost.
  public func bursts(
    obj: ObjId, before: Set<ChangeHash>?, limit: Int, maximumHeads: Int = 4096, pause: TimeInterval = 120,
    excerptLength: Int = 60
  ) throws -> [Burst]? {
    try withCore { core in
      core.commitPending()
      let text = try core.text(obj).id
      core.computeHashes()
      var history = BurstHistory(core: core, text: text, pause: pause, excerptLength: excerptLength)
      return history.bursts(before: before, limit: limit, maximumHeads: maximumHeads)
    }
  }
}

extension Document {
  /// The burst after which a document had a state; nil if there is none.
  /// - Complexity: O(n) in the changes of the document.
  public func burst(obj: ObjId, with heads: Set<ChangeHash>, pause: TimeInterval = 120) throws -> Burst? {
    try withCore { core in
      core.commitPending()
      let text = try core.text(obj).id
      core.computeHashes()
      var history = BurstHistory(core: core, text: text, pause: pause, excerptLength: 0)
      return history.burst(with: heads)
    }
  }
}

/// Walks through a document's changes once, and collects those of one text.
private struct BurstHistory {
  private struct Open {
    let actor: UInt32
    let start: Int64
    var end: Int64
    let firstNumber: Int
    var lastNumber: Int
    var inserted = 0
    var deleted = 0
    let message: String?
    var excerpt: [UInt8] = []
    var excerptCount = 0
    let firstRow: Int
    var lastRow: Int
  }

  let core: DocumentCore
  let text: OpId
  let pause: TimeInterval
  let excerptLength: Int
  private var found: [Open] = []
  /// Each actor's last burst.
  private var last: [UInt32: Int] = [:]

  init(core: DocumentCore, text: OpId, pause: TimeInterval, excerptLength: Int) {
    (self.core, self.text, self.pause, self.excerptLength) = (core, text, pause, excerptLength)
  }

  mutating func bursts(before: Set<ChangeHash>?, limit: Int, maximumHeads: Int) -> [Burst]? {
    find()
    var page = found[...]
    if let before {
      guard let place = place(of: before) else { return nil }
      page = page[..<place]
    }
    page = page.suffix(max(0, limit))
    if maximumHeads < .max {
      var count = 0
      let counts = headCounts(after: Set(page.map(\.lastRow)))
      let fitting = page.reversed().prefix { burst in
        count += counts[burst.lastRow] ?? 0
        return count <= maximumHeads
      }
      page = page.suffix(max(1, fitting.count))
    }
    return bursts(page)
  }

  mutating func burst(with heads: Set<ChangeHash>) -> Burst? {
    find()
    return place(of: heads).flatMap { bursts(found[$0...$0]).first }
  }

  private mutating func find() {
    for row in 0..<core.graph.count { add(row) }
    found.sort { $0.lastRow < $1.lastRow }
  }

  /// The burst after which the document had these heads. Its last change is one of them, and none is newer.
  private func place(of heads: Set<ChangeHash>) -> Int? {
    guard let last = heads.compactMap({ core.graph.row(of: $0) }).max(), self.heads(after: [last])[last] == heads else {
      return nil
    }
    return found.firstIndex { $0.lastRow == last }
  }

  private func bursts(_ page: ArraySlice<Open>) -> [Burst] {
    let heads = heads(after: Set(page.flatMap { [$0.firstRow - 1, $0.lastRow] }))
    return page.map { burst($0, before: heads[$0.firstRow - 1] ?? [], heads[$0.lastRow] ?? []) }
  }

  private func burst(_ burst: Open, before: Set<ChangeHash>, _ heads: Set<ChangeHash>) -> Burst {
    Burst(
      actor: core.actors[burst.actor], start: Date(timeIntervalSince1970: Double(burst.start)),
      end: Date(timeIntervalSince1970: Double(burst.end)), inserted: burst.inserted, deleted: burst.deleted,
      numbers: burst.firstNumber...max(burst.firstNumber, burst.lastNumber), message: burst.message,
      excerpt: String(decoding: burst.excerpt, as: UTF8.self), before: before, heads: heads)
  }

  private mutating func add(_ row: Int) {
    let record = core.graph.records[row], runs = core.log.runs(in: record.ops)
    guard runs.contains(where: { $0.object == text }) else { return }
    let message = core.graph.messages[row]
    var place = last[record.actor]
    if let index = place {
      let isNear = abs(Double(record.time) - Double(found[index].end)) <= pause
      if found[index].message != message || message == nil && !isNear { place = nil }
    }
    let index = place ?? found.count
    if place == nil {
      let number = Int(record.seq)
      found.append(
        Open(
          actor: record.actor, start: record.time, end: record.time, firstNumber: number, lastNumber: number,
          message: message, firstRow: row, lastRow: row))
      last[record.actor] = index
    }
    found[index].end = record.time
    found[index].lastNumber = Int(record.seq)
    found[index].lastRow = row
    for run in runs where run.object == text { count(run, in: index) }
  }

  private mutating func count(_ run: OpRun, in index: Int) {
    switch run.kind {
    case .insertText:
      found[index].inserted += Int(run.count)
      let missing = excerptLength - found[index].excerptCount
      guard missing > 0 else { return }
      let start = Int(run.text), count = min(missing, Int(run.count))
      let end = count == Int(run.count) ? start + Int(run.byteCount) : core.bytes.advance(start, scalars: count)
      found[index].excerpt += core.bytes.bytes[start..<end]
      found[index].excerptCount += count
    case .deleteForward, .deleteBackward: found[index].deleted += Int(run.count)
    case .other:
      switch core.log.others[Int(run.text)].action {
      case .delete: found[index].deleted += 1
      case .increment, .mark: break
      case .makeMap, .makeList, .makeText, .makeTable, .set: found[index].inserted += 1
      }
    }
  }

  /// The heads of the states that end with these rows, by row. Before the first row there are none.
  private func heads(after rows: Set<Int>) -> [Int: Set<ChangeHash>] {
    states(after: rows) { present in Set(present.map { core.graph.hashes[Int($0)] }) }
  }

  private func headCounts(after rows: Set<Int>) -> [Int: Int] { states(after: rows) { $0.count } }

  /// What `body` says of the heads of these states.
  private func states<Value>(after rows: Set<Int>, _ body: (Set<UInt32>) -> Value) -> [Int: Value] {
    var states: [Int: Value] = [:], present: Set<UInt32> = []
    guard let end = rows.max() else { return [:] }
    for row in 0..<max(0, end + 1) {
      for dependency in core.graph.deps(of: row) { present.remove(dependency) }
      present.insert(UInt32(row))
      if rows.contains(row) { states[row] = body(present) }
    }
    return states
  }
}
