import Automerge
import AutomergeRepo
import JSONRPC

/// Opens the notes whose files an editor's buffers show: fetches the document, merges the buffer's text into it, and attaches
/// the two.
///
///     opening ──the document is here──► what the text grew out of is known ──merged──► attached
///        └──there is none──► plain
@AutomergeRepo
final class BufferOpener {
  /// The pause after a failed read of the store before the next one.
  private static let retryInterval: Duration = .seconds(1)

  private let editor: Editor
  private var nextNumber = 0
  /// By the numbers of their openings.
  private var tasks: [Int: Task<Void, Never>] = [:]

  var service: Service { editor.service }
  var buffers: EditorBuffers { editor.buffers }

  init(editor: Editor) { self.editor = editor }

  /// The task that opens the note; nil if it is done.
  func task(_ opening: Opening) -> Task<Void, Never>? { tasks[opening.number] }

  /// Opens the note whose file a buffer shows.
  ///
  /// - Parameters:
  ///   - wasPlain: whether the buffer was a plain file's, which its client may have changed since
  ///   - reattachment: given if the buffer has outlived a service
  func open(
    _ record: NoteRecord, at path: String, uri: String, _ plain: PlainBuffer, wasPlain: Bool = false,
    reattachment: Reattachment? = nil
  ) {
    let buffer = OpenedBuffer(
      uri: uri, number: nextNumber, record: record, path: path, version: plain.version, text: plain.text,
      plainText: wasPlain ? plain.opened : nil, reattachment: reattachment)
    nextNumber += 1
    buffers[uri] = .opening(
      Opening(
        number: buffer.number, key: buffer.key, version: buffer.version, text: buffer.text, plain: plain,
        isReattached: buffer.isReattached))
    if !buffer.isReattached, attachAtOnce(buffer) { return }
    tasks[buffer.number] = Task { @AutomergeRepo in
      defer { tasks[buffer.number] = nil }
      do {
        try await open(buffer)
      } catch {
        await notOpened(buffer, error)
      }
    }
  }

  /// Attaches a buffer that shows the file's known text, if the document is here. False if more must be examined.
  private func attachAtOnce(_ buffer: OpenedBuffer) -> Bool {
    let record = buffer.record
    guard service.repo.siblings.isEmpty, service.notebook.knowsBase(of: record.key), !record.hasLeftBuffers,
      !service.openFiles.isBusy(record.key), let handle = service.repo.handle(of: record.id),
      !buffer.text.isEmpty, buffer.text.count < FileComparison.maximumBytesAtOnce,
      let note = NoteDocument(handle.document, item: record.item)
    else { return false }
    let (state, splices) = merge(note, handle, record.item, .file).open(version: buffer.version, text: buffer.text)
    guard splices.isEmpty else { return false }
    let attached: Void? = try? attach(buffer, to: handle, .file, (state, splices, handle.document.heads()))
    return attached != nil
  }

  private func open(_ buffer: OpenedBuffer) async throws {
    let handle = try await document(of: buffer)
    // A buffer that outlived its service stays as it is meanwhile.
    let notice = service.clock.schedule(after: AwaitedNotes.patience) { [weak self] in
      if !buffer.isReattached { self?.takesLong(buffer) }
    }
    defer { notice.cancel() }
    // Other people's text may reach the file during the opening.
    let early = try await reading(buffer) { [service] in
      buffer.isReattached ? try await service.notebook.fileBases(of: buffer.key) : []
    }
    let remembered = try await rememberedOrigin(of: buffer, handle)
    let isGuessed = buffer.isReattached && remembered == nil
    let turn = isGuessed ? await turnToGuess(buffer, handle) : nil
    defer { withExtendedLifetime(turn) {} }
    var rights: Rights? = try await rights(to: buffer)
    await service.siblings.follow(to: handle)
    try await reading(buffer) { try await self.loadBase(of: buffer.key, handle) }
    var (origin, held) = try await origin(of: buffer, handle, remembered: remembered, early: early)
    let saved = buffer.isReattached ? try await saved(buffer, handle, &origin) : nil
    let merged = try await merged(buffer, handle, &origin)
    try attach(
      buffer, to: handle, origin, merged, saved: saved, held: held,
      hasRead: !buffer.isReattached && buffer.plainText == nil, fileTurn: rights?.fileTurn)
    // The buffer has its own claim now. With two, a deletion would be refused though no other editor has the note open. The
    // file's lock ends with the first look at it.
    withExtendedLifetime(rights) {}
    rights = nil
    if isGuessed { await caughtUp(handle) }
  }

