/// Changes that lack dependencies, found by what they lack.
///
/// Each waits at one dependency that the document lacks. When that arrives, the change moves on to the next one that is
/// missing, or is ready. So a message costs what it brings and what becomes ready, however many other changes wait.
struct WaitingChanges {
  private struct Waiting {
    let change: DecodedChange
    /// About how much memory it takes.
    let byteCount: Int
    /// The index of the dependency at which it waits.
    var dep = 0
  }

  /// By numbers that ascend in the order of arrival.
  private var waiting: [Int: Waiting] = [:]
  private var numbers: [ChangeHash: Int] = [:]
  /// For each dependency the changes that wait there.
  private var waitingAt: [ChangeHash: [Int]] = [:]
  /// Ascending; those of changes that no longer wait are among them.
  private var arrivals: [Int] = []
  private var nextNumber = 0
  private(set) var byteCount = 0
  /// How many rows of the document have been looked for among the dependencies.
  private var seenRows = 0

  var isEmpty: Bool { waiting.isEmpty }
  var count: Int { waiting.count }

  /// In the order of arrival.
  var all: [DecodedChange] { arrivals.compactMap { waiting[$0]?.change } }

  subscript(hash: ChangeHash) -> DecodedChange? { numbers[hash].flatMap { waiting[$0]?.change } }

  // MARK: Changing

  /// Adds changes, each of which lacks something.
  mutating func add(_ changes: some Sequence<DecodedChange>, to graph: ChangeGraph) {
    if isEmpty { seenRows = graph.hashes.count }
    for change in changes {
      let isWaiting = wait(insert(change)) { graph.row(of: $0) == nil }
      precondition(isWaiting, "a change that is not ready lacks a dependency")
    }
  }

  /// Adds changes. Then removes all that can be applied, and returns them in the order that `ReadyOrder` describes.
  mutating func takeReady(with arrived: [DecodedChange], graph: ChangeGraph) -> [DecodedChange] {
    var open: [Int] = []
    for hash in graph.hashes[seenRows...] { open += waitingAt.removeValue(forKey: hash) ?? [] }
    seenRows = graph.hashes.count
    for change in arrived { open.append(insert(change)) }
    var ready = ready(of: open) { graph.row(of: $0) == nil }
    var passed: Set<ChangeHash> = [], next = 0
    while next < ready.count {
      if let hash = waiting[ready[next]]?.change.hash {
        passed.insert(hash)
        if let open = waitingAt.removeValue(forKey: hash) {
          ready += self.ready(of: open) { graph.row(of: $0) == nil && !passed.contains($0) }
        }
      }
      next += 1
    }
    return ready.compactMap { remove($0) }
  }

  /// Removes the change that arrived last.
  mutating func removeLast() {
    while let number = arrivals.popLast() {
      guard let last = waiting[number] else { continue }
      let dep = last.change.header.deps[last.dep]
      if let place = waitingAt[dep]?.lastIndex(of: number) { waitingAt[dep]?.remove(at: place) }
      if waitingAt[dep]?.isEmpty == true { waitingAt[dep] = nil }
      _ = remove(number)
      return
    }
  }

  private mutating func insert(_ change: DecodedChange) -> Int {
    let number = nextNumber
    nextNumber += 1
    var byteCount = change.text.count + 128 * (1 + change.runs.count) + 32 * change.header.deps.count
    byteCount += 512 * change.opWeight
    waiting[number] = Waiting(change: change, byteCount: byteCount)
    numbers[change.hash] = number
    arrivals.append(number)
    self.byteCount += byteCount
    return number
  }

  private mutating func remove(_ number: Int) -> DecodedChange? {
    guard let removed = waiting.removeValue(forKey: number) else { return nil }
    numbers[removed.change.hash] = nil
    byteCount -= removed.byteCount
    if arrivals.count > 2 * waiting.count + 64 { arrivals.removeAll { waiting[$0] == nil } }
    return removed.change
  }

  /// Those of some changes that lack nothing, in the order of arrival. The others wait.
  private mutating func ready(of open: [Int], isMissing: (ChangeHash) -> Bool) -> [Int] {
    open.filter { !wait($0, isMissing: isMissing) }.sorted()
  }

  /// Lets a change wait at its next missing dependency; false if it has none.
  private mutating func wait(_ number: Int, isMissing: (ChangeHash) -> Bool) -> Bool {
    guard let each = waiting[number] else { return false }
    let deps = each.change.header.deps
    guard let dep = (deps[each.dep...].firstIndex(where: isMissing) ?? deps[..<each.dep].firstIndex(where: isMissing))
    else { return false }
    waiting[number]?.dep = dep
    waitingAt[deps[dep], default: []].append(number)
    return true
  }
}
