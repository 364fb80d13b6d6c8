import Foundation

extension Document {
  /// The state of a document after a burst of one of its texts.
  package struct RecentState: Hashable, Sendable {
    /// The time of the burst's last change, by its author's clock.
    package let end: Date
    package let heads: Set<ChangeHash>
  }

  /// The last states of a text that `bursts` would name, the newest first, found without reading the whole history. Editors
  /// may ask for these at every move of the caret.
  ///
  /// - Parameters:
  ///   - limit: the most states.
  ///   - maximumHeads: the most heads that they have together, unless the first alone has more.
  ///   - effort: the most changes and runs of operations to look at. States before these are left out.
  /// - Complexity: O(min(n, `effort`)) in the changes of the document.
  package func recentStates(
    obj: ObjId, limit: Int, maximumHeads: Int = 4096, pause: TimeInterval = 120, effort: Int = 16_384
  ) throws -> [RecentState] {
    try withCore { core in
      core.commitPending()
      let text = try core.text(obj).id
      core.computeHashes()
      return core.recentStates(of: text, limit: limit, maximumHeads: maximumHeads, pause: pause, effort: effort)
    }
  }
}

extension DocumentCore {
  /// Walks back from the newest change. The bursts are met in the order of their last changes, the newest first.
  fileprivate func recentStates(
    of text: OpId, limit: Int, maximumHeads: Int, pause: TimeInterval, effort: Int
  ) -> [Document.RecentState] {
    var states: [Document.RecentState] = [], headCount = 0, left = effort
    /// The heads of the state after `row`.
    var present = Set(graph.heads)
    /// For each actor the change of the text that comes next.
    var next: [UInt32: (time: Int64, message: String?)] = [:]
    for row in (0..<graph.count).reversed() {
      let record = graph.records[row], runs = log.runs(in: record.ops)
      left -= 1 + runs.count
      guard left >= 0 else { break }
      if runs.contains(where: { $0.object == text }) {
        let message = graph.messages[row]
        let goesOn = next[record.actor].map { next in
          next.message == message && (message != nil || abs(Double(next.time) - Double(record.time)) <= pause)
        }
        if goesOn != true {
          headCount += present.count
          guard states.count < limit, headCount <= maximumHeads || states.isEmpty else { break }
          states.append(
            Document.RecentState(
              end: Date(timeIntervalSince1970: Double(record.time)), heads: Set(present.map { graph.hashes[Int($0)] })))
        }
        next[record.actor] = (record.time, message)
      }
      present.remove(UInt32(row))
      for dependency in graph.deps(of: row) {
        // It is a head again unless a change in between depends on it, too.
        left -= row - Int(dependency) - 1
        guard left >= 0 else { return states }
        let isFollowed = (Int(dependency) + 1..<row).contains { graph.deps(of: $0).contains(dependency) }
        if !isFollowed { present.insert(dependency) }
      }
    }
    return states
  }
}
