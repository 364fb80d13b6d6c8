import AutomergeRepo
import Foundation
import JSONRPC
import Logging

/// Keeps texts that would otherwise be lost, and remembers whether the person knows of them.
///
///     held in memory ──the disk has room──► stored with a mark ──its file written, an editor told──► stored
///
/// The mark stays if no editor could be told, because the process was killed or had none. This person's next editor
/// then reports the text. While the store or the file fails, the person is told that the words are not stored, and both
/// are tried again.
@AutomergeRepo
final class RecoveredTexts {
  /// How long to wait for further texts before telling the person.
  static let tellDelay: Duration = .milliseconds(300)
  /// After this time a living process has told its own editor.
  static let startDelay: Duration = .seconds(1)

  let environment: ServiceEnvironment
  private let siblings: SiblingEvents
  let unsent: UnsentTexts
  /// The pause before a retry after the store or the file has failed.
  private static let retryInterval: Duration = .seconds(1)

  /// A text that the store has not accepted yet and that may exist nowhere else.
  private struct Held {
    var text: RecoveredText
    /// Whether the person has been told of it, so that it needs no mark.
    var isTold = false
  }

  /// The marks of texts that some buffer is about to report, or has reported while the store still has the marks.
  private var expected: Set<StorageKey> = []
  /// By their marks.
  private var held: [StorageKey: Held] = [:]
  /// The texts that buffers had when their agenda items were deleted, until the items' files are removed.
  private var ofDeletedItems: [NoteKey: [UInt8]] = [:]
  /// Why the last attempt to store or write a text failed; nil after a success.
  private(set) var failure: String?
  /// Whether the person has been told that the disk accepts no copies at present.
  private var hasWarned = false
  private var planned: (any ScheduledAction)?
  private var lastTime = 0
  /// When the person was told in the last minute. A peer may cause one text after another.
  private var tellings: [Duration] = []
  /// Whether an editor is attached that shows notices.
  var hasEditor = false
  let log = Logger(label: "notes")

  private var notebook: Notebook { environment.notebook }

  init(
    _ environment: ServiceEnvironment, _ siblings: SiblingEvents, unsent: (any UnsentFileAccess)? = nil
  ) {
    (self.environment, self.siblings) = (environment, siblings)
    self.unsent = UnsentTexts(unsent)
  }

  /// The stamp of a new text, which is part of its key: texts that are kept at the same moment must not replace each other.
  func newStamp() -> RecoveredText.Stamp {
    lastTime = max(environment.clock.date.milliseconds, lastTime + 1)
    return RecoveredText.Stamp(time: lastTime, run: environment.journal.shortName)
  }

  /// The keys to remove when a note is permanently deleted.
  static func marks(of id: DocumentId) -> StorageKey { [RecoveredText.untold, id.description] }

  /// Stores a text. Afterwards the caller either tells the person and calls `told`, or calls `tellSoon`.
  func keep(_ text: RecoveredText) async throws(StorageError) {
    try await notebook.storage.commit(text.changes)
  }

  /// Stores a text that exists nowhere else. While the store fails, the text stays in memory and is tried again; the
  /// caller then need do nothing more, because the person is told as soon as it is stored.
  ///
  /// - Returns: whether the text is stored
  func keepOrHold(_ text: RecoveredText) async -> Bool {
    held[text.mark] = Held(text: text)
    return await storeHeld()
  }

  /// Call when a deleted item's text has been kept from its buffer.
  func kept(_ text: [UInt8], ofDeleted item: NoteKey) { ofDeletedItems[item] = text }

  /// Whether a deleted item's file contains what is already stored as its buffer's text, so that one copy is enough.
  func hasKept(_ file: [UInt8], ofDeleted item: NoteKey) async -> Bool {
    guard ofDeletedItems[item] == file else { return false }
    return await storeHeld()
  }

  /// Call when a deleted item's file is gone.
  func fileIsGone(ofDeleted item: NoteKey) { ofDeletedItems[item] = nil }

  /// Whether a text of this document is in memory only.
  func holds(_ id: DocumentId) -> Bool { held.values.contains { $0.text.id == id } }

  /// Stores the held texts.
  ///
  /// - Returns: false if the store has failed; the person is told, and it is tried again
  func storeHeld() async -> Bool {
    for (mark, entry) in held {
      do {
        if entry.isTold {
          try await notebook.storage.commit([.save(entry.text.item)])
        } else {
          try await keep(entry.text)
        }
        guard let now = held[mark], now.text.text == entry.text.text else { continue }
        if now.isTold, !entry.isTold { _ = await forget([mark]) }
        held[mark] = nil
        environment.events.send(.heldTextsChanged(entry.text.id))
      } catch {
        environment.events.send(.heldTextsChanged(entry.text.id))
        retry(entry.text, after: error, isFull: error == .full)
        return false
      }
    }
    return true
  }

