import AutomergeRepo
import JSONRPC

/// Tells the editor what other people and this person's other processes did: makes events, and updates the buffers.
@AutomergeRepo
final class EditorNews {
  let editor: Editor
  private var quiet = QuietNews()
  /// News about the store from before the editor had introduced itself.
  private var ofStore: [StoreNews] = []
  /// Called after each file of a folder that is imported, with its number and how many there are.
  var onImport: ((Int, Int) -> Void)?
  /// Called while a single file is imported, with how many of its bytes are in the note and how many there are; first with 0.
  var onImportOfBytes: ((Int, Int) -> Void)?
  var service: Service { editor.service }

  init(editor: Editor) { self.editor = editor }

  // MARK: The store

  /// Call when something has happened to the store as a whole.
  func tell(_ news: StoreNews) {
    guard editor.isRunning else { return ofStore.append(news) }
    editor.deliver(news.event)
  }

  /// Call when the session begins. Waits a second, so that the news follows the answers to the editor's first requests.
  func tellOfStore() {
    guard !ofStore.isEmpty else { return }
    _ = service.clock.schedule(after: RecoveredTexts.startDelay) { [weak self] in
      guard let self else { return }
      for news in self.ofStore { self.editor.deliver(news.event) }
      self.ofStore = []
    }
  }

  // MARK: Clients

  /// Call when the client has named the editor's process: warns of another client of the same editor.
  func lookForTwins(of process: Int32) {
    let twins = service.siblings.twins
    twins.begin(editor: Int(process)) { [weak editor] in Set(editor?.buffers.bindings.map(\.uri) ?? []) }
    twins.onTwin = { [weak editor] uri in
      guard let editor, editor.isRunning, case .attached(let binding)? = editor.buffers[uri] else { return }
      let title = editor.service.notebook[binding.key]?.title ?? editor.service.title(of: binding.id)
      let message = NoteNews.fitted("", "Two clients edit ", title, ": stop one, or words double")
      editor.notify(ShowMessageNotification(kind: .warning, message: message))
    }
  }

  // MARK: People

  /// Tells the editor about a person; of several events in one moment, only one has a message.
  ///
  /// - Parameter person: their peer id, the same for all their processes
  func tell(_ notice: JSONValue, of person: String, _ deliver: @escaping (JSONValue) -> Void) {
    let kind = notice["kind"]?.stringValue ?? ""
    guard case .object(var silent) = notice else { return }
    silent["message"] = nil
    switch quiet.verdict(on: kind, of: person, at: service.clock.now) {
    case .now: deliver(notice)
    case .never: deliver(.object(silent))
    case .after(let pause):
      deliver(.object(silent))
      _ = service.clock.schedule(after: pause) { [weak self] in
        guard let self, self.quiet.isDue(kind, of: person, at: self.service.clock.now) else { return }
        deliver(notice)
      }
    }
  }

  // MARK: Notes

  /// A note was created, renamed, deleted or restored, here or in another process: the client should fetch its lists
  /// again.
  func catalogueChanged(_ change: Notebook.Change) {
    if let path = change.path { editor.buffers.becameNote(path) }
    guard editor.isRunning, editor.client.speaksNotes else { return }
    editor.deliver(
      .object(present: [
        "kind": .string(change.kind.rawValue), "id": .string(change.id.description),
        "item": change.item.map(JSONValue.string), "title": .string(change.title),
        "uri": change.path.map { .string(FileURI.uri(path: $0)) }, "path": change.path.map(JSONValue.string),
        "peer": .string(service.identity.peer.description), "name": .string(service.identity.name),
      ]))
  }

  /// Another person has deleted the note for everyone: open buffers become plain files, and the note can be restored.
  ///
  /// - Parameter isNews: whether the person has not seen it yet
  func deletedForEveryone(_ handle: DocHandle, isNews: Bool) {
    let title = service.notebook[handle.id]?.title ?? handle.id.description
    let open = editor.buffers.bindings(of: handle.id)
    for binding in open { editor.buffers.detach(binding.uri, .deletedForEveryone) }
    guard isNews, open.isEmpty, editor.isRunning, editor.client.speaksNotes else { return }
    let news = NoteNews.detached(.deletedForEveryone)
    editor.deliver([
      "kind": "deleted", "id": .string(handle.id.description), "title": .string(title),
      "message": .string(news.message(title: title)), "line": .string(news.line(title: title)),
      "level": news.level.json,
    ])
  }

  /// Call when the host of a note has removed a guest, and this person has followed the host to the new document.
  func followed(_ move: NoteMove) {
    let host = move.host ?? service.repo.peerId
    let name = service.sharing.host(of: move.successor)?.name ?? String(host.description.prefix(8))
    tellOfMove(from: move.document, to: move.successor, peer: host, name: name, isOwn: false)
  }

