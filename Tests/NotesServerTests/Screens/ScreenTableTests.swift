import Foundation
import JSONRPC
import Testing

@testable import NotesServer

struct ScreenTableTests {
  private let columns: [ScreenTable.Column] = [.init(minimum: 6), .init(isNumber: true), .init(minimum: 4)]

  @Test func columnsAreAlignedByWhatTheyTakeOnTheScreen() {
    var table = ScreenTable(columns, width: 80)
    table.add(["Title", "Size", "Time"])
    table.add(["茶", "3", "14:02"])
    table.add(["e\u{301}te", "1200", "Nov 24"])
    #expect(table.texts == ["Title  Size  Time", "茶        3  14:02", "e\u{301}te    1200  Nov 24"])
  }

  @Test func theWidestColumnIsMadeNarrowerUntilAllFit() {
    var table = ScreenTable(columns, width: 40)
    table.add([String(repeating: "x", count: 200), "7", "14:02"], [("id", .text("a"))])
    table.add(["short", "7", "14:02"])
    #expect(table.texts.allSatisfy { DisplayWidth.of($0) == 40 })
    #expect(table.texts[0].hasSuffix("x…  7  14:02"))
  }

  @Test func aLineNeverBreaksNorTurns() {
    var table = ScreenTable(columns, width: 80)
    table.add(["a\nb\u{202E}c\u{9B}d", "", ""])
    #expect(table.texts == ["a bc d"])
  }

  @Test func eachLineHasItsRow() throws {
    var table = ScreenTable(columns, width: 80)
    table.add(["Title", "", ""])
    table.add(["Tea", "", ""], [("id", .text("a")), ("heads", .texts(["b", "c"]))])
    table.say("? shows all keys")
    let json = try ScreenAnswer(table).json
    #expect(
      json == ["lines": ["Title", "Tea", "? shows all keys"], "rows": [[:], ["id": "a", "heads": ["b", "c"]], [:]]])
  }

  private static let utc: @Sendable (time_t) -> tm = { time in
    var time = time, parts = tm()
    gmtime_r(&time, &parts)
    return parts
  }

  @Test func timesAreShort() {
    let now = Date(timeIntervalSince1970: 1_700_000_000)  // 2023-11-14 22:13
    let time = ScreenTime(now: now, local: Self.utc)
    #expect(time.short(now) == "22:13" && time.full(now) == "22:13")
    let yesterday = now.addingTimeInterval(-86_400)
    #expect(time.short(yesterday) == "Nov 13" && time.full(yesterday) == "Nov 13 22:13")
    let lastYear = now.addingTimeInterval(-366 * 86_400)
    #expect(time.short(lastYear) == "2022-11" && time.full(lastYear) == "2022 Nov 13 22:13")
  }

  @Test func aTimeThatIsInNoCalendarIsShownAsTheFirstOrLast() {
    let time = ScreenTime(now: Date(timeIntervalSince1970: 1_700_000_000), local: Self.utc)
    let last = Date(timeIntervalSince1970: Double(Int64.max)), first = Date(timeIntervalSince1970: Double(Int64.min))
    #expect(time.short(last) == "9999-12" && time.full(last) == "9999 Dec 31 23:59")
    #expect(time.short(first) == "1-01" && time.full(first) == "1 Jan 1 00:00")
  }

  @Test func blameLabelsEveryLineWithItsLastAuthor() {
    func span(_ start: (Int, Int), _ end: (Int, Int), _ author: String, _ time: TimeInterval) -> Blame.Span {
      Blame.Span(
        range: PositionRange(
          start: Position(line: start.0, character: start.1), end: Position(line: end.0, character: end.1)),
        author: author, time: Date(timeIntervalSince1970: time), color: author == "Ana" ? 1 : 2)
    }
    let range = PositionRange(start: Position(line: 0, character: 0), end: Position(line: 9, character: 0))
    let spans = [
      span((0, 0), (1, 2), "Ana", 0), span((1, 2), (1, 4), "Benedict", 90_000), span((1, 4), (3, 0), "Ana", 0),
    ]
    let labels = BlameLabels(of: spans, in: range, width: 12, ScreenTime(now: Date(timeIntervalSince1970: 90_000)))
    #expect(labels.colors == [1, 2, 1])
    #expect(labels.texts.allSatisfy { DisplayWidth.of($0) == 12 })
    #expect(labels.texts[1].hasPrefix("Bened…") && labels.texts[0].hasPrefix("Ana "))
  }

  /// A long name must not push away the mark that it is borrowed, only claimed, or unproved.
  @Test func theMarkBehindANameIsNotCutOff() {
    for name in ["Maximiliana von Bergen", "貝恩貝恩貝恩貝恩貝恩貝恩"] {
      for mark in [" (k3x9ab)", " (claimed)", " (unverified)", " (claimed, unverified)"] {
        for width in 8...40 {
          let shown = DisplayWidth.cut(name + mark, to: width)
          #expect(DisplayWidth.of(shown) <= width && (shown.hasSuffix(mark) || shown.hasSuffix(" (?)")), "\(shown)")
          let counted = NoteNews.cut(name + mark, to: width)
          #expect(counted.count <= width && (counted.hasSuffix(mark) || counted.hasSuffix(" (?)")), "\(counted)")
        }
      }
    }
    let message = NoteNews.fitted("Maximiliana von Bergen (k3x9ab)", " joined ", "The minutes of a long meeting", "")
    #expect(message.contains(" (k3x9ab) joined ") && message.count <= NoteNews.maximumMessageLength)
    // The control: a name without a mark, or with enough room, is unchanged.
    #expect(DisplayWidth.cut("Benedict (he says)", to: 12) == "Benedict (h…")
    #expect(DisplayWidth.cut("Ben (k3x9ab)", to: 12) == "Ben (k3x9ab)" && NoteNews.cut("Benedict", to: 5) == "Bene…")
  }

  @Test func aTicketFitsInAQRCode() throws {
    let code = try #require(QRCode("notes-lsp:" + String(repeating: "a", count: 140)))
    #expect(Set(code.lines.map(\.count)).count == 1)
    #expect(code.lines.count <= 30 && code.lines[0].count <= 76)
    #expect(code.lines[0].allSatisfy { $0 == "█" })
    #expect(QRCode(String(repeating: "a", count: 5000)) == nil)
  }
}
