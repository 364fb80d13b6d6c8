import Automerge
import AutomergeRepo
import Logging

/// Keeps the agendas of meetings in order, and the records of their items equal to them.
@AutomergeRepo
final class MeetingAgendas {
  private let environment: ServiceEnvironment
  /// For each item, the titles of the item and its predecessors when they were last settled.
  private var settledTitles: [DocumentId: [ObjId: [ObjId: String]]] = [:]
  private let log = Logger(label: "files")

  private var notebook: Notebook { environment.notebook }

  init(_ environment: ServiceEnvironment) { self.environment = environment }

  /// Call when the document was released from memory.
  func forget(_ id: DocumentId) { settledTitles[id] = nil }

  /// Updates lists and buffers to the agenda: the items' order and titles.
  func note(_ items: [MeetingDocument.Item], of id: DocumentId) {
    notebook.update(id) { $0.agenda = items.map { AgendaEntry(id: $0.id, title: $0.title) } }
    for item in items {
      let key = NoteKey(id, item: item.id)
      guard let title = notebook[key]?.title, title != item.title, !item.title.isEmpty else { continue }
      notebook.update(key) { $0.title = item.title }
    }
  }

  /// When several people moved an item at the same moment, keeps one copy: each person's process removes its own other
  /// copies. A title given to a removed copy is given to the one that stays.
  func tidy(_ meeting: MeetingDocument, _ items: [MeetingDocument.Item], _ handle: DocHandle) {
    let before = notebook[handle.id]
    defer {
      note(MeetingDocument(handle.document)?.items ?? items, of: handle.id)
      if notebook[handle.id]?.agenda != before?.agenda { saveSoon(handle.id) }
    }
    guard environment.mayWrite(handle.id) else { return }
    let author = handle.document.actor
    let isOwn = items.filter { item in item.object.actor == author || item.copies.contains { $0.object.actor == author }
    }
    do {
      try bringTitles(meeting, items, handle)
      if isOwn.contains(where: { !$0.copies.isEmpty }) {
        try handle.change { _ in try meeting.removeCopies(of: isOwn, by: author) }
      }
    } catch {
      log.error("The agenda of \(handle.id) could not be put in order: \(error)")
    }
  }

  /// Gives each item the title that its predecessor was given while it was moved. The process that moved the item does this; if
  /// it is gone, every process does: setting the same title twice leaves one title.
  private func bringTitles(_ meeting: MeetingDocument, _ items: [MeetingDocument.Item], _ handle: DocHandle) throws {
    let seen = settledTitles[handle.id] ?? [:]
    var settled: [ObjId: [ObjId: String]] = [:]
    for item in items {
      let titles = LeftTitle.titles(of: item, in: meeting)
      guard titles.count > 1 else { continue }
      guard seen[item.object] != titles, let left = LeftTitle.find(of: item, in: meeting) else {
        settled[item.object] = titles
        continue
      }
      guard left.mover == handle.document.actor || !handle.isWritten(by: left.mover) else { continue }
      try handle.change { _ in try meeting.bring(left.title, from: left.source, to: item) }
    }
    settledTitles[handle.id] = settled
  }

  private func saveSoon(_ id: DocumentId) {
    Task { @AutomergeRepo in
      do {
        try await notebook.save(id, withBase: false)
      } catch {
        log.warning("The agenda of \(id) was not stored: \(error)")
      }
    }
  }
}
