import Automerge
import AutomergeRepo
import Crypto
import Foundation
import JSONRPC

/// A buffer and its document, held together: what either side does is brought to the other.
@AutomergeRepo
final class Attachment {
  /// How long after the last edit the texts are compared.
  static let checkDelay: Duration = .seconds(1)
  /// How often they are compared while others are connected.
  static let checkInterval: Duration = .seconds(30)

  /// An edit of more parts than this waits until the client has been quiet for a moment: it would come too late, be dropped
  /// and have to be made again for the next keystroke.
  static let mostPartsAtOnce = 64
  static let quietDelay: Duration = .milliseconds(60)
  static let longestWait: Duration = .seconds(1)

  /// How long it is before a note is claimed again that another process holds.
  static let claimInterval: Duration = .milliseconds(20)

  /// How long changes of the status are gathered.
  static let statusDelay: Duration = .milliseconds(200)

  let uri: String
  let handle: DocHandle
  /// Its text is another one after a meeting's item was moved.
  private(set) var note: NoteDocument
  var id: DocumentId { handle.id }
  var key: NoteKey { NoteKey(handle.id, item: note.item) }
  /// Of an agenda item: a state in which its text was in the agenda.
  var headsWithText: Set<ChangeHash> = []
  private(set) var buffer: OpenBuffer
  private unowned let session: Session
  private var observation: Observation?
  private var check: (any ScheduledAction)?
  private var statusTimer: (any ScheduledAction)?
  private var editTimer: (any ScheduledAction)?
  /// A large full text of the client that is being compared with the one before.
  var comparison: Comparison?
  var comparisonCount = 0
  /// When the client last changed something, and when the edit that waits for it to be quiet began to wait.
  private var lastChange: Duration?
  private var waitingSince: Duration?
  private var hasEnteredName = false
  /// How often the editor has written the working file; up to which of these times the file base was handed to the store,
  /// and up to which it is there.
  private var saves = (made: 0, offered: 0, stored: 0)
  /// Tells the other processes of this person that the note is open here.
  private var claim: (any NoteClaim)?
  private var lastStatus: JSONValue?
  private var isAttached = true
  private var undoGroups = UndoGroups()

  /// Attaches a buffer that `buffer` knows; `splices` are what opening it has to do to the document.
  init(uri: String, handle: DocHandle, note: NoteDocument, buffer: OpenBuffer, splices: [TextSplice], session: Session)
  {
    (self.uri, self.handle, self.note, self.buffer, self.session) = (uri, handle, note, buffer, session)
    if note.item != nil { headsWithText = handle.document.heads() }
    observation = handle.observe { [weak self] event in self?.documentDid(event) }
    service.opened(key, handle) { [weak self] in self?.companions() ?? [] }
    claimNote()
    apply(splices)
    sendPendingEdit()
    service.notebook.update(key) { $0.isUnread = false }
    handle.storeSoon()
    // A merge may have gone both ways.
    scheduleCheck(after: Self.checkDelay)
    service.company.enter(handle)
    if !service.company.people(in: id).isEmpty { sendCursors() }
  }

  private var service: Service { session.service }
  var version: Int { buffer.version }
  var clientText: [UInt8] { buffer.clientText(source: source) }
  var source: DocumentText { DocumentText(note) }

  // MARK: From the editor

  func takeIn(version: Int, rev: Int?, changes: [ContentChange]) {
    let wasLost = buffer.awaitsFullText
    lastChange = service.clock.now
    switch buffer.didChange(version: version, rev: rev, changes: changes, source: source) {
    case .splices(let splices):
      if wasLost { keepRecovered(before: splices) }
      if apply(splices), let change = note.document.lastChange(by: note.document.actor) {
        undoGroups.typed(change, splices, at: service.clock.now)
      }
      sendPendingEdit()
      scheduleCheck(after: Self.checkDelay)
    case .resync(let contradiction): resync(contradiction.reason)
    case .ignored: break
    }
  }

  func ack(version: Int, rev: Int) {
    do {
      try buffer.acknowledge(version: version, rev: rev)
      handle.storeSoon()
    } catch {
      resync(error.contradiction.reason)
    }
  }

