import Automerge
import AutomergeRepo

/// Applies the editor's changes to the document, and handles those of other people.
extension BufferBinding {
  // MARK: From the editor

  func takeIn(version: Int, rev: Int?, changes: [ContentChange]) {
    let wasLost = buffer.awaitsFullText
    defer { if wasLost, !buffer.awaitsFullText { file.isBackInStep() } }
    let before = mayWrite ? [] : buffer.textBefore(fullTextWith: rev, source: source)
    let lackedNothing = buffer.clientToDocument.isIdentity
    updates.clientChanged()
    if hasReadFile(version: version, changes: changes) { return }
    switch buffer.didChange(version: version, rev: rev, changes: changes, source: source) {
    case .splices(let splices):
      if wasLost { keepRecovered(before: splices) }
      if !mayWrite {
        refused.refuse(splices, before: before)
      } else if takeIn(splices), let change = note.document.lastChange(by: note.document.actor) {
        undo.groups.typed(change, splices, at: service.clock.now, date: service.clock.date.milliseconds)
      }
      updates.sendEdit()
      if !lackedNothing || !clientCarriesCarets(over: splices, from: changes) { caretsMayHaveMoved() }
      updates.textChanged()
    case .resync(let contradiction): resync(contradiction.reason)
    case .ignored: break
    }
  }

  func ack(version: Int, rev: Int, wantsCarets: Bool = false) {
    do {
      let isCurrent = try buffer.acknowledge(version: version, rev: rev)
      // Otherwise a message is on its way, after which the client gets them anyway.
      if wantsCarets, isCurrent { sendCursors() }
      handle.storeSoon()
    } catch {
      resync(error.contradiction.reason)
    }
  }

  /// Call when a change fits no known state of the buffer. The full text will repair this; a plain client cannot be asked
  /// for it, but its person can, because a saved file is merged.
  func resync(_ reason: String) {
    buffer.awaitsFullText = true
    editor.notify(ResyncNotification(uri: uri, reason: reason))
    guard buffer.gate == .plain else { return }
    let message = "notes-lsp: Out of step with this buffer: save, close and reopen it"
    editor.notify(ShowMessageNotification(kind: .error, message: message))
  }

  /// Applies splices that restore an earlier text, as a change that this person can undo.
  func restore(_ splices: [TextSplice], message: String) throws {
    try service.checkMayWrite(id)
    finishComparing()
    let before = handle.document.heads()
    guard apply(splices, message: message) else { return }
    if let change = note.document.lastChange(by: note.document.actor) {
      undo.groups.did(change, date: service.clock.date.milliseconds)
    }
    buffer.documentChanged(try note.document.textEdits(obj: note.content, since: before), cause: .restore)
    updates.sendEdit()
    caretsMayHaveMoved()
    updates.textChanged()
  }

  /// Call when the undo history has changed the document.
  ///
  /// - Parameter heads: the heads before
  func undid(since heads: Set<ChangeHash>) throws {
    buffer.documentChanged(try note.document.textEdits(obj: note.content, since: heads), cause: .undo)
    editor.buffers.changed(note, of: handle, since: heads, by: self)
    updates.sendEdit()
    caretsMayHaveMoved()
    service.notebook.update(key) { $0.modified = service.clock.date }
    updates.textChanged()
  }

  /// Applies the client's change. Returns whether this made a change of the document.
  ///
  /// - Parameter isOfFile: whether the client's text is what the working file contains.
  @discardableResult
  func takeIn(_ splices: [TextSplice], ofFile isOfFile: Bool = false) -> Bool {
    guard !splices.isEmpty else {
      service.journal.clientHas(place)
      return false
    }
    enterName()
    return service.environment.takeIn(fileOf: note, lacking: isOfFile ? buffer.clientToDocument : nil, handle) {
      service.journal.takingIn(place) { apply(splices) }
    }
  }

  /// As a separate change, outside of the person's undo history.
  private func enterName() {
    guard !hasEnteredName else { return }
    do {
      try handle.change { _ in try note.enter(person: service.identity.person, name: service.identity.name) }
      hasEnteredName = true
    } catch {
      editor.log.error("The name could not be entered in \(id): \(error)")
    }
  }

  /// Applies the splices in one change. Returns whether there was one.
  @discardableResult
  func apply(_ splices: [TextSplice], message: String? = nil) -> Bool {
    guard !splices.isEmpty else { return false }
    do {
      enterName()
      let before = handle.document.heads()
      defer { editor.buffers.changed(note, of: handle, since: before, by: self) }
      try handle.change(message: message) { _ in try note.make(splices) }
      service.notebook.update(key) { $0.modified = service.clock.date }
      return true
    } catch {
      editor.log.error("An edit of \(id) could not be made: \(error)")
      resync("the edit could not be made")
      return false
    }
  }

