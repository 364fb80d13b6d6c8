import Automerge
import AutomergeRepo
import Foundation

/// The history of a note as a screen shows it: the rows of `notes/history`, newest first.
struct HistoryScreen {
  let time: ScreenTime

  func table(of rows: [HistoryRequest.Row], width: Int) -> ScreenTable {
    var table = ScreenTable(
      [
        .init(minimum: 7, maximum: 18), .init(minimum: 6, maximum: 20), .init(minimum: 2, isNumber: true),
        .init(minimum: 2, isNumber: true), .init(minimum: 20),
      ], width: width)
    table.add(["When", "Who", "+", "-", "What changed"])
    for row in rows {
      table.add(
        [
          time.full(row.burst.end), row.author, "\(row.burst.inserted)", "\(row.burst.deleted)", row.change,
        ],
        [
          ("heads", .texts(row.burst.heads.map(\.description).sorted())),
          ("before", .texts(row.burst.before.map(\.description).sorted())),
          ("when", .text(time.full(row.burst.end))), ("author", .text(row.author)),
        ])
    }
    if rows.isEmpty { table.say("No history yet") }
    return table
  }
}

extension HistoryRequest.Row {
  /// What the row changed, in words.
  var change: String {
    if let message { return message }
    let excerpt = burst.excerpt.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if excerpt.isEmpty { return "deleted \(NotesScreen.counted(burst.deleted, "character"))" }
    let isCut = burst.inserted > burst.excerpt.unicodeScalars.count
    return (burst.deleted > burst.inserted ? "replaced with: " : "wrote: ") + excerpt + (isCut ? "…" : "")
  }
}
