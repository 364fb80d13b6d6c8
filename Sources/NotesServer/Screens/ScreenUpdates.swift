import AutomergeRepo
import JSONRPC

/// The lists that an editor shows, as they were last sent: a list of ten thousand lines is sent once, its first page
/// before the rest, and then only what has changed in it.
@AutomergeRepo
final class ScreenUpdates {
  /// How many lists are remembered; an editor that shows more is sent the oldest as a whole again.
  private static let maximumKept = 4

  private var kept: [(token: Int, lines: [ScreenLine])] = []
  private var lastToken = 0

  /// - Parameters:
  ///   - token: identifies the lines that the editor has; nil if it has none
  ///   - count: the most lines that the editor wants now, if it has none.
  func answer(_ table: ScreenTable, since token: Int?, atMost count: Int?) -> ScreenAnswer {
    let known = kept.first { $0.token == token }?.lines
    let lines = table.lines(atMost: known == nil ? count : nil)
    let change = known.map { ScreenChange(from: $0, to: lines) }
    lastToken += 1
    kept.removeAll { $0.token == token }
    kept = kept.suffix(Self.maximumKept - 1) + [(lastToken, lines)]
    return ScreenAnswer(lines, change, token: lastToken, isPart: lines.count < table.count)
  }
}

/// A line of a list, with its row in JSON.
struct ScreenLine: Hashable {
  let text: String
  let row: [UInt8]
}

/// The lines of a list that are replaced by others.
struct ScreenChange: Hashable {
  /// The index of the first one, and how many are removed.
  let first: Int
  let removed: Int
  /// The new lines in their place.
  let added: Range<Int>

  /// - Complexity: O(n)
  init(from old: [ScreenLine], to new: [ScreenLine]) {
    let shortest = min(old.count, new.count)
    var start = 0
    while start < shortest, old[start] == new[start] { start += 1 }
    var end = 0
    while end < shortest - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    (first, removed, added) = (start, old.count - start - end, start..<new.count - end)
  }
}

extension ScreenTable {
  /// The first lines; laying out the others may wait.
  func lines(atMost count: Int?) -> [ScreenLine] {
    let count = min(count ?? .max, self.count)
    return zip(texts(ofFirst: count), encodedRows(ofFirst: count)).map { ScreenLine(text: $0, row: $1) }
  }
}

extension ScreenAnswer {
  /// - Parameter isPart: whether there are more lines than these
  fileprivate init(_ lines: [ScreenLine], _ change: ScreenChange?, token: Int, isPart: Bool) {
    var writer = JSONTextWriter()
    let shown = lines[change?.added ?? lines.indices]
    writer.object { writer in
      writer.key("token")
      writer.integer(token)
      if isPart {
        writer.key("more")
        writer.bool(true)
      }
      if let change {
        writer.key("first")
        writer.integer(change.first)
        writer.key("removed")
        writer.integer(change.removed)
      }
      writer.key("lines")
      writer.array { writer in for line in shown { writer.string(line.text) } }
      writer.key("rows")
      writer.array { writer in for line in shown { writer.value(line.row) } }
    }
    encoded = writer.bytes
  }
}