  private func retry(_ text: RecoveredText, after error: any Error, isFull: Bool) {
    plan(after: Self.retryInterval)
    if failure == nil { log.error("A recovered text could not be stored, and is tried again each second: \(error)") }
    failure = (error as? StorageError)?.words ?? (isFull ? "the disk is full" : "a copy cannot be written")
    guard !hasWarned, hasEditor else { return }
    hasWarned = true
    let news = NoteNews.notStored(isFull: isFull)
    environment.events.send(
      .recovered(
        news.parameters(
          uri: notebook[text.id]?.path.map(FileURI.uri(path:)), id: text.id,
          title: notebook[text.id]?.title ?? text.id.description, peer: nil, name: nil)))
  }

  /// Call when the person has been told of this text.
  func told(_ text: RecoveredText) {
    let mark = text.mark
    if held[mark] != nil { held[mark]?.isTold = true }
    // Until the mark is removed, `tell` must ignore it.
    expected.insert(mark)
    Task { @AutomergeRepo in
      if await forget([mark]) { expected.remove(mark) }
    }
  }

  /// The buffer in which this text was typed will report it, and then call `told` or `leave`.
  func expect(_ text: RecoveredText) { expected.insert(text.mark) }

  /// The buffer does not report this text, so the person is told as for any other.
  func leave(_ text: RecoveredText) {
    expected.remove(text.mark)
    tellSoon()
  }

  /// Removes the marks. False if the store has failed.
  private func forget(_ marks: [StorageKey]) async -> Bool {
    do {
      try await notebook.storage.commit(marks.map { .remove($0) })
      return true
    } catch {
      log.warning("A recovered text may be announced twice: \(error)")
      return false
    }
  }

  /// Tells the person of every recovered text that no editor has reported yet, here or in another process.
  func tellSoon(after delay: Duration = tellDelay) {
    // A process without an editor may end at any moment.
    guard hasEditor else { return siblings.tell(["kind": .string(RecoveredText.untold)]) }
    let now = environment.clock.now
    tellings.removeAll { now - $0 >= NewsLimit<JSONValue>.period }
    let isOften = tellings.count >= NewsLimit<JSONValue>.maximumPerPeriod
    plan(after: max(delay, isOften ? tellings[0] + NewsLimit<JSONValue>.period - now : .zero))
  }

  private func plan(after delay: Duration) {
    guard planned == nil else { return }
    planned = environment.clock.schedule(after: delay) { [weak self] in
      self?.planned = nil
      Task { @AutomergeRepo in await self?.tell() }
    }
  }

  /// Handles another process's request to tell the person, if there is an editor here.
  func heard(_ event: JSONValue) -> Bool {
    guard event["kind"] == .string(RecoveredText.untold) else { return false }
    if hasEditor { tellSoon(after: .zero) }
    return true
  }

  private func tell() async {
    let wasHeld = !held.isEmpty
    guard await storeHeld() else { return }
    guard hasEditor else { return wasHeld ? tellSoon() : () }
    guard notebook.isLoaded, let claim = environment.files.claim(RecoveredText.untold, exclusively: true) else {
      return tellSoon(after: Self.startDelay)
    }
    defer { withExtendedLifetime(claim) {} }
    do {
      let ignored = expected
      let marks = try await notebook.storage.loadRange([RecoveredText.untold]).map(\.key)
        .filter { $0.count == 3 && !ignored.contains($0) && !expected.contains($0) }
      var event: JSONObject?
      for mark in marks {
        guard let text = try await text(of: mark) else { continue }
        let title = text.title(in: notebook)
        let path: String
        do {
          path = try await writeCopy(text, title: title)
        } catch {
          return retry(text, after: error, isFull: error.isDiskFull)
        }
        event = marks.count == 1 ? news(of: text, title, path) : Self.event("copies of \(marks.count) texts")
      }
      guard hasEditor else { return }
      (failure, hasWarned) = (nil, false)
      if let event {
        tellings.append(environment.clock.now)
        environment.events.send(.recovered(.object(event)))
      }
      if !marks.isEmpty { _ = await forget(marks) }
    } catch {
      log.error("Recovered texts could not be announced: \(error)")
    }
  }

  private func text(of mark: StorageKey) async throws -> RecoveredText? {
    let key = [RecoveredText.collection] + mark.dropFirst()
    return try await notebook.storage.load(key).flatMap { RecoveredText(StoredItem(key: key, data: $0)) }
  }

  private func news(of text: RecoveredText, _ title: String, _ path: String) -> JSONObject {
    var event = Self.event("a copy of \"\(NoteNews.cut(title, to: Self.maximumTitleLength))\"")
    event["id"] = .string(text.id.description)
    event["uri"] = notebook[text.id]?.path.map { .string(FileURI.uri(path: $0)) }
    event["recovered"] = .string(path)
    return event
  }

  /// Leaves room in a message for "M-x notes-recovered has" and the copy's name.
  private static let maximumTitleLength = 24

  private static func event(_ copy: String) -> JSONObject {
    [
      "kind": "recovered", "copy": .string(copy), "message": .string("Kept as recovered: \(copy)"),
      "line": .string(":NotesRecovered has " + copy), "level": EventLine.Level.words.json,
    ]
  }
}
