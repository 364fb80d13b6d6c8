import Automerge
import AutomergeRepo
import Foundation

/// What this person can undo and redo in a note, including from before a restart of the service or the editor.
@AutomergeRepo
final class UndoHistory {
  /// How far to undo or redo.
  enum Extent {
    case steps(Int)
    /// To the text of this many milliseconds before or after the one that is shown.
    case time(Int)
  }

  private unowned let binding: BufferBinding
  var groups = UndoGroups()
  /// Whether what earlier processes stored is being read.
  private(set) var isLoading = false
  /// The actions that wait for that, each with what the person did before it.
  private var waiting: [(groups: UndoGroups, action: @AutomergeRepo () -> Void)] = []

  private var service: Service { binding.service }
  private var handle: DocHandle { binding.handle }

  init(of binding: BufferBinding) { self.binding = binding }

  /// Call when a reopened buffer has words that no service received: they are the last that the person typed.
  func typedUnheard() {
    guard binding.mayWrite, let change = handle.document.lastChange(by: handle.document.actor) else { return }
    groups.did(change, date: service.clock.date.milliseconds)
  }

  /// Undoes or redoes this person's changes. Returns the number of steps.
  func go(_ direction: UndoGroups.Direction, _ extent: Extent) throws -> Int {
    try service.checkMayWrite(binding.id)
    var count = 0
    switch extent {
    case .steps(let steps):
      while count < steps, try goOnce(direction) { count += 1 }
    case .time(let milliseconds):
      let shown = groups.redoable.isEmpty ? service.clock.date.milliseconds : groups.undoable.last?.time ?? .min
      switch direction {
      case .undo:
        guard shown > .min else { return 0 }
        while let last = groups.undoable.last, last.time > shown - milliseconds, try goOnce(.undo) { count += 1 }
      case .redo:
        let until = max(shown, groups.redoable.last?.time ?? shown).addingReportingOverflow(milliseconds).partialValue
        while let next = groups.redoable.last, next.time <= until, try goOnce(.redo) { count += 1 }
      }
    }
    return count
  }

  private func goOnce(_ direction: UndoGroups.Direction) throws -> Bool {
    while let group = groups.next(direction) {
      let before = handle.document.heads()
      let (changes, authors) = changes(of: group)
      let made = try handle.change { try $0.revert(changes, alsoOf: authors, timestamp: service.clock.date) }
      // It has no visible effect left: undo the one before it.
      guard let made else { continue }
      groups.reverted(direction, group, by: made)
      try binding.undid(since: before)
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

  /// The undo history to store; nil if there will never be any. Before the person has typed, it records the change at
  /// which their typing begins: if the service is killed before it stores a group, the words are in the journal, and
  /// can still be undone.
  var item: StoredItem? { item(isOfClosed: false) }

  /// The same for a buffer that the editor has closed.
  var closedItem: StoredItem? { item(isOfClosed: true) }

  private func item(isOfClosed: Bool) -> StoredItem? {
    guard !isLoading, binding.mayWrite || !groups.undoable.isEmpty || !groups.redoable.isEmpty else {
      return nil
    }
    let document = handle.document
    groups.locate(in: document)
    return UndoRecord(
      groups: groups, time: service.clock.date,
      written: UndoRecord.Written(actor: document.actor, count: changeCount(of: document.actor)),
      object: binding.note.textObject, isOfClosed: isOfClosed
    ).item(binding.key, run: record)
  }

  private var record: String { binding.place.record(of: service.run) }

  private func changeCount(of actor: ActorId) -> Int {
    handle.document.lastChange(by: actor).flatMap { handle.document.authorship(of: $0)?.number } ?? 0
  }

  /// Takes over this person's changes in earlier processes. What the editor of another process can undo stays with it: a word
  /// whose deletion two of them undo would come back twice.
  func load() {
    isLoading = true
    Task { @AutomergeRepo [binding, service, key = binding.key, storage = service.notebook.storage] in
      let prefix = UndoRecord.prefix(key)
      // Of two processes that begin at once, one takes over what an earlier one left.
      let turn = await service.environment.turn("undo-" + key.lockName)
      defer { withExtendedLifetime(turn) {} }
      do {
        let open = await service.journal.killed.runs(havingOpen: key)
        let items = try await storage.loadRange(prefix).filter { item in
          item.key.count == prefix.count + 1 && !open.contains { BufferKey.isRecord(item.key[prefix.count], of: $0) }
        }
        let records = items.compactMap { UndoRecord($0.data) }.filter { $0.object == binding.note.textObject }
        loaded(UndoRecord.merged(records.map(completed)))
        // The others learn from the journal that it is this process's.
        if !groups.isEmpty { service.journal.clientHas(binding.place) }
        let own = prefix + [record]
        if let item {
          try await storage.commit([.save(item)] + items.map(\.key).filter { $0 != own }.map { .remove($0) })
        }
      } catch {
        loaded(UndoGroups())
        binding.editor.log.warning("The undo history of \(key.document) could not be read: \(error)")
      }
    }
  }

  /// Puts the loaded groups below what the person has done meanwhile. Then carries out the actions that waited, each as
  /// if the person had done nothing after it.
  private func loaded(_ earlier: UndoGroups) {
    guard isLoading else { return }
    isLoading = false
    let (waiting, latest) = (waiting, groups)
    self.waiting = []
    groups = earlier
    for (made, action) in waiting {
      var made = made
      made.keepKnown(in: handle.document)
      groups.add(made)
      action()
    }
    groups.add(latest)
  }

  /// Call when the note has another text object.
  func forget() {
    groups = UndoGroups()
    for index in waiting.indices { waiting[index].groups = UndoGroups() }
  }

  /// Runs the action once everything that the person has done until now can be undone. What the person does later is
  /// not undone by it.
  func whenKnown(_ action: @escaping @AutomergeRepo () -> Void) {
    guard isLoading else { return action() }
    waiting.append((groups, action))
    groups = UndoGroups()
  }

  /// Adds what the process did after it had last stored the record, unless the editor had closed the note: it may have been killed.
  private func completed(_ record: UndoRecord) -> UndoRecord {
    var record = record
    if !record.isOfClosed, record.written.actor != handle.document.actor {
      record.groups.extend(
        record.written, to: changeCount(of: record.written.actor), date: record.time.milliseconds)
    }
    return record
  }
}
