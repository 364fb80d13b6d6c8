import Automerge
import AutomergeRepo
import JSONRPC

/// The editor's buffers by URI: plain files, notes that are being opened, and notes that are attached to their documents.
@AutomergeRepo
final class EditorBuffers {
  private static let maximumStrangers = 256

  let editor: Editor
  private(set) lazy var opener = BufferOpener(editor: editor)
  private var buffers: [String: Buffer] = [:] {
    didSet { editor.work.buffersChanged() }
  }
  /// Files whose changes arrived before their text; the service has requested the full text.
  private var strangers: Set<String> = []
  /// Whether more of the editor's messages may be waiting to be read.
  private(set) var isReceiving = false
  /// Buffers for which an edit may be due when all messages are read.
  private var withEdits: Set<String> = []

  var service: Service { editor.service }

  init(editor: Editor) {
    self.editor = editor
    editor.service.environment.openNotes.openings = { [weak self] in self?.openings ?? [] }
  }

  // MARK: Finding

  subscript(uri: String) -> Buffer? {
    get { buffers[uri] }
    set {
      buffers[uri] = newValue
      if case .attached? = newValue { service.siblings.twins.attached(uri) }
    }
  }

  var bindings: [BufferBinding] {
    buffers.values.compactMap { buffer in
      if case .attached(let binding) = buffer { binding } else { nil }
    }
  }

  private var openings: [NoteKey] {
    buffers.values.compactMap { buffer in
      if case .opening(let opening) = buffer { opening.key } else { nil }
    }
  }

  /// The buffers of plain files.
  var plainURIs: [String] {
    buffers.compactMap { uri, buffer in
      if case .plain = buffer { uri } else { nil }
    }
  }

  func bindings(of document: DocumentId) -> [BufferBinding] { bindings.filter { $0.id == document } }

  /// The buffer of a note; of several, the one with this URI, or that was opened first.
  func binding(at key: NoteKey, uri: String? = nil) -> BufferBinding? {
    let all = bindings.filter { $0.key == key }
    return all.first { $0.uri == uri } ?? all.first { $0.place.twin == nil } ?? all.first
  }

  /// Call when this process has changed the text of a note other than by taking in a peer's changes: the buffers that show it
  /// take the change in as they would a peer's.
  ///
  /// - Parameter author: the buffer that the change came from, and has it.
  func changed(
    _ note: NoteDocument, of handle: DocHandle, since heads: Set<ChangeHash>, by author: BufferBinding? = nil,
    cause: EditCause = .remote
  ) {
    let others = bindings.filter { $0.id == handle.id && $0.note.content == note.content && $0 !== author }
    guard !others.isEmpty, let edits = try? note.document.textEdits(obj: note.content, since: heads) else { return }
    for other in others { other.othersChanged(edits, cause: cause) }
  }

  /// The URI of a buffer that shows the document, or will when the document is here; if there is none, of the note's file.
  func uri(of document: DocumentId) -> String? {
    bindings(of: document).map(\.uri).min() ?? uris(of: document).first
      ?? service.notebook[document]?.path.map(FileURI.uri(path:))
  }

  /// The URIs of the buffers that show the document, or will when it is here, in order.
  func uris(of document: DocumentId) -> [String] {
    buffers.filter { _, buffer in
      switch buffer {
      case .attached(let binding): binding.id == document
      case .opening(let opening): opening.key.document == document && !opening.isClosed
      case .plain: false
      }
    }.keys.sorted()
  }

  // MARK: Order

  /// Reads messages of the editor. Other people's changes are sent once the editor's are applied: an edit for an outdated
  /// version would be dropped.
  func receive(_ messages: () -> Void) {
    isReceiving = true
    messages()
    isReceiving = false
    for uri in withEdits {
      if case .attached(let binding)? = buffers[uri] { binding.updates.sendEdit() }
    }
    withEdits.removeAll()
  }

  /// Call while messages are being read: an edit of this buffer may be due afterwards.
  func sendEditLater(_ uri: String) { withEdits.insert(uri) }

  /// Applies everything that the client has sent to the documents.
  func finishComparing() {
    for binding in bindings { binding.finishComparing() }
  }

  /// Runs the action at once, or when the document is there; never for a plain buffer.
  func whenAttached(_ uri: String, _ action: @escaping @AutomergeRepo (BufferBinding) -> Void) {
    switch buffers[uri] {
    case .attached(let binding): binding.whenCompared(action)
    case .opening(var opening):
      opening.waiting.append(action)
      buffers[uri] = .opening(opening)
    case .plain, nil: break
    }
  }

  /// Runs the action at once if the buffer's undo history is known, or the buffer is no note's. While the note is being opened,
  /// the action waits in order with the editor's other messages about it.
  func whenUndoIsKnown(_ uri: String, _ action: @escaping @AutomergeRepo (BufferBinding?) -> Void) {
    switch buffers[uri] {
    case .opening(let opening):
      whenOpened(uri, opening) { [weak self] binding in
        // The editor may have closed the buffer, and opened another one with this URI: that has a history of its own.
        guard let self, binding != nil || isStillOpening(uri, opening) else { return action(nil) }
        whenUndoIsKnown(uri, action)
      }
    case .attached(let binding):
      binding.undo.whenKnown { [weak self, weak binding] in
        guard case .attached(let current)? = self?.buffers[uri] else { return action(nil) }
        // The buffer may have followed its note to another document.
        if current === binding { action(current) } else { self?.whenUndoIsKnown(uri, action) }
      }
    case .plain, nil: action(nil)
    }
  }

  private func isStillOpening(_ uri: String, _ opening: Opening) -> Bool {
    if case .opening(let now)? = buffers[uri] { now.number == opening.number } else { false }
  }

