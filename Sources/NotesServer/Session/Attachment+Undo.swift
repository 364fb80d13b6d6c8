import Automerge
import AutomergeRepo
import Foundation

/// Undo and redo of this person's changes, also of those from before the service or the editor was restarted.
extension Attachment {
  /// How far to go.
  enum UndoExtent {
    case steps(Int)
    /// To the text of this many milliseconds before or after the one that is shown.
    case time(Int)
  }

  /// Undoes or redoes this person's changes. Returns the number of steps.
  func undo(_ direction: UndoGroups.Direction, _ extent: UndoExtent) throws -> Int {
    try service.checkMayWrite(id)
    var count = 0
    switch extent {
    case .steps(let steps):
      while count < steps, try undoOnce(direction) { count += 1 }
    case .time(let milliseconds):
      let shown = undoGroups.redoable.isEmpty ? service.clock.date.milliseconds : undoGroups.undoable.last?.time ?? .min
      switch direction {
      case .undo:
        guard shown > .min else { return 0 }
        while let last = undoGroups.undoable.last, last.time > shown - milliseconds, try undoOnce(.undo) { count += 1 }
      case .redo:
        let until = max(shown, undoGroups.redoable.last?.time ?? shown).addingReportingOverflow(milliseconds)
          .partialValue
        while let next = undoGroups.redoable.last, next.time <= until, try undoOnce(.redo) { count += 1 }
      }
    }
    return count
  }

  private func undoOnce(_ direction: UndoGroups.Direction) throws -> Bool {
    while let group = undoGroups.next(direction) {
      let before = handle.document.heads()
      let (changes, authors) = changes(of: group)
      let made = try handle.change { try $0.takeBack(changes, alsoOf: authors, timestamp: service.clock.date) }
      // No visible trace of it is left: undo the one before it.
      guard let made else { continue }
      undoGroups.tookBack(direction, group, by: made)
      buffer.documentChanged(try note.document.textEdits(obj: note.content, since: before), cause: .undo)
      sendPendingEdit()
      caretsMayHaveMoved()
      service.notebook.update(key) { $0.modified = service.clock.date }
      scheduleCheck(after: Self.checkDelay)
      return true
    }
    return false
  }

  /// A group's changes, and their authors: this person, in this process or in an earlier one.
  private func changes(of group: UndoGroups.Group) -> ([ChangeHash], Set<ActorId>) {
    guard group.changes.isEmpty else { return (group.changes, []) }
    let person = service.identity.actor.data.prefix(8)
    let places = group.places.filter { $0.actor.data.prefix(8) == person }
    return (places.flatMap { handle.document.changes(by: $0.actor, $0.numbers) }, Set(places.map(\.actor)))
  }

  // MARK: Storing

  /// The undo history to store; nil where there will never be any. Before the person has typed, it records at which change
  /// their typing begins: if the service is killed before it stores a group, the words are in the journal, and can still be
  /// undone.
  var undoItem: StoredItem? {
    guard undoLoading == nil, mayWrite || !undoGroups.undoable.isEmpty || !undoGroups.redoable.isEmpty else {
      return nil
    }
    let document = handle.document
    undoGroups.locate(in: document)
    return UndoRecord(
      groups: undoGroups, time: service.clock.date,
      written: UndoRecord.Written(actor: document.actor, count: changeCount(of: document.actor)),
      object: note.textObject
    ).item(key, run: service.run)
  }

  private func changeCount(of actor: ActorId) -> Int {
    handle.document.lastChange(by: actor).flatMap { handle.document.authorship(of: $0)?.number } ?? 0
  }

  /// Takes over this person's changes in earlier processes.
  func loadUndo() {
    undoLoading = Task { @AutomergeRepo [key, storage = service.notebook.storage, log = editor.log] in
      let prefix = UndoRecord.prefix(key)
      do {
        let items = try await storage.loadRange(prefix).filter { $0.key.count == prefix.count + 1 }
        let records = items.compactMap { UndoRecord($0.data) }.filter { $0.object == note.textObject }
        undoGroups.restore(UndoRecord.merged(records.map(completed)))
        undoLoading = nil
        let own = UndoRecord.prefix(key) + [service.run]
        if let undoItem {
          try await storage.commit([.save(undoItem)] + items.map(\.key).filter { $0 != own }.map { .remove($0) })
        }
      } catch {
        undoLoading = nil
        log.warning("What can be undone in \(key.document) could not be read: \(error)")
      }
    }
  }

  /// Adds what the process did after it had last stored the record: it may have been killed.
  private func completed(_ record: UndoRecord) -> UndoRecord {
    var record = record
    if record.written.actor != handle.document.actor {
      record.groups.extend(
        record.written, to: changeCount(of: record.written.actor), date: record.time.milliseconds)
    }
    return record
  }
}
