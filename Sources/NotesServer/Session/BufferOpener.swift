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
    let (version, text, isReattached) = (plain.version, plain.text, reattachment != nil)
    let opening = Opening(
      number: nextNumber, key: record.key, version: version, text: text, plain: plain, isReattached: isReattached)
    nextNumber += 1
    buffers[uri] = .opening(opening)
    if !isReattached, attachAtOnce(uri: uri, record, opening) { return }
    tasks[opening.number] = Task { @AutomergeRepo in
      defer { tasks[opening.number] = nil }
      do {
        let handle = try await service.awaitedNotes.find(record.id) { [weak self] in
          self?.isOpening(uri, opening.number) ?? false
        } tell: { [weak self] source in
          if source != .reading {
            self?.waits(uri, opening.number, for: source)
          } else if !isReattached {
            self?.takesLong(uri, opening.number)
          }
        }
        // A buffer that outlived its service stays as it is meanwhile.
        let notice = service.clock.schedule(after: AwaitedNotes.patience) { [weak self] in
          if !isReattached { self?.takesLong(uri, opening.number) }
        }
        defer { notice.cancel() }
        // Other people's text may reach the file during the opening.
        let early = try await reading(uri, opening.number) { [service] in
          isReattached ? try await service.notebook.fileBases(of: record.key) : []
        }
        var origin: BufferOrigin? = .file
        if let reattachment {
          origin = try await reading(uri, opening.number) {
            try await self.origin(of: record.key, uri: uri, reattachment.memories, handle)
          }
        }
        // Buffers of unknown state are reopened one after the other: what one of them has is not new when the next
        // brings it.
        var turn: (any NoteClaim)?
        defer { withExtendedLifetime(turn) {} }
        let isGuessed = origin == nil
        if isGuessed {
          turn = await service.environment.turn("reattach-" + record.key.lockName)
          await service.siblings.settle()
          await caughtUp(handle)
        }
        // Another process may be merging the file's text. When it has done so, the file shows which text of the buffer
        // the note has.
        var claim = await service.environment.claim(
          record.key.lockName, exclusively: false, within: .seconds(isReattached ? 4 : 1))
        if claim != nil {
          try await reading(uri, opening.number) { [service] in
            try await service.fileSync.reconciler.keepName(path, of: record.key)
          }
        }
        await service.openFiles.settle(record.key)
        // Another process that has the note open may be merging what a program wrote to the file; the buffer has that
        // text, too.
        var fileTurn = await service.openFiles.turn(of: record.key)
        await service.siblings.follow(to: handle)
        try await reading(uri, opening.number) { try await self.loadBase(of: record.key, handle) }
        // What the file held when the buffer was opened.
        var held: TextBase?
        if isGuessed, let opened = reattachment?.opened,
          let base = try await reading(
            uri, opening.number,
            { try await self.takeIn(opened: opened, at: path, record.key, handle, early: early) })
        {
          (origin, held) = (.known(base, object: base.object), base)
        } else if isGuessed, reattachment?.isReread != true {
          let bases = try await reading(uri, opening.number) { [service] in
            try await service.notebook.clientBases(of: record.key, uri: uri, run: reattachment?.run)
          }
          origin = bases.isEmpty ? .stayed(early.map { $0.withChanges(of: reattachment?.run) }) : .oneOf(bases)
        } else if !isReattached || isGuessed {
          origin = try await reading(uri, opening.number) {
            try await self.origin(of: text, at: path, record.key, openedAs: wasPlain ? plain.opened : nil)
          }
          if isReattached, case .stayed(let left) = origin { origin = .stayed(left + early) }
          // A process that was killed may have merged the file's text without recording that.
          if origin?.mayBeKnownElsewhere ?? false {
            _ = try await reading(uri, opening.number) { [service] in try await service.environment.catchUp(handle) }
          }
        }
        var saved: TextDelta?
        if isReattached {
          let grewOutOf = origin ?? .file
          let found = try await reading(uri, opening.number) {
            try await self.savedMeanwhile(text, record.key, handle, grewOutOf)
          }
          switch found {
          case .isTakenIn(let base):
            origin = .known(base, object: NoteDocument(handle.document, item: record.item)?.textObject)
          case .isNews(let way): saved = way
          case nil: break
          }
        }
        var merged = await mergedOffLoop(text, handle, record.item, origin ?? .file, version: version)
        if !isReattached, let found = origin, found.mayBeKnownElsewhere, !(merged?.splices ?? []).isEmpty {
          let possible = try await reading(uri, opening.number) { [service] in
            try await service.notebook.editorTexts(of: record.key)
          }
          if case .stayed(let left) = found { origin = .stayed(left + possible) }
          merged = await mergedOffLoop(
            text, handle, record.item, origin ?? found, version: version, possible: found.isFile ? possible : [])
        }
        if !(merged?.splices ?? []).isEmpty, let stage = await stage(text, record.key, handle, origin ?? .file) {
          origin = stage
          merged = await mergedOffLoop(text, handle, record.item, stage, version: version)
        }
        try withExtendedLifetime(claim) {
          try attach(
            uri: uri, handle: handle, item: record.item, origin ?? .file, opening: opening.number, merged: merged,
            saved: saved, held: held, hasRead: !isReattached && !wasPlain, fileTurn: fileTurn)
        }
        // The buffer has its own claim now. With two, a deletion would be refused though no other editor has the note open. The
        // file's lock ends with the first look at it.
        (claim, fileTurn) = (nil, nil)
        if isGuessed { await caughtUp(handle) }
      } catch {
        await notOpened(uri: uri, opening: opening.number, error: error)
      }
    }
  }

  /// Attaches a buffer that shows the file's known text, if the document is here. False if more must be examined.
  private func attachAtOnce(uri: String, _ record: NoteRecord, _ opening: Opening) -> Bool {
    guard service.repo.siblings.isEmpty, service.notebook.knowsBase(of: record.key), !record.hasLeftBuffers,
      !service.openFiles.isBusy(record.key), let handle = service.repo.handle(of: record.id),
      !opening.text.isEmpty, opening.text.count < FileComparison.maximumBytesAtOnce,
      let note = NoteDocument(handle.document, item: record.item)
    else { return false }
    let (buffer, splices) = merge(note, handle, record.item, .file).open(version: opening.version, text: opening.text)
    guard splices.isEmpty else { return false }
    let merged = (buffer, splices, handle.document.heads())
    let attached: Void? = try? attach(
      uri: uri, handle: handle, item: record.item, .file, opening: opening.number, merged: merged)
    return attached != nil
  }

  /// Loads what the file held, and the changes that this refers to: another process, which may not be connected yet,
  /// has stored both. Otherwise the text that it wrote to the file would count as new.
  private func loadBase(of key: NoteKey, _ handle: DocHandle) async throws {
    try await service.environment.loadBase(of: key)
    let heads = service.notebook[key]?.fileBase?.heads ?? []
    if !handle.document.unknown(heads).isEmpty { try await handle.takeStored(with: heads) }
  }

  // MARK: Waiting for the document

  private func isOpening(_ uri: String, _ number: Int) -> Bool {
    if case .opening(let opening)? = buffers[uri] { opening.number == number } else { false }
  }

  /// Reads from the store, again each second while that fails: the buffer waits, as for the document, and then becomes
  /// the note.
  private func reading<Value>(
    _ uri: String, _ number: Int, _ read: @AutomergeRepo () async throws -> Value
  ) async throws -> Value {
    var isTold = false
    while true {
      do {
        return try await read()
      } catch let error as StorageError {
        guard isOpening(uri, number), editor.isRunning else { throw error }
        if !isTold {
          editor.log.warning("\(uri) waits for the store: \(error)")
          waits(uri, number, for: .store)
        }
        isTold = true
        guard await service.clock.pause(for: Self.retryInterval), editor.isRunning else { throw error }
      }
    }
  }

  /// The buffer stays as it is until the document arrives: tells the person in the editor.
  private func waits(_ uri: String, _ number: Int, for source: AwaitedNotes.Source) {
    guard case .opening(var opening)? = buffers[uri], opening.number == number else { return }
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
  private func takesLong(_ uri: String, _ number: Int) {
    guard case .opening(var opening)? = buffers[uri], opening.number == number, opening.waitsFor == nil, !opening.isSlow
    else { return }
    opening.isSlow = true
    buffers[uri] = .opening(opening)
    editor.work.look(at: uri)
    tell(uri, message: "Opening \"\(title(opening))\"…")
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

  private typealias Merged = (buffer: OpenBuffer, splices: [TextSplice], heads: Set<ChangeHash>)

  /// The merge for opening the buffer, computed off the loop; nil if it can as well be computed on it.
  private func mergedOffLoop(
    _ text: [UInt8], _ handle: DocHandle, _ item: String?, _ origin: BufferOrigin, version: Int,
    possible: [TextBase] = []
  ) async -> Merged? {
    for _ in 0..<Self.maximumComparisons {
      guard let note = NoteDocument(handle.document, item: item) else { return nil }
      let heads = handle.document.heads()
      let merge = merge(note, handle, item, origin, possible: possible)
      if let (buffer, splices) = await merge.openOffLoop(version: version, text: text) {
        return (buffer, splices, heads)
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
    uri: String, handle: DocHandle, item: String?, _ origin: BufferOrigin, opening number: Int, merged: Merged? = nil,
    saved: TextDelta? = nil, held: TextBase? = nil, hasRead: Bool = false, fileTurn: (any NoteClaim)? = nil
  ) throws(NotesError) {
    let showsFile = hasRead && origin.isFile
    // The buffer may have been closed, or reopened, while the document was being fetched.
    guard case .opening(let opening)? = buffers[uri], opening.number == number else { return }
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

  private func notOpened(uri: String, opening number: Int, error: any Error) async {
    guard case .opening(let opening)? = buffers[uri], opening.number == number else { return }
    // The editor may be about to exit with the only copy, or may no longer show it.
    if !editor.isRunning || opening.isClosed { await UnmergedText(opening, uri: uri).keep(in: service) }
    guard isOpening(uri, number) else { return }
    editor.log.error("\(uri) was not attached: \(error)")
    guard !opening.isClosed else { return buffers[uri] = nil }
    buffers[uri] = .plain(opening.plain)
    if editor.isRunning { buffers.leftPlain(uri, opening.plain, .notOpened) }
    let message = ResponseError(replyingTo: error).message
    editor.notify(ShowMessageNotification(kind: .error, message: "notes-lsp: \(message)"))
  }
}