  /// A client that was out of sync may lack what others wrote; its full text then looks as if it deleted that.
  func keepRecovered(before splices: [TextSplice]) {
    guard splices.contains(where: { $0.deleteUTF8 > 0 }) else { return }
    let text = source.allUTF8
    service.recoveredTexts.keepSoon(key, "the editor's full text replaced parts of it", text)
  }

  // MARK: From other people

  func documentDid(_ event: DocHandle.Event) {
    switch event {
    case .textEdits(let edits, let peer): remoteEdits(edits, from: peer)
    case .peersChanged:
      service.presenceTracker.peersChanged(on: handle)
      updates.statusChanged()
    case .storageChanged:
      updates.statusChanged()
    case .forgedChanges(let peer, let author):
      editor.news.forged(by: peer, author: author, in: self)
      updates.statusChanged()
    case .preparingToDiscard: finishComparing()
    case .discarding(let heads):
      let edits = (try? note.document.textEdits(obj: note.content, since: heads)) ?? []
      goingBack = (TextDelta(edits).inverted, source.allUTF8)
      file.rebase(to: heads, in: note)
    case .discarded: wentBack()
    case .headsChanged: updates.headsChanged()
    case .refusedChanges, .ephemeral: break
    case .deleted: editor.buffers.detach(uri, .purged)
    }
  }

  private func remoteEdits(_ all: [TextEdit], from peer: PeerId) {
    let edits = all.filter { $0.object == note.content }
    if edits.isEmpty || edits.count < all.count {
      TitleNews(binding: self).titleMayHaveChanged(by: all.filter { $0.object != note.content }, from: peer)
    }
    othersChanged(edits)
  }

  /// Takes in a change of the text that this buffer's client did not make.
  func othersChanged(_ edits: [TextEdit], cause: EditCause = .remote) {
    guard !edits.isEmpty else { return }
    buffer.documentChanged(edits, cause: cause)
    undo.groups.othersTyped(edits)
    updates.sendEdit()
    caretsMayHaveMoved()
    service.notebook.update(key) { $0.modified = service.clock.date }
    updates.textChanged()
  }

  /// The document has returned to the state that all peers accept. What this removed is already kept.
  private func wentBack() {
    guard let (delta, before) = goingBack else { return }
    goingBack = nil
    guard let now = NoteDocument(handle.document, item: note.item) else {
      return editor.buffers.detach(uri, note.item == nil ? .textDeleted : .itemDeleted)
    }
    let isSame = now.content == note.content
    note = now
    undo.groups.keepKnown(in: handle.document)
    hasEnteredName = false
    buffer.documentChanged(
      by: isSame ? delta : TextDiff.delta(from: before, to: source.allUTF8))
    service.journal.clientHas(place)
    updates.sendEdit()
    caretsMayHaveMoved()
    updates.textChanged()
    updates.statusChanged()
  }

  /// Call when the note has another text object, because a meeting's item was moved. Brings what was typed here
  /// meanwhile to the new one, and sends the client the difference.
  func follow(_ moved: NoteDocument) {
    finishComparing()
    let before = source.allUTF8
    let person = service.identity.person
    let item = MovedItem(old: note, new: moved) { NoteAuthors.person(of: $0) == person }
    // Another buffer of the note may have followed already, and brought them.
    let isFirst = !editor.buffers.bindings.contains { $0 !== self && $0.key == key && $0.note.content == moved.content }
    let words = isFirst ? item.wordsLeftBehind : []
    note = moved
    if mayWrite { apply(words ?? []) }
    let delta = TextDiff.delta(from: before, to: source.allUTF8)
    // Other people's services bring the words of their own people, if they still run.
    if delta.deletedBytes > 0, words == nil || item.isBranch || !mayWrite {
      service.recoveredTexts.keepSoon(key, "a peer moved its agenda item while it was open", before)
    }
    show(moved, by: delta)
  }

  /// Call when another text of the document is the note's. Sends the client the difference, and keeps what the client
  /// had unless the document still has it.
  func turn(to other: NoteDocument) {
    finishComparing()
    let (before, isGone) = (source.allUTF8, !note.isVisible)
    show(other, by: TextDiff.delta(from: before, to: DocumentText(other).allUTF8))
    if isGone { service.recoveredTexts.keepSoon(key, "a peer replaced it while it was open", before) }
    let title = service.notebook[key]?.title ?? service.title(of: id)
    editor.deliver(NoteNews.anotherText.parameters(uri: uri, id: id, title: title, peer: nil, name: nil))
  }

  /// Continues with another text object, and sends the client the difference. Drops the undo history, which belongs to
  /// the former one.
  private func show(_ other: NoteDocument, by delta: TextDelta) {
    note = other
    undo.forget()
    buffer.documentChanged(by: delta)
    file.follow(other)
    service.journal.clientHas(place)
    handle.storeSoon()
    updates.sendEdit()
    caretsMayHaveMoved()
    updates.textChanged()
  }
}