  /// Reports that this person has removed a guest, and that the note continues in a new document.
  func removed(_ peer: PeerId, _ name: String, from old: DocumentId, to new: DocumentId) {
    tellOfMove(from: old, to: new, peer: peer, name: name, isOwn: true)
  }

  private func tellOfMove(from old: DocumentId, to new: DocumentId, peer: PeerId, name: String, isOwn: Bool) {
    let title = service.notebook[new]?.title ?? service.title(of: new)
    let news = NoteNews.moved(from: old, isOwn ? .removed(name) : .host(name))
    let event = news.parameters(uri: editor.buffers.uri(of: new), id: new, title: title, peer: peer, name: name)
    service.siblings.events.tell(event, isKept: true)
    editor.deliver(event, to: new)
  }

  // MARK: Access

  /// Call when the network reports that this person's access to a note has changed, or that it is no longer shared.
  func accessChanged(_ news: NoteNews, _ id: DocumentId, _ peer: PeerId, _ name: String) {
    let event = news.parameters(
      uri: editor.buffers.uri(of: id), id: id, title: service.title(of: id), peer: peer, name: name)
    // Only one process of this person receives the event.
    service.siblings.events.tell(event, isKept: true)
    editor.deliver(event, to: id)
    service.readOnlyCopies.accessChanged(id)
  }

  /// Handles an event that another process of this person passes on.
  func heardFromSibling(_ event: JSONValue) {
    if service.recoveredTexts.heard(event) { return }
    guard let kind = event["kind"]?.stringValue, ["access", "unshared", "left", "moved"].contains(kind),
      let id = event["id"]?.stringValue.flatMap({ DocumentId($0) })
    else { return editor.deliver(event) }
    Task { @AutomergeRepo in
      await service.siblings.refreshAccess()
      if let old = event["from"]?.stringValue.flatMap({ DocumentId($0) }) {
        await service.mover.heardOfMove(old, to: id)
      }
      editor.deliver(event, to: id)
    }
  }

  /// Reports that what the person typed is not in the note, which this person may only read.
  func refused(_ key: NoteKey, uri: String?, _ text: RecoveredText, path: String) {
    guard editor.isRunning else { return }
    editor.deliver(refusal(of: key, uri: uri, recovered: path))
    service.recoveredTexts.told(text)
  }

  /// The file of a note is not UTF-8 any more, or is again.
  func fileIsText(_ isText: Bool, _ key: NoteKey) {
    let open = editor.buffers.bindings.filter { $0.key == key }
    let uri = open.map(\.uri).min() ?? service.notebook[key]?.path.map(FileURI.uri(path:))
    let title = service.notebook[key]?.title ?? service.title(of: key.document)
    editor.deliver(
      NoteNews.file(isText: isText).parameters(uri: uri, id: key.document, title: title, peer: nil, name: nil))
    for binding in open { binding.updates.statusChanged() }
  }

  /// What was typed elsewhere or earlier, or written to the file, is not in the note. Tells every editor, because the
  /// person may be looking at any.
  func refusedForAll(_ key: NoteKey, _ text: RecoveredText, path: String) {
    guard editor.isRunning else { return service.recoveredTexts.tellSoon() }
    let uri = service.notebook[key]?.path.map(FileURI.uri(path:))
    let event = refusal(of: key, uri: uri, recovered: path)
    service.siblings.events.tell(event, isKept: true)
    editor.deliver(event)
    service.recoveredTexts.told(text)
  }

  private func refusal(of key: NoteKey, uri: String?, recovered: String) -> JSONValue {
    NoteNews.refused(recovered: recovered).parameters(
      uri: uri, id: key.document, title: service.notebook[key]?.title ?? service.title(of: key.document), peer: nil,
      name: nil)
  }

  /// A person points at a part of a buffer's text.
  func pointed(at range: PositionRange, of binding: BufferBinding, by person: Presence.Person, _ text: String) {
    let line = range.start.line + 1
    let message =
      text.isEmpty
      ? NoteNews.cut(person.name, to: 20) + " points at line \(line)"
      : NoteNews.cut("\(NoteNews.cut(person.name, to: 16)), line \(line): \(text)", to: 60)
    editor.deliver([
      "kind": "pointed", "uri": .string(binding.uri), "version": JSONValue(binding.version),
      "rev": JSONValue(binding.buffer.expectedRev), "range": range.json,
      "peer": .string(PeerId(person.peer).owner.description), "name": .string(person.name),
      "color": JSONValue(person.mark.color), "text": .string(text), "message": .string(message),
      "line": .string(EventLine.text(message, then: ":NotesGo")),
    ])
  }
}
