import AutomergeRepo
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

/// Lists that the service sends in full once, and then only their changes.
@AutomergeRepo struct ScreenUpdatesTests {
  /// A list as an editor has it.
  private struct Shown {
    var lines: [JSONValue] = []
    var rows: [JSONValue] = []
    var token: Int?

    mutating func take(_ answer: JSONValue) {
      let (lines, rows) = (answer["lines"]?.arrayValue ?? [], answer["rows"]?.arrayValue ?? [])
      if let first = answer["first"]?.intValue, let removed = answer["removed"]?.intValue {
        self.lines.replaceSubrange(first..<first + removed, with: lines)
        self.rows.replaceSubrange(first..<first + removed, with: rows)
      } else {
        (self.lines, self.rows) = (lines, rows)
      }
      token = answer["token"]?.intValue
    }
  }

  private func table(_ names: [String]) -> ScreenTable {
    var table = ScreenTable([.init(minimum: 8)], width: 80)
    for name in names { table.add([name], [("id", .text(name))]) }
    return table
  }

  @Test func theFirstPageComesBeforeTheRest() throws {
    let updates = ScreenUpdates()
    let names = (0..<1000).map { "note \($0)" }
    var shown = Shown()
    let first = try updates.answer(table(names), since: nil, atMost: 50).json
    shown.take(first)
    #expect(shown.lines.count == 50 && first["more"] == true)
    let rest = try updates.answer(table(names), since: shown.token, atMost: nil).json
    #expect(rest["first"] == 50 && rest["removed"] == 0 && rest["more"] == nil)
    shown.take(rest)
    #expect(shown.lines.map(\.stringValue) == names)
  }

  @Test func aChangeOfOneLineIsOneLine() throws {
    let updates = ScreenUpdates()
    var names = (0..<1000).map { "note \($0)" }
    var shown = Shown()
    shown.take(try updates.answer(table(names), since: nil, atMost: nil).json)
    names[500] = "renamed"
    let change = try updates.answer(table(names), since: shown.token, atMost: nil).json
    #expect(change["lines"] == ["renamed"] && change["first"] == 500 && change["removed"] == 1)
    shown.take(change)
    let none = try updates.answer(table(names), since: shown.token, atMost: nil).json
    #expect(none["lines"] == [] && none["removed"] == 0)
  }

  @Test(arguments: SeedCount.part(of: UInt64(1)...20)) func anEditorHasTheListWhateverHappensToIt(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let updates = ScreenUpdates()
    var (names, count) = ((0..<30).map { "note \($0)" }, 30)
    // More lists than are remembered.
    var all = [Shown](repeating: Shown(), count: 6)
    for _ in 0..<200 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        names.insert("note \(count)", at: Int.random(in: 0...names.count, using: &random))
        count += 1
      case 1 where !names.isEmpty: names.remove(at: Int.random(in: names.indices, using: &random))
      case 2: names.shuffle(using: &random)
      default: break
      }
      let index = Int.random(in: all.indices, using: &random)
      all[index].take(try updates.answer(table(names), since: all[index].token, atMost: nil).json)
      #expect(all[index].lines.map(\.stringValue) == names, "seed \(seed)")
      #expect(all[index].rows.map { $0["id"]?.stringValue } == names, "seed \(seed)")
    }
  }
}
