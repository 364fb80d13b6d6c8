import Synchronization

/// Copies of a document at past states. Each advances from where it was last used. Safe to use from several threads.
final class Pasts: Sendable {
  /// A copy that contains one change and its ancestors.
  private struct Past {
    let document: Document
    /// For each row of the whole document, whether the copy has it.
    var rows: [Bool] = []
    /// The change.
    var head: Int?
  }

  /// How many are kept, the most recently used ones: one for each line of changes that were made at the same time.
  private static let limit = 8

  let document: Document
  /// The most recently used one is last. One that is being read is not in the list.
  private let pasts = Mutex<[Past]>([])

  init(of document: Document) { self.document = document }

  /// Reads the state that consists of a change and its ancestors; an empty one if the document no longer has the change.
  func read<Result>(at hash: ChangeHash, _ body: (Document) throws -> Result) throws -> Result {
    guard let row = document.withCore({ $0.row(of: hash) }) else { return try body(emptyCopy()) }
    var (past, missing) = take(for: row)
    let changes = try document.withCore { core throws in
      try missing.map { try core.decodedChange(ofRow: $0) }
    }
    try past.document.replacingCore { core in
      var edits: TextEditCollector?
      try core.receive(changes, edits: &edits)
    }
    let last = max(row, past.rows.count - 1)
    past.rows += repeatElement(false, count: last + 1 - past.rows.count)
    for row in missing { past.rows[row] = true }
    past.head = row
    defer { put(back: past) }
    return try body(past.document)
  }

  private func emptyCopy() -> Document { Document(textEncoding: document.textEncoding) }

  /// The copy that has most of what is wanted and nothing else, and the rows that it lacks, ascending.
  private func take(for row: Int) -> (Past, missing: [Int]) {
    pasts.withLock { pasts in
      // Of the copies that contain an ancestor, the one with the latest head has most.
      for place in pasts.indices.sorted(by: { pasts[$0].head ?? -1 > pasts[$1].head ?? -1 }) {
        guard let head = pasts[place].head, head <= row else { continue }
        if let missing = document.withCore({ $0.rows(upTo: row, from: head, besides: pasts[place].rows) }) {
          return (pasts.remove(at: place), missing)
        }
      }
      return (Past(document: emptyCopy()), document.withCore { $0.rows(upTo: row, from: nil, besides: []) } ?? [])
    }
  }

  private func put(back past: Past) {
    pasts.withLock { pasts in
      pasts.append(past)
      if pasts.count > Self.limit { pasts.removeFirst() }
    }
  }
}

extension DocumentCore {
  /// A row and its ancestors, ascending, without `known` and its ancestors; nil if `known` is not among the ancestors.
  /// - Complexity: O(n log n) in the rows found; if `known` is not an ancestor, in the rows between
  fileprivate func rows(upTo row: Int, from known: Int?, besides isKnown: [Bool]) -> [Int]? {
    func isIn(_ row: Int) -> Bool { row < isKnown.count && isKnown[row] }
    if let known, !hasAncestor(known, row) { return nil }
    if isIn(row) { return [] }
    var found: Set<Int> = [row], open = [row]
    while let next = open.popLast() {
      for dep in graph.deps(of: next).map(Int.init) where !isIn(dep) && found.insert(dep).inserted { open.append(dep) }
    }
    return found.sorted()
  }

  /// Whether a row is another one or one of its ancestors.
  private func hasAncestor(_ ancestor: Int, _ row: Int) -> Bool {
    var seen: Set<Int> = [], open = [row]
    while let next = open.popLast() {
      if next == ancestor { return true }
      // Deps have smaller rows.
      for dep in graph.deps(of: next).map(Int.init) where dep >= ancestor && seen.insert(dep).inserted {
        open.append(dep)
      }
    }
    return false
  }
}