  func cursor(version: Int, rev: Int, ranges: [PositionRange]) {
    do {
      guard try buffer.acknowledge(version: version, rev: rev) else { return }
    } catch {
      return resync(error.contradiction.reason)
    }
    let text = source
    let places = ranges.map { range in
      (
        buffer.documentOffset(ofClient: range.start, source: text),
        buffer.documentOffset(ofClient: range.end, source: text)
      )
    }
    service.company.moved(to: places, in: note, of: id)
  }

  /// Something came that fits nowhere: the full text puts it right.
  func resync(_ reason: String) {
    buffer.awaitsFullText = true
    session.connection.notify("notes/resync", ["uri": .string(uri), "reason": .string(reason)])
  }

  /// The working file holds the client's text now.
  func didSave() {
    let base = TextBase(heads: handle.document.heads(), steps: [buffer.clientToDocument])
    countWords()
    service.notebook.update(key) { $0.fileBase = base }
    saves.made += 1
    handle.storeSoon()
  }

  /// Takes back the last thing that this person did here, or does again what was taken back last. False if there is none.
  func undo(_ direction: UndoGroups.Direction) throws -> Bool {
    while let changes = undoGroups.next(direction) {
      let before = handle.document.heads()
      let made = try handle.change { try $0.takeBack(changes, timestamp: service.clock.date) }
      // Nothing of it shows any more: the one before it is meant.
      guard let made else { continue }
      undoGroups.tookBack(direction, by: made)
      buffer.documentChanged(try note.document.textEdits(obj: note.content, since: before), cause: .undo)
      sendPendingEdit()
      service.notebook.update(key) { $0.modified = service.clock.date }
      scheduleCheck(after: Self.checkDelay)
      return true
    }
    return false
  }

  /// Makes splices that bring an earlier text back, which this person can undo.
  func restore(_ splices: [TextSplice]) throws {
    finishComparing()
    let before = handle.document.heads()
    guard apply(splices) else { return }
    if let change = note.document.lastChange(by: note.document.actor) { undoGroups.did(change) }
    buffer.documentChanged(try note.document.textEdits(obj: note.content, since: before), cause: .restore)
    sendPendingEdit()
    scheduleCheck(after: Self.checkDelay)
  }

  /// Makes the splices, in one change. Returns whether there is one now.
  @discardableResult
  private func apply(_ splices: [TextSplice]) -> Bool {
    guard !splices.isEmpty else { return false }
    do {
      if !hasEnteredName {
        // A change of its own, which nobody means to undo.
        try handle.change { _ in try note.enter(person: service.identity.person, name: service.identity.name) }
        hasEnteredName = true
      }
      try handle.change { document in
        for splice in splices {
          try document.spliceText(
            obj: note.content, utf8Offset: splice.utf8Offset, deleteUTF8: splice.deleteUTF8, insert: splice.insert)
        }
      }
      service.notebook.update(key) { $0.modified = service.clock.date }
      return true
    } catch {
      session.log.error("An edit of \(id) could not be made: \(error)")
      resync("the edit could not be made")
      return false
    }
  }

  // MARK: Places

  func documentRange(of range: PositionRange) -> Range<Int> {
    let start = buffer.documentOffset(ofClient: range.start, source: source)
    return start..<max(start, buffer.documentOffset(ofClient: range.end, source: source))
  }

  func clientPosition(ofDocument offset: Int) -> Position { buffer.clientPosition(ofDocument: offset, source: source) }

  // MARK: To the editor

  private func documentDid(_ event: DocHandle.Event) {
    switch event {
    case .textEdits(let edits, _): remoteEdits(edits)
    case .ephemeral(let message, _): service.company.received(message)
    case .peersChanged:
      service.company.peersChanged(on: handle)
      statusChanged()
    case .storageChanged:
      if handle.storageProblem == nil { saves.stored = saves.offered }
      statusChanged()
    case .forgedChanges(let peer, let author):
      session.forged(by: peer, author: author, in: self)
      statusChanged()
    case .headsChanged, .refusedChanges: break
    case .deleted: session.detach(uri: uri)
    }
  }

  private func remoteEdits(_ edits: [TextEdit]) {
    let edits = edits.filter { $0.object == note.content }
    guard !edits.isEmpty else { return titleMayHaveChanged() }
    buffer.documentChanged(edits)
    undoGroups.othersTyped(edits)
    sendPendingEdit()
    service.notebook.update(key) { $0.modified = service.clock.date }
    scheduleCheck(after: Self.checkDelay)
  }

