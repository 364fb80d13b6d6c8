import Automerge
import AutomergeRepo
import Foundation

/// The robot that types in the notes of the tutorial: another author, with a caret, in this process.
@AutomergeRepo
final class Tutor {
  /// The robot as a peer. It has no key, so no peer can have this id.
  nonisolated static let peer = PeerId("robot")
  private static let actor = ActorId(data: Data("robotRobin".utf8) + Data(repeating: 0, count: 6))
  /// The first half of the robot's actor id: its key under `people`.
  nonisolated static let person = hexadecimal("robotRob".utf8)
  private static let keystroke: Duration = .milliseconds(15)
  /// How often to tell other people that it is still there.
  private static let heartbeat: Duration = .seconds(15)
  /// How long it waits for an editor to open the note.
  private static let patience: Duration = .seconds(60)

  private let service: Service
  /// Sent when a note was opened or closed.
  private let openings: Signal
  private var lessons: [DocumentId: Lesson] = [:]

  private struct Lesson {
    var tutorial: Tutorial
    /// What it is about to type.
    var text: Substring = ""
    var observation: Observation?
  }

  init(_ service: Service) {
    self.service = service
    openings = Signal(clock: service.clock)
    service.environment.events.add { [openings] event in
      if case .openNotesChanged = event { openings.send() }
    }
  }

  /// Makes a note for learning, and starts when an editor has opened it.
  func begin(_ keys: Tutorial.Keys) async throws -> NoteRecord {
    let maker = NoteMaker(service: service)
    let record = try await maker.note(
      title: "Tutorial", text: Array("A note is a text that several people write at the same time.\n".utf8))
    let handle = try await service.fetch(record.id)
    lessons[record.id] = Lesson(tutorial: Tutorial(keys))
    Task { @AutomergeRepo in
      await openings.wait(within: Self.patience) { service.isOpen(handle.id) }
      guard service.isOpen(handle.id) else { return lessons[handle.id] = nil }
      lessons[handle.id]?.observation = handle.observe { [weak self, weak handle] event in
        if case .headsChanged = event, let handle { self?.look(at: handle) }
      }
      look(at: handle)
      await stay(in: handle)
    }
    return record
  }

  /// Types the next lesson when the person has done the last one.
  private func look(at handle: DocHandle) {
    guard let lesson = lessons[handle.id], lesson.text.isEmpty, let note = NoteDocument(handle.document) else { return }
    let text = String(decoding: DocumentText(note).allUTF8, as: UTF8.self)
    guard let next = lessons[handle.id]?.tutorial.next(in: text) else { return }
    lessons[handle.id]?.text = next[...]
    typeSoon(in: handle)
  }

  /// Types one character, and plans the next one.
  private func type(in handle: DocHandle) {
    guard service.isOpen(handle.id), let next = lessons[handle.id]?.text.popFirst() else { return look(at: handle) }
    do {
      let copy = handle.document.fork()
      if let actor = Self.actor { copy.actor = actor }
      guard let note = NoteDocument(copy) else { return }
      try NoteDocument.enter(person: Self.person, name: Tutorial.robot, in: copy)
      try copy.spliceText(
        obj: note.content, utf8Offset: DocumentText(note).measure.utf8, deleteUTF8: 0, insert: Array(String(next).utf8))
      copy.commitWith(message: nil, timestamp: service.clock.date)
      try handle.merge(copy)
    } catch {
      lessons[handle.id] = nil
      return
    }
    show(in: handle)
    typeSoon(in: handle)
  }

  /// Schedules the next character, never at once: the change that the robot answers may still be on its way to the
  /// editor.
  private func typeSoon(in handle: DocHandle) {
    _ = service.clock.schedule(after: Self.keystroke) { [weak self] in self?.type(in: handle) }
  }

  private func show(in handle: DocHandle) {
    guard let note = NoteDocument(handle.document) else { return }
    service.presenceTracker.show(
      Self.peer, Tutorial.robot, at: DocumentText(note).measure.utf8, in: note, of: handle.id)
  }

  /// Shows the caret until the person has closed the note, or all lessons are done.
  private func stay(in handle: DocHandle) async {
    while service.isOpen(handle.id), let lesson = lessons[handle.id], !lesson.tutorial.isOver || !lesson.text.isEmpty {
      show(in: handle)
      await openings.next(after: openings.count, until: service.clock.now + Self.heartbeat)
    }
    lessons.removeValue(forKey: handle.id)?.observation?.cancel()
    service.presenceTracker.hide(Self.peer, in: handle.id)
  }
}
