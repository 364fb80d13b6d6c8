import Automerge
import AutomergeRepo
import Logging

/// Keeps the agendas of meetings in order, and the records of their items equal to them.
@AutomergeRepo
final class MeetingAgendas {
  /// The pause between two parts of an agenda that takes long to read.
  private static let pause: Duration = .milliseconds(50)

  private let environment: ServiceEnvironment
  private var titles: [DocumentId: Titles] = [:]
  private let log = Logger(label: "files")

  private var notebook: Notebook { environment.notebook }

  init(_ environment: ServiceEnvironment) { self.environment = environment }

  /// What is known of the titles of a meeting's items.
  private struct Titles {
    /// For each item, the titles of the item and its predecessors when they were last settled.
    var settled: [ObjId: [ObjId: String]] = [:]
    /// The items that are yet to be read.
    var waiting: [ObjId] = []
    /// The items that have more moves than a `MoveReader` reads.
    var unreadable: Set<ObjId> = []
    /// Reads further items.
    var next: (any ScheduledAction)?

    /// The agenda has changed: every item is to be read, first those that are waiting already.
    mutating func changed(_ items: [MeetingDocument.Item]) {
      let objects = items.map(\.object), present = Set(objects), first = Set(waiting)
      waiting = waiting.filter(present.contains) + objects.filter { !first.contains($0) }
      settled = settled.filter { present.contains($0.key) }
      unreadable = []
    }
  }

  /// Call when the document was released from memory.
  func forget(_ id: DocumentId) { titles.removeValue(forKey: id)?.next?.cancel() }

  /// Whether some items are yet to be read.
  func isTidying(_ id: DocumentId) -> Bool { titles[id]?.next != nil }

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
  /// copies. A title given to a removed copy is given to the one that stays. What takes longer than a few milliseconds follows
  /// a little later.
  func tidy(_ meeting: MeetingDocument, _ items: [MeetingDocument.Item], _ handle: DocHandle) {
    titles[handle.id, default: Titles()].changed(items)
    putInOrder(meeting, items, handle)
  }

  private func putInOrder(_ meeting: MeetingDocument, _ items: [MeetingDocument.Item], _ handle: DocHandle) {
    let before = notebook[handle.id]
    defer {
      note(MeetingDocument(handle.document)?.items ?? items, of: handle.id)
      if notebook[handle.id]?.agenda != before?.agenda { saveSoon(handle.id) }
    }
    guard environment.mayWrite(handle.id) else { return }
    let author = handle.document.actor
    do {
      let left = try bringTitles(meeting, items, handle)
      let isOwn = items.filter { item in
        !left.contains(item.object)
          && (item.object.actor == author || item.copies.contains { $0.object.actor == author })
      }
      if isOwn.contains(where: { !$0.copies.isEmpty }) {
        try handle.change { _ in try meeting.removeCopies(of: isOwn, by: author) }
      }
    } catch {
      log.error("The agenda of \(handle.id) could not be put in order: \(error)")
    }
  }

  /// Gives each waiting item the title that its predecessor was given while it was moved, until a `MoveReader` is exhausted; the
  /// rest follows later.
  ///
  /// - Returns: the items that were not read
  private func bringTitles(
    _ meeting: MeetingDocument, _ items: [MeetingDocument.Item], _ handle: DocHandle
  ) throws -> Set<ObjId> {
    guard var known = titles.removeValue(forKey: handle.id) else { return [] }
    let reader = MoveReader(meeting)
    let byObject = Dictionary(items.map { ($0.object, $0) }) { first, _ in first }
    var count = 0
    defer {
      known.waiting.removeFirst(count)
      if known.waiting.isEmpty { known.next?.cancel() }
      known.next = known.waiting.isEmpty ? nil : known.next ?? goOnLater(handle)
      titles[handle.id] = known
    }
    for object in known.waiting {
      let isFirst = reader.isUnused
      count += 1
      guard let item = byObject[object] else { continue }
      do {
        try bringTitle(to: item, reader, handle, &known.settled)
      } catch is MoveReader.Exhausted {
        if isFirst { known.unreadable.insert(object) } else { count -= 1 }
        break
      }
    }
    return known.unreadable.union(known.waiting.dropFirst(count))
  }

  /// The process that moved the item does this; if it is gone, every process does: setting the same title twice leaves one title.
  private func bringTitle(
    to item: MeetingDocument.Item, _ reader: MoveReader, _ handle: DocHandle, _ settled: inout [ObjId: [ObjId: String]]
  ) throws {
    let titles = try LeftTitle.titles(of: item, reader)
    let before = settled.removeValue(forKey: item.object)
    guard titles.count > 1 else { return }
    guard before != titles, let left = try LeftTitle.find(of: item, reader) else {
      settled[item.object] = titles
      return
    }
    guard left.mover == handle.document.actor || !handle.isWritten(by: left.mover) else { return }
    try handle.change { _ in try reader.meeting.bring(left.title, from: left.source, to: item) }
  }

  private func goOnLater(_ handle: DocHandle) -> any ScheduledAction {
    environment.clock.schedule(after: Self.pause) { [weak self, weak handle] in
      guard let self, let handle else { return }
      self.titles[handle.id]?.next = nil
      guard let meeting = MeetingDocument(handle.document) else { return }
      self.putInOrder(meeting, meeting.items, handle)
    }
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
