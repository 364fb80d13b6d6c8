import Automerge
import AutomergeRepo
import Crypto
import Foundation
import JSONRPC

/// Connects a buffer and its document: brings each side's changes to the other.
@AutomergeRepo
final class Attachment {
  /// The pause before claiming a note again that another process holds.
  static let claimInterval: Duration = .milliseconds(20)

  let uri: String
  /// The version in `didOpen`.
  let opened: Int
  let handle: DocHandle
  /// Replaced when a meeting's item is moved.
  var note: NoteDocument
  var id: DocumentId { handle.id }
  var key: NoteKey { NoteKey(handle.id, item: note.item) }
  var buffer: OpenBuffer
  unowned let editor: Editor
  private(set) lazy var updates = ClientUpdates(self)
  private var observation: Observation?
  /// A large full text of the client that is being compared with the one before.
  var comparison: Comparison?
  var comparisonCount = 0
  var hasEnteredName = false
  /// What the working file holds.
  private(set) lazy var file = service.openFiles.open(self)
  /// What another program wrote to the file; a plain client may show it at any moment by reading the file again.
  var mergedFile: [UInt8]?
  /// Shows this person's other processes that the note is open here.
  private var claim: (any NoteClaim)?
  private var isAttached = true
  private(set) lazy var undo = UndoHistory(of: self)
  var refusedTyping = RefusedTyping()
  /// While the document goes back to an earlier state: how this changes its text, and the text before.
  var goingBack: (TextDelta, [UInt8])?
  /// When the person is told of refused typing.
  var tellOfRefusal: (any ScheduledAction)?

  /// Attaches a buffer that `buffer` knows; `splices` are the changes that opening it makes to the document.
  ///
  /// - Parameter opened: the version in `didOpen`, if it is not the buffer's.
  init(
    uri: String, handle: DocHandle, note: NoteDocument, buffer: OpenBuffer, splices: [TextSplice], editor: Editor,
    opened: Int? = nil
  ) {
    (self.uri, self.handle, self.note, self.buffer, self.editor) = (uri, handle, note, buffer, editor)
    self.opened = opened ?? buffer.version
    observation = handle.observe { [weak self] event in self?.documentDid(event) }
    service.opened(key, handle) { [weak self] in self?.companions() ?? [] }
    claimNote()
    service.journal.opened(key, handle) { [weak self] in self?.clientBase }
    if mayWrite { takeIn(splices) } else { refuse(splices, before: []) }
    updates.sendEdit()
    service.notebook.update(key) { $0.isUnread = false }
    handle.storeSoon()
    // A merge may have gone both ways.
    updates.textChanged()
    service.company.enter(handle)
    file.look()
    if !service.company.people(in: id).isEmpty { sendCursors() }
    undo.load()
  }

  var service: Service { editor.service }
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

  /// What the client has.
  var clientBase: ClientBase {
    let base = TextBase(
      heads: handle.document.heads(), actor: handle.document.actor,
      steps: buffer.inFlight.map(\.delta) + [buffer.unsent])
    return ClientBase(
      base: base, time: service.clock.date, opened: opened, acknowledged: buffer.acknowledgedRev,
      revs: buffer.inFlight.map(\.rev), object: note.textObject)
  }

  /// The client's text in its stored form.
  var clientBaseItem: StoredItem { clientBase.item(key, run: service.run) }

  /// What the client certainly has, and what it may have besides.
  var clientTextBase: TextBase {
    TextBase(
      heads: handle.document.heads(), steps: buffer.inFlight.map(\.delta) + [buffer.unsent], object: note.textObject)
  }

  /// Stores what the client has, for when the note is restored and the client still shows this buffer.
  func rememberLeftBuffer() {
    let item = clientBase.leftItem(key, run: service.run)
    service.notebook.update(key) { $0.hasLeftBuffers = true }
    Task { @AutomergeRepo [service, id] in
      do {
        try await service.repo.storage?.commit([.save(item)])
      } catch {
        service.log.warning("What the editor has of \(id) could not be stored: \(error)")
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
    service.notebook.update(key) { $0.words = words }
  }

  /// The items to store together with the document's chunks.
  private func companions() -> [StorageChange] {
    guard let record = service.notebook[key] else { return [] }
    guard record.deletedSince == nil else { return [] }
    return [service.notebook.storing(record)] + [clientBaseItem, undo.item].compactMap(\.self).map { .save($0) }
  }

  /// Another process may be writing the working file right now; that takes milliseconds.
  private func claimNote() {
    claim = service.files.claim(key.lockName, exclusively: false)
    guard claim == nil else { return }
    service.clock.schedule(after: Self.claimInterval) { [weak self] in
      guard let self, self.isAttached, self.claim == nil else { return }
      self.claimNote()
    }
  }

  /// Call when the buffer is closed, or the session ends.
  func detach() {
    finishComparing()
    isAttached = false
    rememberSeen()
    claim = nil
    file.close()
    updates.stop()
    observation?.cancel()
    service.closed(key, handle)
    service.company.leave(id)
  }
}
