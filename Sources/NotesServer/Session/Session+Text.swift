import Automerge
import AutomergeRepo
import Foundation
import JSONRPC

/// The notifications that carry text. None of them awaits anything: their order matters.
extension Session {
  private static let mostStrangers = 256

  func didOpen(_ params: Parameters) throws {
    let item = try params.object("textDocument")
    let uri = try item.string("uri")
    let version = try item.intIfPresent("version") ?? 0
    let text = lineEndsUnified(Array(try item.string("text").utf8))
    let notes = try params.objectIfPresent("notes")
    let isReattached = try notes?.boolIfPresent("reattach") ?? false
    let run = try notes?.stringIfPresent("run")
    let memories = try notes.map { notes throws(ResponseError) in try self.memories(of: notes) } ?? []
    switch buffers[uri] {
    case .attached(let attachment): attachment.detach()
    case .opening(let opening): keepTyped(opening, unlessIn: text)
    case .plain, nil: break
    }
    guard let path = FileURI.path(uri: uri), let record = service.notebook.record(atPath: path) else {
      buffers[uri] = .plain(PlainBuffer(version: version, text: text))
      let id = try notes?.stringIfPresent("id")
      if isReattached || id != nil { tellUnlessFound(uri, version, id.flatMap { DocumentId($0) }) }
      return
    }
    open(
      record, at: path, uri: uri, PlainBuffer(version: version, text: text), isReattached: isReattached, run: run,
      memories)
  }

  /// Opens the note whose file a buffer shows.
  ///
  /// - Parameter wasPlain: whether the buffer was a plain file's, which its client may have changed since
  func open(
    _ record: NoteRecord, at path: String, uri: String, _ plain: PlainBuffer, wasPlain: Bool = false,
    isReattached: Bool = false, run: String? = nil, _ memories: [RunJournal.Memory] = []
  ) {
    let (version, text) = (plain.version, plain.text)
    let opening = Opening(
      number: nextOpening, key: record.key, isReattached: isReattached, version: version, text: text, plain: plain)
    nextOpening += 1
    buffers[uri] = .opening(opening)
    if !isReattached, attachAtOnce(uri: uri, record, opening) { return }
    openings[opening.number] = Task { @AutomergeRepo in
      defer { openings[opening.number] = nil }
      do {
        let handle = try await service.awaitedNotes.find(record.id) { [weak self] in
          self?.isOpening(uri, opening.number) ?? false
        } tell: { [weak self] source in
          self?.waits(uri, opening.number, for: source)
        }
        // Other people's words may reach the file while this goes on.
        let early = isReattached ? try await service.notebook.fileBases(of: record.key) : []
        var origin = isReattached ? await origin(of: record.key, memories, handle) : .file
        // Editors of unknown state come back one after the other: what one of them has is not new when the next brings it.
        var turn: (any NoteClaim)?
        defer { withExtendedLifetime(turn) {} }
        let isGuessed = origin == nil
        if isGuessed {
          turn = await service.reattachingTurn(of: record.key)
          await service.siblingsAreThere()
          await caughtUp(handle)
        }
        // Another process may be taking in what the file holds. When it has done so, the file shows which words of the buffer the
        // note has.
        var claim = await service.claim(
          record.key.lockName, exclusively: false, within: .seconds(isReattached ? 4 : 1))
        await service.followSiblings(to: handle)
        await service.openFiles.settle(record.key)
        try await service.loadBase(of: record.key)
        if isGuessed {
          let bases = try await service.notebook.clientBases(of: record.key, run: run)
          origin = bases.isEmpty ? .stayed(early.map { $0.withChanges(of: run) }) : .oneOf(bases)
        } else if !isReattached {
          origin = try await self.origin(of: text, at: path, record.key, openedAs: wasPlain ? plain.opened : nil)
        }
        var saved: TextDelta?
        if isReattached {
          switch try await savedMeanwhile(text, record.key, handle, origin ?? .file) {
          case .isTakenIn(let base):
            origin = .known(base, object: NoteDocument(handle.document, item: record.item)?.textObject)
          case .isNews(let way): saved = way
          case nil: break
          }
        }
        let merged = await mergedOffLoop(text, handle, record.item, origin ?? .file, version: version)
        withExtendedLifetime(claim) {
          attach(
            uri: uri, handle: handle, item: record.item, origin ?? .file, opening: opening.number, merged: merged,
            saved: saved)
        }
        // The buffer has one of its own now. With two, a deletion would be refused though no other editor has the note open.
        claim = nil
        if isGuessed { await caughtUp(handle) }
      } catch {
        await notOpened(uri: uri, opening: opening.number, error: error)
      }
    }
  }