  /// Waits for the document, and tells the person what it waits for.
  private func document(of buffer: OpenedBuffer) async throws -> DocHandle {
    try await service.awaitedNotes.find(buffer.record.id) { [weak self] in
      self?.isOpening(buffer) ?? false
    } tell: { [weak self] source in
      if source != .reading {
        self?.waits(buffer, for: source)
      } else if !buffer.isReattached {
        self?.takesLong(buffer)
      }
    }
  }

  /// Buffers of unknown state are reopened one after the other: what one of them has is not new when the next brings it.
  private func turnToGuess(_ buffer: OpenedBuffer, _ handle: DocHandle) async -> (any NoteClaim)? {
    let turn = await service.environment.turn("reattach-" + buffer.key.lockName)
    await service.siblings.settle()
    await caughtUp(handle)
    return turn
  }

  /// What is held until a buffer is attached: the right to the note's file, and the turn to record what that holds.
  private struct Rights {
    let claim: (any NoteClaim)?
    let fileTurn: (any NoteClaim)?
  }

  private func rights(to buffer: OpenedBuffer) async throws -> Rights {
    // Another process may be merging the file's text. When it has done so, the file shows which text of the buffer
    // the note has.
    let claim = await service.environment.claim(
      buffer.key.lockName, exclusively: false, within: .seconds(buffer.isReattached ? 4 : 1))
    if claim != nil {
      try await reading(buffer) { [service] in
        try await service.fileSync.reconciler.keepName(buffer.path, of: buffer.key)
      }
    }
    await service.openFiles.settle(buffer.key)
    // Another process that has the note open may be merging what a program wrote to the file; the buffer has that
    // text, too.
    return Rights(claim: claim, fileTurn: await service.openFiles.turn(of: buffer.key))
  }

  /// Loads what the file held, and the changes that this refers to: another process, which may not be connected yet,
  /// has stored both. Otherwise the text that it wrote to the file would count as new.
  private func loadBase(of key: NoteKey, _ handle: DocHandle) async throws {
    try await service.environment.loadBase(of: key)
    let heads = service.notebook[key]?.fileBase?.heads ?? []
    if !handle.document.unknown(heads).isEmpty { try await handle.takeStored(with: heads) }
  }

  // MARK: Waiting for the document

  private func isOpening(_ buffer: OpenedBuffer) -> Bool { opening(of: buffer) != nil }

  /// Nil if the buffer is open by now, was closed, or was opened again.
  private func opening(of buffer: OpenedBuffer) -> Opening? {
    guard case .opening(let opening)? = buffers[buffer.uri], opening.number == buffer.number else { return nil }
    return opening
  }

  /// Reads from the store, again each second while that fails: the buffer waits, as for the document, and then becomes
  /// the note.
  func reading<Value>(_ buffer: OpenedBuffer, _ read: @AutomergeRepo () async throws -> Value) async throws -> Value {
    var isTold = false
    while true {
      do {
        return try await read()
      } catch let error as StorageError {
        guard isOpening(buffer), editor.isRunning else { throw error }
        if !isTold {
          editor.log.warning("\(buffer.uri) waits for the store: \(error)")
          waits(buffer, for: .store)
        }
        isTold = true
        guard await service.clock.pause(for: Self.retryInterval), editor.isRunning else { throw error }
      }
    }
  }

  /// The buffer stays as it is until the document arrives: tells the person in the editor.
  private func waits(_ buffer: OpenedBuffer, for source: AwaitedNotes.Source) {
    guard var opening = opening(of: buffer) else { return }
    let uri = buffer.uri
    let id = opening.key.document
    let host = service.sharing.host(of: id)
    let name = source == .store ? "the store" : host.map { NoteNews.cut($0.name, to: 16) } ?? "a peer"
    opening.waitsFor = name
    buffers[uri] = .opening(opening)
    editor.work.look(at: uri)
    let title = service.notebook[opening.key]?.title ?? service.title(of: id)
    editor.deliver(
      NoteNews.waiting(for: name).parameters(uri: uri, id: id, title: title, peer: host?.peer, name: host?.name))
    guard editor.client.speaksNotes else { return }
    editor.notify(StatusChangedNotification(uri: uri, status: NoteStatus(of: opening, service).json))
  }