  /// Sends what the client lacks, unless more of its own changes may be waiting to be read.
  func sendPendingEdit() {
    // An edit would be made for a version that is past.
    guard comparison == nil else { return }
    guard !session.isReceiving else {
      session.buffersWithEdits.insert(uri)
      return
    }
    guard buffer.gate == .notes else { return offerEdit() }
    guard !waitsForQuiet() else { return }
    guard let edit = buffer.pendingEdit(source: source) else { return }
    session.connection.notify(
      "notes/edit",
      [
        "uri": .string(uri), "version": JSONValue(edit.version), "rev": JSONValue(edit.rev),
        "edits": .array(edit.edits.map(\.json)),
        "bytes": JSONValue(edit.bytes), "cause": .string(edit.cause.rawValue),
      ])
  }

  /// Offers a plain client what it lacks, if it takes edits and has none to answer for.
  private func offerEdit() {
    guard session.offersEdits, let edit = buffer.nextOffer(source: source) else { return }
    let id = session.connection.request(
      "workspace/applyEdit",
      [
        "label": "notes-lsp",
        "edit": [
          "documentChanges": [
            [
              "textDocument": ["uri": .string(uri), "version": JSONValue(edit.version)],
              "edits": .array(edit.edits.map(\.json)),
            ]
          ]
        ],
      ])
    session.whenAnswered(id) { [weak self] result in self?.offerAnswered(result, version: edit.version) }
  }

  private func offerAnswered(_ result: Result<JSONValue, ResponseError>, version: Int) {
    let isApplied = (try? result.get())?["applied"]?.boolValue ?? false
    buffer.offerAnswered(isApplied: isApplied, version: version)
    sendPendingEdit()
  }

  /// Whether what is unsent is large and the client busy; it is then sent later.
  private func waitsForQuiet() -> Bool {
    editTimer?.cancel()
    editTimer = nil
    let now = service.clock.now
    guard buffer.unsent.segments.count > Self.mostPartsAtOnce, let lastChange, now - lastChange < Self.quietDelay,
      now - (waitingSince ?? now) < Self.longestWait
    else {
      waitingSince = nil
      return false
    }
    waitingSince = waitingSince ?? now
    editTimer = service.clock.schedule(after: Self.quietDelay - (now - lastChange)) { [weak self] in
      self?.sendPendingEdit()
    }
    return true
  }

  private func sendCheck() {
    check = nil
    if buffer.gate == .notes, !buffer.awaitsFullText, comparison == nil {
      let text = buffer.clientText(source: source)
      let digest = SHA256.hash(data: text).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
      session.connection.notify(
        "notes/check",
        [
          "uri": .string(uri), "version": JSONValue(buffer.version), "rev": JSONValue(buffer.expectedRev),
          "bytes": JSONValue(text.count), "sha256": .string(digest.joined()),
        ])
    }
    scheduleCheck(after: Self.checkInterval)
  }

  private func scheduleCheck(after delay: Duration) {
    check?.cancel()
    check = service.clock.schedule(after: delay) { [weak self] in
      guard let self else { return }
      if delay == Self.checkInterval && !self.hasCompany { return self.scheduleCheck(after: delay) }
      self.sendCheck()
    }
  }

  private var hasCompany: Bool { service.sharing.peers.contains { $0.state == .connected && $0.has(id) } }

  /// The others' carets, where they stand in the client's text.
  func sendCursors() {
    guard buffer.gate == .notes else { return }
    let text = source
    let peers: [JSONValue] = service.company.people(in: id).map { person in
      let ranges: [JSONValue] = service.company.ranges(of: person, in: note).map { start, end in
        let range = PositionRange(
          start: buffer.clientPosition(ofDocument: start, source: text),
          end: buffer.clientPosition(ofDocument: end, source: text))
        return range.json
      }
      return [
        "peer": .string(person.peer), "name": .string(person.name), "color": JSONValue(person.mark.color),
        "letter": .string(String(person.mark.letter)), "ranges": .array(ranges),
      ]
    }
    session.connection.notify(
      "notes/cursors",
      [
        "uri": .string(uri), "version": JSONValue(buffer.version), "rev": JSONValue(buffer.expectedRev),
        "peers": .array(peers),
      ])
  }