  /// Attaches a buffer that shows the file's known text, if the document is here. False if more has to be found out.
  private func attachAtOnce(uri: String, _ record: NoteRecord, _ opening: Opening) -> Bool {
    guard service.repo.siblings.isEmpty, service.notebook.knowsBase(of: record.key), !record.hasLeftBuffers,
      !service.openFiles.isBusy(record.key), let handle = service.repo.handle(of: record.id),
      !opening.text.isEmpty, opening.text.count < Self.largestComparedAtOnce,
      let note = NoteDocument(handle.document, item: record.item)
    else { return false }
    let (buffer, splices) = merge(note, handle, record.item, .file).open(version: opening.version, text: opening.text)
    guard splices.isEmpty else { return false }
    let merged = (buffer, splices, handle.document.heads())
    attach(uri: uri, handle: handle, item: record.item, .file, opening: opening.number, merged: merged)
    return true
  }

  func didChange(_ params: Parameters) throws {
    let item = try params.object("textDocument")
    let uri = try item.string("uri")
    let version = try item.int("version")
    let rev = try params.objectIfPresent("notes")?.intIfPresent("rev")
    let changes = try params.array("contentChanges").map { change throws(ResponseError) in try contentChange(change) }
    switch buffers[uri] {
    case .attached(let attachment): attachment.didChange(version: version, rev: rev, changes: changes)
    case .opening(var opening):
      opening.plain.apply(changes, version: version, in: encoding)
      opening.waiting.append { $0.didChange(version: version, rev: rev, changes: changes) }
      buffers[uri] = .opening(opening)
    case .plain(var buffer):
      // Emptied first, so that the text is changed in place.
      buffers[uri] = nil
      buffer.apply(changes, version: version, in: encoding)
      if let farewell = buffer.farewell { deliver(farewell) }
      buffer.farewell = nil
      buffers[uri] = .plain(buffer)
    case nil:
      // Never opened, or lost by a service that died: the full text, when it comes, opens it.
      guard strangers.contains(uri), case .fullText(let text)? = changes.last else {
        if strangers.count < Self.mostStrangers { strangers.insert(uri) }
        return requestFullText(uri: uri, reason: "this document is not open here")
      }
      strangers.remove(uri)
      try didOpen(
        Parameters([
          "textDocument": [
            "uri": .string(uri), "languageId": "text", "version": JSONValue(version),
            "text": .string(String(decoding: text, as: UTF8.self)),
          ],
          "notes": ["reattach": true],
        ]))
    }
  }

  func didClose(_ params: Parameters) throws {
    let uri = try params.object("textDocument").string("uri")
    guard case .opening(var opening)? = buffers[uri] else {
      if case .attached(let attachment)? = buffers[uri] { return close(attachment) }
      return buffers[uri] = nil
    }
    // What was typed before it was closed enters the document when that is there.
    opening.waiting.append { [weak self] attachment in self?.close(attachment) }
    buffers[uri] = .opening(opening)
  }

  private func close(_ attachment: Attachment) {
    buffers[attachment.uri] = nil
    attachment.finishComparing()
    attachment.countWords()
    attachment.detach()
    closed(attachment.key, attachment.undoItem)
    service.caretaker.watch(attachment.handle)
    service.caretaker.plan(attachment.handle, text: attachment.note.content)
  }

  /// Records what the person has seen of a note, and forgets what the editor had.
  private func closed(_ key: NoteKey, _ undo: StoredItem?) {
    Task { @AutomergeRepo in
      do {
        try await service.notebook.save(key, withBase: false)
        if let undo { try await service.notebook.storage.commit([.save(undo)]) }
        try await service.notebook.forgetClientBase(of: key, run: service.run)
      } catch {
        log.warning("The store was not told that a note is closed: \(error)")
      }
    }
  }