  /// A large note takes its time to read and to compare: tells the person, once, that it is being opened.
  private func takesLong(_ buffer: OpenedBuffer) {
    guard var opening = opening(of: buffer), opening.waitsFor == nil, !opening.isSlow else { return }
    opening.isSlow = true
    buffers[buffer.uri] = .opening(opening)
    editor.work.look(at: buffer.uri)
    tell(buffer.uri, message: "Opening \"\(title(opening))\"…")
  }

  private func tell(_ uri: String, message: String) {
    editor.deliver(["kind": "progress", "uri": .string(uri), "message": .string(message)])
  }

  private func title(_ opening: Opening) -> String {
    NoteNews.cut(service.notebook[opening.key]?.title ?? service.title(of: opening.key.document), to: 40)
  }

  /// Call when the buffer is reopened before its document has arrived. What the person typed since may exist nowhere
  /// else.
  func keepTyped(_ opening: Opening, unlessIn text: [UInt8]) {
    guard opening.mayHaveNews, opening.plain.text != text else { return }
    service.recoveredTexts.keepSoon(
      opening.key, "the file was read again before the note arrived", opening.plain.text)
  }

  // MARK: Merging

  /// Returns when every peer on the document has what we have, or after a while.
  ///
  /// A service that died may have sent words that it had not stored. They come back from the peers; if the editor's text were
  /// merged first, they would be there twice.
  private func caughtUp(_ handle: DocHandle) async {
    let id = handle.id
    func isCaughtUp() -> Bool {
      service.sharing.peers.filter { $0.has(id) }.allSatisfy { handle.inSync(with: $0.peer) }
        && service.repo.siblings.allSatisfy { handle.inSync(with: $0) }
    }
    var observation: Observation?
    var deadline: (any ScheduledAction)?
    await OneReply<Void>.wait(otherwise: ()) { reply in
      guard !isCaughtUp() else { return reply.resume(returning: ()) }
      observation = handle.observe { event in
        if case .peersChanged = event, isCaughtUp() { reply.resume(returning: ()) }
      }
      deadline = service.clock.schedule(after: Self.catchingUpTime) { reply.resume(returning: ()) }
    }
    observation?.cancel()
    deadline?.cancel()
  }

  /// How long a reopened buffer waits for peers, which may be gone.
  private static let catchingUpTime: Duration = .seconds(8)

  /// How many times a merge off the loop is tried if the document changes meanwhile.
  private static let maximumComparisons = 5

  typealias Merged = (buffer: OpenBuffer, splices: [TextSplice], heads: Set<ChangeHash>)

  /// The merge for opening the buffer, computed off the loop; nil if it can as well be computed on it.
  func mergedOffLoop(
    _ buffer: OpenedBuffer, _ handle: DocHandle, _ origin: BufferOrigin, possible: [TextBase] = []
  ) async -> Merged? {
    for _ in 0..<Self.maximumComparisons {
      guard let note = NoteDocument(handle.document, item: buffer.record.item) else { return nil }
      let heads = handle.document.heads()
      let merge = merge(note, handle, buffer.record.item, origin, possible: possible)
      if let (state, splices) = await merge.openOffLoop(version: buffer.version, text: buffer.text) {
        return (state, splices, heads)
      }
    }
    return nil
  }

  func merge(
    _ note: NoteDocument, _ handle: DocHandle, _ item: String?, _ origin: BufferOrigin, possible: [TextBase] = []
  ) -> ThreeWayMerge {
    let record = service.notebook[NoteKey(handle.id, item: item)]
    // If a meeting's item was moved since, these bases are of another text object. With the file's base, the merge
    // detects that.
    let isSame = record?.isBaseAbout(note) ?? true
    var (bases, isExact) = (record?.fileBase.map { [$0] } ?? [], false)
    switch origin {
    case .file: break
    case .missingFile, .unrelated: bases = []
    case .stayed(let found): bases = found + (record?.fileBases ?? []).filter { !found.contains($0) }
    case .oneOf(let found): bases = found
    case .known(let base, let object): if object == note.textObject { (bases, isExact) = ([base], true) }
    }
    return ThreeWayMerge(
      note: note, bases: isSame || isExact || origin.isFile ? bases : [], isExact: isExact,
      encoding: editor.client.encoding,
      gate: editor.client.gate, possibleBases: possible, isDoubtful: origin.isDoubtful, isFile: origin.isFile)
  }

