import Automerge
import AutomergeRepo
import Foundation

/// Connects a buffer and its document: applies each side's changes to the other.
@AutomergeRepo
final class BufferBinding {
  let uri: String
  let handle: DocHandle
  /// Replaced when a meeting's item is moved.
  var note: NoteDocument
  var id: DocumentId { handle.id }
  var key: NoteKey { NoteKey(handle.id, item: note.item) }
  /// Distinguishes this buffer from others that the editor has of the note.
  var place: BufferKey { hold.key }
  var buffer: OpenBuffer
  unowned let editor: Editor
  private(set) lazy var updates = ClientUpdates(self)
  private var observation: Observation?
  /// A large full text of the client that is being compared with the one before.
  var comparison: Comparison?
  var hasEnteredName = false
  /// What the working file contains.
  private(set) lazy var file = service.openFiles.open(self)
  private let hold: NoteHold
  private(set) lazy var undo = UndoHistory(of: self)
  private(set) lazy var refused = RefusedChanges(self)
  /// While the document returns to an earlier state: the resulting change of its text, and the text before.
  var goingBack: (TextDelta, [UInt8])?

  /// Attaches the buffer whose state is `buffer`, and makes `splices` in the document.
  ///
  /// - Parameters:
  ///   - splices: the changes that opening it makes to the document.
  ///   - showsFile: whether the working file contains the buffer's text.
  init(
    uri: String, handle: DocHandle, note: NoteDocument, buffer: OpenBuffer, splices: [TextSplice],
    showsFile: Bool = false,
    editor: Editor
  ) {
    (self.uri, self.handle, self.note, self.buffer, self.editor) = (uri, handle, note, buffer, editor)
    let environment = editor.service.environment
    let place = environment.openNotes.newKey(NoteKey(handle.id, item: note.item), uri: uri)
    hold = NoteHold(place, environment.files, environment.clock)
    observation = handle.observe { [weak self] event in self?.documentDid(event) }
    service.opened(place, handle) { [weak self] in self?.companions() ?? [] }
    service.journal.opened(place, handle) { [weak self] in self?.clientBase }
    if mayWrite { takeIn(splices, ofFile: showsFile) } else { refused.refuse(splices, before: []) }
    updates.sendEdit()
    Absence(binding: self).tellSoon()
    service.notebook.update(key) { $0.isUnread = false }
    handle.storeSoon()
    // A merge may have changed both sides.
    updates.textChanged()
    service.presenceTracker.enter(handle)
    file.look()
    if !service.presenceTracker.people(in: id).isEmpty { sendCursors() }
    undo.load()
  }

  var service: Service { editor.service }
  var mayWrite: Bool { service.mayWrite(id) }
  var version: Int { buffer.version }
  var clientText: [UInt8] { buffer.clientText(source: source) }
  var source: DocumentText { DocumentText(note) }

  // MARK: Places

  func documentRange(of range: PositionRange) -> Range<Int> {
    let start = buffer.documentOffset(ofClient: range.start, source: source)
    return start..<max(start, buffer.documentOffset(ofClient: range.end, source: source))
  }

  func clientPosition(ofDocument offset: Int) -> Position { buffer.clientPosition(ofDocument: offset, source: source) }

  // MARK: Storing

  /// What the client has, for the store.
  var clientBase: ClientBase {
    let base = TextBase(
      heads: handle.document.heads(), actor: handle.document.actor,
      steps: buffer.inFlight.map(\.delta) + [buffer.unsent])
    return ClientBase(
      base: base, time: service.clock.date, opened: buffer.openedVersion, acknowledged: buffer.acknowledgedRev,
      revs: buffer.inFlight.map(\.rev), object: note.textObject)
  }

  /// The client's text in its stored form.
  var clientBaseItem: StoredItem { clientBase.item(key, run: place.record(of: service.run)) }

  /// What the client certainly has, and what it may have in addition.
  var clientTextBase: TextBase {
    TextBase(
      heads: handle.document.heads(), steps: buffer.inFlight.map(\.delta) + [buffer.unsent], object: note.textObject)
  }

  /// Stores what the client has, for when the note is restored and the client still shows this buffer.
  func rememberLeftBuffer() {
    let item = clientBase.leftItem(key, run: place.record(of: service.run))
    service.notebook.update(key) { $0.hasLeftBuffers = true }
    Task { @AutomergeRepo [service, id, log = editor.log] in
      do {
        try await service.repo.storage?.commit([.save(item)])
      } catch {
        log.warning("What the editor has of \(id) could not be stored: \(error)")
      }
    }
  }

  /// Records what this person has seen of the note.
  func rememberSeen() {
    let heads = handle.document.heads()
    service.notebook.update(key) { $0.seen = heads }
  }

  func countWords() {
    let words = Words.count(source.allUTF8)
    guard service.notebook[key]?.words != words else { return }
    service.notebook.update(key) { $0.words = words }
    // The text may be stored already, with the former count, which is what this person's commands read.
    handle.storeSoon()
  }

  /// The items to store together with the document's chunks.
  private func companions() -> [StorageChange] {
    guard let record = service.notebook[key] else { return [] }
    guard record.deletedSince == nil else { return [] }
    return [service.notebook.storing(record)]
      + [clientBaseItem, file.writtenItem(), undo.item].compactMap(\.self).map { .save($0) }
  }

  /// Call when the buffer is closed, or the session ends.
  func detach() {
    finishComparing()
    rememberSeen()
    hold.end()
    file.close(self)
    updates.stop()
    observation?.cancel()
    service.closed(place, handle)
    service.journal.keptLeft(BufferKey(key, uri: uri))
    service.presenceTracker.leave(id)
  }
}
