import AutomergeRepo
import Foundation

/// The agenda of a meeting as lines for a screen: the meeting's title, and its items in order.
@AutomergeRepo
struct AgendaScreen {
  let service: Service

  /// The lines for a list that is still on a screen although its meeting was deleted.
  func table(ofDeleted meeting: NoteRecord, width: Int) -> ScreenTable {
    var table = ScreenTable([.init(minimum: 20), .init(minimum: 7)], width: width)
    table.say("\"\(OneLine.shown(meeting.title))\" is deleted. :NotesUndelete restores it")
    return table
  }

  /// - Parameter news: what others did since this person last opened the list.
  func table(
    of meeting: NoteRecord, _ items: [ItemPlace], _ news: AgendaMarks, attendees: [String], width: Int
  ) -> ScreenTable {
    let time = ScreenTime(now: service.clock.date)
    var table = ScreenTable(
      [.init(minimum: 20), .init(minimum: 7, isNumber: true), .init(minimum: 7), .init(minimum: 8, maximum: 40)],
      width: width)
    table.add(
      [meeting.title, "Size", "Changed", news.items.isEmpty ? "" : "News"],
      [("id", .text(meeting.id.description)), ("title", .text(meeting.title))])
    for (index, item) in items.enumerated() {
      let record = service.notebook[NoteKey(meeting.id, item: item.item)]
      let mark = record?.isUnread ?? false ? "* " : "  "
      table.add(
        [
          "\(mark)\(index + 1). \(item.title)", NotesScreen.counted(record?.words ?? 0, "word"),
          record.map { time.short($0.modified) } ?? "", news.items[item.item] ?? "",
        ],
        [
          ("id", .text(meeting.id.description)), ("item", .text(item.item)), ("title", .text(item.title)),
          ("uri", .text(item.path.map(FileURI.uri(path:)) ?? "")),
        ])
    }
    if items.isEmpty { table.say("  No items yet. + adds one") }
    if let former = news.formerTitle {
      table.say("")
      table.say("Former title: " + OneLine.shown(former))
    }
    if !news.deleted.isEmpty {
      table.say("")
      table.say("Deleted: " + news.deleted.map(OneLine.shown).joined(separator: ", "))
    }
    if !attendees.isEmpty {
      table.say("")
      table.say("Attendees: " + attendees.map(OneLine.shown).joined(separator: ", "))
    }
    return table
  }
}