  func ack(_ params: Parameters) throws {
    let (version, rev) = (try params.int("version"), try params.int("rev"))
    whenAttached(try params.string("uri")) { $0.ack(version: version, rev: rev) }
  }

  func cursor(_ params: Parameters) throws {
    let (version, rev) = (try params.int("version"), try params.int("rev"))
    let ranges = try params.array("ranges").map { range throws(ResponseError) in try positionRange(range) }
    whenAttached(try params.string("uri")) { $0.cursor(version: version, rev: rev, ranges: ranges) }
  }

  /// Runs the action at once, or when the document is there; never for a plain buffer.
  func whenAttached(_ uri: String, _ action: @escaping @AutomergeRepo (Attachment) -> Void) {
    switch buffers[uri] {
    case .attached(let attachment): attachment.whenCompared(action)
    case .opening(var opening):
      opening.waiting.append(action)
      buffers[uri] = .opening(opening)
    case .plain, nil: break
    }
  }

  /// A notification about this document could not be understood, so the buffer's text is unknown.
  func textWentWrong(uri: String, reason: String) {
    switch buffers[uri] {
    case .attached, .opening: whenAttached(uri) { $0.resync(reason) }
    case .plain, nil: requestFullText(uri: uri, reason: reason)
    }
  }

  private func requestFullText(uri: String, reason: String) {
    connection.notify("notes/resync", ["uri": .string(uri), "reason": .string(reason)])
  }

  // MARK: Attaching

  /// A buffer that has just become a note: its text is the document's.
  func attachAdopted(uri: String, handle: DocHandle, version: Int) throws(NotesError) {
    guard let note = NoteDocument(handle.document) else { throw NotesError(.notANote, "The document holds no text.") }
    let buffer = OpenBuffer(version: version, encoding: encoding, gate: isNotesClient ? .notes : .plain)
    buffers[uri] = .attached(
      Attachment(uri: uri, handle: handle, note: note, buffer: buffer, splices: [], session: self))
  }

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

  /// Longer texts are compared off the loop, which they would block for milliseconds.
  nonisolated static let largestComparedAtOnce = 32 << 10
  /// How many times that is tried if the document changes meanwhile.
  private static let mostComparisons = 5

  private typealias Merged = (buffer: OpenBuffer, splices: [TextSplice], heads: Set<ChangeHash>)

  /// The merge for opening the buffer, computed off the loop; nil if it can as well be computed on it.
  private func mergedOffLoop(
    _ text: [UInt8], _ handle: DocHandle, _ item: String?, _ origin: BufferOrigin, version: Int
  ) async -> Merged? {
    for _ in 0..<Self.mostComparisons {
      guard let note = NoteDocument(handle.document, item: item) else { return nil }
      let heads = handle.document.heads()
      let merge = merge(note, handle, item, origin)
      if let (buffer, splices) = await merge.openOffLoop(version: version, text: text) {
        return (buffer, splices, heads)
      }
    }
    return nil
  }

  /// Finds out what the text of a buffer grew out of that has outlived services; nil if unknown.
  private func origin(of key: NoteKey, _ memories: [RunJournal.Memory], _ handle: DocHandle) async -> BufferOrigin? {
    switch await service.journal.origin(of: key, memories, handle, service.notebook.storage) {
    case .known(let base, let object): .known(base, object: object)
    case .reloaded: .file
    case .unknown: nil
    }
  }

  func merge(
    _ note: NoteDocument, _ handle: DocHandle, _ item: String?, _ origin: BufferOrigin
  ) -> OpeningMerge {
    let record = service.notebook[NoteKey(handle.id, item: item)]
    // If a meeting's item was moved since, these bases are about another text object. With the file's base, the merge notices.
    let isSame = record?.isBaseAbout(note) ?? true
    var (bases, isExact) = (record?.fileBase.map { [$0] } ?? [], false)
    switch origin {
    case .file: break
    case .missingFile, .unrelated: bases = []
    case .stayed(let found): bases = found + (record?.fileBases ?? []).filter { !found.contains($0) }
    case .oneOf(let found): bases = found
    case .known(let base, let object): if object == note.textObject { (bases, isExact) = ([base], true) }
    }
    return OpeningMerge(
      note: note, bases: isSame || isExact || origin.isFile ? bases : [], isExact: isExact, encoding: encoding,
      gate: isNotesClient ? .notes : .plain, isDoubtful: origin.isDoubtful)
  }