  /// Tells the client, at most a few times a second: every keystroke changes what is stored and who has it.
  func statusChanged() {
    guard buffer.gate == .notes, statusTimer == nil else { return }
    statusTimer = service.clock.schedule(after: Self.statusDelay) { [weak self] in
      self?.statusTimer = nil
      self?.sendStatus()
    }
  }

  private func sendStatus() {
    let status = session.status(of: self)
    guard status != lastStatus else { return }
    lastStatus = status
    guard case .object(var members) = status else { return }
    members["uri"] = .string(uri)
    session.connection.notify("notes/statusChanged", .object(members))
  }

  /// The text of the note is another object now, as a meeting's item is that was moved. What was typed here meanwhile goes
  /// there, too; what differs then goes to the client.
  func follow(_ moved: NoteDocument) {
    finishComparing()
    let before = source.allUTF8
    let words = RemadeText(old: note, new: moved).wordsLeftBehind(by: note.document.actor, since: headsWithText)
    (note, headsWithText) = (moved, handle.document.heads())
    // What can be taken back of it stands in the old text.
    undoGroups = UndoGroups()
    apply(words ?? [])
    let delta = TextDiff.delta(from: before, to: source.allUTF8)
    if words == nil, delta.deletedBytes > 0 {
      service.keepSoon(id, "its agenda item was moved by somebody else while it was open", before)
    }
    buffer.documentChanged(by: delta)
    service.notebook.update(key) { $0.textObject = moved.textObject }
    handle.storeSoon()
    sendPendingEdit()
    scheduleCheck(after: Self.checkDelay)
  }

  private func titleMayHaveChanged() {
    guard let title = note.title else { return }
    service.notebook.update(key) { $0.title = title }
  }

  // MARK: What is kept

  /// What the client surely has, to be stored.
  var clientBaseItem: StoredItem {
    let base = TextBase(
      heads: handle.document.heads(), actor: handle.document.actor,
      steps: buffer.inFlight.map(\.delta) + [buffer.unsent])
    return ClientBase(base: base, time: service.clock.date).item(key, run: service.run)
  }

  /// Notes in the record what this person has seen of the note.
  func rememberSeen() {
    let heads = handle.document.heads()
    service.notebook.update(key) { $0.seen = heads }
  }

  func countWords() {
    let words = Words.count(source.allUTF8)
    service.notebook.update(key) { $0.words = words }
  }

  /// What goes to disk right after the document's chunks.
  private func companions() -> [StoredItem] {
    guard let record = service.notebook[key] else { return [] }
    saves.offered = saves.made
    guard record.deletedSince == nil else { return [] }
    return [record.storedItem, clientBaseItem, saves.made > saves.stored ? record.baseItem : nil].compactMap(\.self)
  }

  /// Whether the store has not been told yet what the editor last wrote to the working file.
  var hasUnstoredSave: Bool { saves.made > saves.stored }

  /// Another process may be writing the working file right now; that takes milliseconds.
  private func claimNote() {
    claim = service.files.claim(key.lockName, exclusively: false)
    guard claim == nil else { return }
    service.clock.schedule(after: Self.claimInterval) { [weak self] in
      guard let self, self.isAttached, self.claim == nil else { return }
      self.claimNote()
    }
  }

  /// A client that had lost its way may not have what others wrote; its full text then looks like deleting it.
  private func keepRecovered(before splices: [TextSplice]) {
    guard splices.contains(where: { $0.deleteUTF8 > 0 }) else { return }
    let text = source.allUTF8
    service.keepSoon(id, "the editor's full text replaced parts of it", text)
  }

  /// The buffer is closed, or the session ends.
  func detach() {
    finishComparing()
    isAttached = false
    rememberSeen()
    claim = nil
    check?.cancel()
    statusTimer?.cancel()
    editTimer?.cancel()
    observation?.cancel()
    service.closed(key, handle)
    service.company.leave(id)
  }
}

extension PositionRange {
  var json: JSONValue { ["start": start.json, "end": end.json] }
}

extension BufferEdit.Replacement {
  var json: JSONValue { ["range": range.json, "newText": .string(String(decoding: newText, as: UTF8.self))] }
}

extension Position {
  var json: JSONValue { ["line": JSONValue(line), "character": JSONValue(character)] }
}