  /// Runs the action when the note is opened, or cannot be.
  private func whenOpened(
    _ uri: String, _ opening: Opening, _ action: @escaping @AutomergeRepo (BufferBinding?) -> Void
  ) {
    var isDone = false
    let once = { @AutomergeRepo (binding: BufferBinding?) in
      guard !isDone else { return }
      isDone = true
      action(binding)
    }
    whenAttached(uri, once)
    let task = opener.task(opening)
    Task { @AutomergeRepo in
      await task?.value
      once(nil)
    }
  }

  /// Returns when no buffer of the document is being opened: it would be attached while the note is being deleted. Does
  /// not wait for a buffer that waits for peers.
  func settleOpenings(of id: DocumentId) async {
    for (uri, buffer) in buffers {
      guard case .opening(let opening) = buffer, opening.key.document == id, opening.waitsFor == nil else { continue }
      await OneReply<Void>.wait(otherwise: ()) { reply in
        whenOpened(uri, opening) { _ in reply.resume(returning: ()) }
      }
    }
  }

  /// Returns when what the client wrote into buffers that are still being opened, or that have outlived a service, is merged.
  func finishOpenings() async {
    for case .opening(let opening) in buffers.values
    where !opening.waiting.isEmpty || opening.waitsFor != nil || opening.mayHaveNews {
      await opener.task(opening)?.value
    }
  }

  // MARK: Messages

  /// - Parameters:
  ///   - reattachment: given if the buffer has outlived a service
  ///   - note: the id of the note that the client believes the file to be
  func open(_ uri: String, _ plain: PlainBuffer, _ reattachment: Reattachment?, asNote note: String?) {
    switch buffers[uri] {
    case .attached(let binding): binding.detach()
    case .opening(let opening): opener.keepTyped(opening, unlessIn: plain.text)
    case .plain, nil: break
    }
    guard let record = service.notebook.record(atURI: uri), let path = record.path else {
      buffers[uri] = .plain(plain)
      if let path = FileURI.path(uri: uri) { Task { @AutomergeRepo in await service.fileSync.movedFiles.found(path) } }
      if reattachment != nil || note != nil { tellUnlessFound(uri, note.flatMap { DocumentId($0) }) }
      return
    }
    opener.open(record, at: path, uri: uri, plain, reattachment: reattachment)
  }

  func change(_ uri: String, version: Int, rev: Int?, _ changes: [ContentChange]) {
    switch buffers[uri] {
    case .attached(let binding): binding.didChange(version: version, rev: rev, changes: changes)
    case .opening(var opening):
      opening.plain.apply(changes, version: version, in: editor.client.encoding)
      opening.waiting.append { $0.didChange(version: version, rev: rev, changes: changes) }
      buffers[uri] = .opening(opening)
    case .plain(var buffer):
      // Emptied first, so that the text is changed in place and not copied.
      buffers[uri] = nil
      buffer.apply(changes, version: version, in: editor.client.encoding)
      if let farewell = buffer.farewell { editor.send(farewell) }
      buffer.farewell = nil
      buffers[uri] = .plain(buffer)
    case nil:
      // The buffer was never opened, or a service that died lost it. The full text opens it when it arrives.
      guard strangers.contains(uri), case .fullText(let text)? = changes.last else {
        if strangers.count < Self.maximumStrangers { strangers.insert(uri) }
        return requestFullText(uri, reason: "this document is not open here")
      }
      strangers.remove(uri)
      open(uri, PlainBuffer(version: version, text: text), Reattachment(), asNote: nil)
    }
  }

  func close(_ uri: String) {
    guard case .opening(var opening)? = buffers[uri] else {
      if case .attached(let binding)? = buffers[uri] { return close(binding) }
      return buffers[uri] = nil
    }
    // The words that the person typed before closing the buffer enter the document when it arrives. In case this
    // process is killed before that, the journal has the text, or the recovered texts if it is long.
    opening.isClosed = true
    opening.waiting.append { [weak self] binding in self?.close(binding) }
    buffers[uri] = .opening(opening)
    guard opening.mayHaveNews else { return }
    let text = opening.plain.text
    if text.count <= RunJournal.maximumChangesBytes {
      service.journal.left(text, BufferKey(opening.key, uri: uri), on: service.recoveredTexts.newStamp().date)
    } else {
      // Writing it to the journal would block the loop.
      service.recoveredTexts.keepSoon(opening.key, "it was closed before it was merged", text)
    }
  }

  private func close(_ binding: BufferBinding) {
    buffers[binding.uri] = nil
    binding.finishComparing()
    binding.countWords()
    binding.detach()
    service.fileSync.outdated.examine(binding.key, binding.handle)
    closed(binding.place, binding.undo.closedItem)
    service.fileSync.watch(binding.handle)
    service.fileSync.plan(binding.handle, text: binding.note.content)
  }

  /// Records what the person has seen of a note, and forgets what the editor showed.
  private func closed(_ key: BufferKey, _ undo: StoredItem?) {
    Task { @AutomergeRepo in
      do {
        try await service.notebook.save(key.note, withBase: false)
        if let undo { try await service.notebook.storage.commit([.save(undo)]) }
        try await service.notebook.forgetClientBase(of: key.note, run: key.record(of: service.run))
      } catch {
        editor.log.warning("The store was not told that a note is closed: \(error)")
      }
    }
  }

  /// A notification about this document could not be understood, so the buffer's text is unknown.
  func textWentWrong(_ uri: String, reason: String) {
    switch buffers[uri] {
    case .attached, .opening: whenAttached(uri) { $0.resync(reason) }
    case .plain, nil: requestFullText(uri, reason: reason)
    }
  }

  private func requestFullText(_ uri: String, reason: String) {
    editor.notify(ResyncNotification(uri: uri, reason: reason))
  }
}