  private func attach(
    uri: String, handle: DocHandle, item: String?, _ origin: BufferOrigin, opening number: Int, merged: Merged? = nil,
    saved: TextDelta? = nil
  ) {
    // It may have been closed, or reopened, while the document was being fetched.
    guard case .opening(let opening)? = buffers[uri], opening.number == number else { return }
    guard let note = NoteDocument(handle.document, item: item) else {
      let error = NotesError(.notANote, "The document \(handle.id) holds no such text.")
      return fallBack(uri: uri, opening, error: error)
    }
    let (buffer, splices): (OpenBuffer, [TextSplice])
    if let merged, merged.heads == handle.document.heads() {
      (buffer, splices) = (merged.buffer, merged.splices)
    } else {
      (buffer, splices) = merge(note, handle, item, origin).open(version: opening.version, text: opening.text)
    }
    if origin.isDoubtful, splices.contains(where: { $0.deleteUTF8 > 0 }) {
      service.keepSoon(handle.id, "an old buffer of it replaced parts of it", DocumentText(note).allUTF8)
    }
    let attachment = Attachment(
      uri: uri, handle: handle, note: note, buffer: buffer, splices: splices, session: self)
    buffers[uri] = .attached(attachment)
    if let saved { attachment.wroteEarlier(saved) }
    for message in opening.waiting { message(attachment) }
    if opening.waitsFor != nil { attachment.statusChanged() }
    // The note was moved to another document while it was being opened.
    let latest = service.notebook.latest(handle.id)
    if latest != handle.id { Task { @AutomergeRepo in await service.mover.heardOfMove(handle.id, to: latest) } }
  }

  private func notOpened(uri: String, opening number: Int, error: any Error) async {
    guard case .opening(let opening)? = buffers[uri], opening.number == number else { return }
    // The editor may be about to exit with the only copy.
    if phase != .running { await UnmergedText(opening).keep(in: service) }
    fallBack(uri: uri, opening, error: error)
  }

  private func fallBack(uri: String, _ opening: Opening, error: any Error) {
    buffers[uri] = .plain(opening.plain)
    log.error("\(uri) was not attached: \(error)")
    if phase == .running { leftPlain(uri, opening.plain, .notOpened) }
    let message = ResponseError(replyingTo: error).message
    connection.notify("window/showMessage", ["type": 1, "message": .string("notes-lsp: \(message)")])
  }

  // MARK: Reading

  private static let mostMemories = 8

  /// What an editor that has outlived services remembers of them, the last one first.
  private func memories(of notes: Parameters) throws(ResponseError) -> [RunJournal.Memory] {
    let memories = try notes.arrayIfPresent("had")?.prefix(Self.mostMemories).map { had throws(ResponseError) in
      RunJournal.Memory(run: try had.string("run"), opened: try had.int("version"), rev: try had.int("rev"))
    }
    // A run names files.
    return memories?.filter { ActorId(hexadecimal: $0.run)?.description == $0.run } ?? []
  }

  private func contentChange(_ change: Parameters) throws(ResponseError) -> ContentChange {
    let text = lineEndsUnified(Array(try change.string("text").utf8))
    guard let range = try change.objectIfPresent("range") else { return .fullText(text) }
    return .replace(try positionRange(range), text)
  }

  /// Plain clients show a file's own line ends; plugins have converted them.
  private func lineEndsUnified(_ text: [UInt8]) -> [UInt8] { isNotesClient ? text : LineEnds.unified(text) }

  func positionRange(_ range: Parameters) throws(ResponseError) -> PositionRange {
    PositionRange(start: try position(range.object("start")), end: try position(range.object("end")))
  }

  private func position(_ position: Parameters) throws(ResponseError) -> Position {
    Position(line: try position.nonNegativeInt("line"), character: try position.nonNegativeInt("character"))
  }
}
