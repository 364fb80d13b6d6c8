import AutomergeRepo
import Foundation

/// The list of notes as lines for a screen: this person's own, and those that other people share with this person.
@AutomergeRepo
struct NotesScreen {
  enum Order: String, CaseIterable { case changed, title }

  private let service: Service
  private let time: ScreenTime
  private let own: PeerId
  private let folder: String

  init(_ service: Service) {
    self.service = service
    time = ScreenTime(now: service.clock.date)
    own = service.repo.peerId
    folder = service.environment.notesDirectory + "/"
  }

  /// - Parameter keys: the newest first.
  func table(of keys: [NoteKey], _ order: Order, width: Int, areDeleted: Bool) -> ScreenTable {
    var table = ScreenTable(
      [
        .init(minimum: 16), .init(minimum: 6, maximum: 16), .init(minimum: 6, maximum: 16),
        .init(minimum: 7, isNumber: true),
        .init(minimum: 8, maximum: 24), .init(minimum: 7),
      ], width: width)
    let keys = order == .title ? sortedByTitle(keys) : keys
    if areDeleted { return deleted(keys.compactMap { service.notebook[$0] }, table) }
    let hosts = keys.map { service.sharing.host(of: $0.document)?.name }
    for isForeign in [false, true] where hosts.contains(where: { ($0 != nil) == isForeign }) {
      if isForeign, !table.isEmpty { table.say("") }
      table.add([
        isForeign ? "Shared with you" : "Your notes", isForeign ? "Owner" : "Shared with", "In it now", "Size", "File",
        "Changed",
      ])
      for (key, host) in zip(keys, hosts) where (host != nil) == isForeign {
        if let record = service.notebook[key] { add(record, host, to: &table) }
      }
    }
    if table.isEmpty {
      table.say("No notes yet.")
      table.say("")
      table.say("  +  makes one              J  joins one with a ticket or words")
      table.say("  U  lists deleted notes    ?  shows all keys")
    }
    return table
  }

  private func sortedByTitle(_ keys: [NoteKey]) -> [NoteKey] {
    keys.map { (service.notebook[$0]?.title.lowercased() ?? "", $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  private func deleted(_ records: [NoteRecord], _ table: ScreenTable) -> ScreenTable {
    var table = table
    guard !records.isEmpty else {
      table.say("No deleted notes. q goes back")
      return table
    }
    table.add(["Deleted notes", "", "", "Size", "Until", "Deleted"])
    for record in records {
      let date = record.deletedSince ?? record.modified
      let until = date.addingTimeInterval(NoteRecord.recoverableTime)
      table.add(
        ["  " + record.title, "", "", size(of: record), time.short(until), time.short(date)], members(of: record))
    }
    return table
  }

  private func add(_ record: NoteRecord, _ host: String?, to table: inout ScreenTable) {
    let mark = record.isUnread ? "* " : "  "
    table.add(
      [
        mark + record.title, host ?? guests(of: record.id), here(in: record.id), size(of: record), place(of: record),
        time.short(record.modified),
      ], members(of: record))
  }

  private func members(of record: NoteRecord) -> ScreenTable.Members {
    let (id, title) = (ScreenTable.Value.text(record.id.description), ScreenTable.Value.text(record.title))
    guard record.folder != nil else { return [("id", id), ("title", title)] }
    return [("id", id), ("title", title), ("kind", .text("meeting"))]
  }

  private func guests(of id: DocumentId) -> String {
    Self.names(service.sharing.people(on: id).map(\.name))
  }

  /// Other people who have the note open.
  private func here(in id: DocumentId) -> String {
    Self.names(service.presenceTracker.people(in: id).filter { PeerId($0.peer).owner != own }.map(\.name))
  }

  nonisolated static func names(_ names: [String]) -> String {
    guard let first = names.first else { return "" }
    return names.count > 2 ? "\(first) and \(names.count - 1) more" : names.joined(separator: ", ")
  }

  private func size(of record: NoteRecord) -> String {
    record.folder == nil
      ? Self.counted(record.words, "word") : Self.counted(record.agenda.count, "item")
  }

  nonisolated static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  /// The file, or the folder of a meeting, as short as possible while still clear.
  private func place(of record: NoteRecord) -> String {
    let path = record.folder.map { $0 + "/" } ?? record.path ?? ""
    return path.hasPrefix(folder) ? String(path.dropFirst(folder.count)) : path
  }
}