  private func attach(
    _ shown: OpenedBuffer, to handle: DocHandle, _ origin: BufferOrigin, _ merged: Merged?, saved: TextDelta? = nil,
    held: TextBase? = nil, hasRead: Bool = false, fileTurn: (any NoteClaim)? = nil
  ) throws(NotesError) {
    let (uri, item) = (shown.uri, shown.record.item)
    let showsFile = hasRead && origin.isFile
    // The buffer may have been closed, or reopened, while the document was being fetched.
    guard let opening = opening(of: shown) else { return }
    guard let note = NoteDocument(handle.document, item: item) else {
      guard item == nil || MeetingDocument(handle.document) == nil else { return itemIsDeleted(uri: uri, opening) }
      throw NotesError(.notANote, "The document \(handle.id) has no such text.")
    }
    let (buffer, splices): (OpenBuffer, [TextSplice])
    if let merged, merged.heads == handle.document.heads() {
      (buffer, splices) = (merged.buffer, merged.splices)
    } else {
      (buffer, splices) = merge(note, handle, item, origin).open(version: opening.version, text: opening.text)
    }
    if origin.isDoubtful, splices.contains(where: { $0.deleteUTF8 > 0 }) {
      service.recoveredTexts.keepSoon(opening.key, "an old buffer replaced parts of it", DocumentText(note).allUTF8)
    }
    if origin.isFile, service.mayWrite(handle.id) {
      service.recoveredTexts.keepIfCut(note, by: opening.text, splices, of: opening.key)
    }
    let binding = BufferBinding(
      uri: uri, handle: handle, note: note, buffer: buffer, splices: splices, showsFile: showsFile, editor: editor)
    if origin.isTyped, !splices.isEmpty { binding.undo.typedUnheard() }
    buffers[uri] = .attached(binding)
    if let fileTurn { binding.file.lookFirst(holding: fileTurn) }
    // Another program may have written to the file since the editor read it.
    if let held = hasRead && !opening.text.isEmpty ? binding.clientTextBase : held { binding.file.opened(with: held) }
    if let saved { binding.wroteEarlier(saved) }
    for message in opening.waiting { message(binding) }
    if opening.waitsFor != nil { binding.updates.statusChanged() }
    if opening.isSlow { tell(uri, message: "Opened \"\(title(opening))\"") }
    // The note was deleted while it was being opened, when there was no binding yet that could be told.
    if !service.fileSync.followDeletion(of: handle), let reason = service.notebook[handle.id]?.wayOfDeletion {
      return buffers.detach(uri, reason)
    }
    // The note was moved to another document while it was being opened.
    let latest = service.notebook.latest(handle.id)
    if latest != handle.id { Task { @AutomergeRepo in await service.mover.heardOfMove(handle.id, to: latest) } }
  }

  /// The agenda item was deleted while its buffer was being opened.
  private func itemIsDeleted(uri: String, _ opening: Opening) {
    let isShown = editor.isRunning && !opening.isClosed
    buffers[uri] = opening.isClosed ? nil : .plain(opening.plain)
    if isShown { buffers.leftPlain(uri, opening.plain, .itemDeleted, service.notebook[opening.key]) }
    let text = opening.plain.text
    let key = BufferKey(opening.key, uri: uri)
    guard !text.isEmpty else { return service.journal.keptLeft(key) }
    service.recoveredTexts.keepSoon(
      opening.key, "its agenda item was deleted while it was being opened", text, isTold: isShown
    ) { [journal = service.journal] in journal.keptLeft(key) }
    service.recoveredTexts.kept(text, ofDeleted: opening.key)
  }

  private func notOpened(_ buffer: OpenedBuffer, _ error: any Error) async {
    guard let opening = opening(of: buffer) else { return }
    let uri = buffer.uri
    // The editor may be about to exit with the only copy, or may no longer show it.
    if !editor.isRunning || opening.isClosed { await UnmergedText(opening, uri: uri).keep(in: service) }
    guard isOpening(buffer) else { return }
    editor.log.error("\(uri) was not attached: \(error)")
    guard !opening.isClosed else { return buffers[uri] = nil }
    buffers[uri] = .plain(opening.plain)
    if editor.isRunning { buffers.leftPlain(uri, opening.plain, .notOpened) }
    let message = ResponseError(replyingTo: error).message
    editor.notify(ShowMessageNotification(kind: .error, message: "notes-lsp: \(message)"))
  }
}
