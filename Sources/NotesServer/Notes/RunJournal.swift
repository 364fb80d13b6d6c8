import Automerge
import AutomergeRepo
import Foundation
import Logging

/// The journal of this process: the changes of open notes, written before it reports them to an editor or peer.
///
/// The store commits a few times a second at most, and an editor or a peer receives words long before that. If the
/// process is killed in between, the journal still has them, and records exactly which text the editor had. So the next
/// process loses no word that anyone has seen, and does not treat a word of the document as new.
@AutomergeRepo
final class RunJournal {
  private let files: any JournalAccess
  /// Those of other processes.
  let killed: KilledJournals
  /// The name of this process's journal.
  let run: String
  private let log = Logger(label: "journal")
  /// For each open buffer, returns the editor's copy.
  private var clients: [BufferKey: @AutomergeRepo () -> ClientBase?] = [:]
  private var handles: [DocumentId: DocHandle] = [:]
  /// Buffers whose editor made an edit that the next change of the document carries out.
  private var ahead: [BufferKey] = []
  /// The text of a working file that the next change of the document merges.
  private var fileAhead: (text: FileText, handle: DocHandle)?
  /// What working files were found to contain and the store may not have, the latest of each.
  private var fileNews: [NoteKey: FileNews] = [:]
  private var texts = JournaledTexts()
  /// Entries whose changes have not left this process yet.
  private var held: [UInt8] = []
  private var state = State.working
  private var isChangingSegment = false

  private enum State {
    case working
    /// A new journal is being started.
    case resuming
    /// The last write failed. What the journal says about the editors is out of date.
    case broken
    case ended
  }

  private var takesEntries: Bool { state == .working || state == .resuming }

  /// Called when the journal cannot be written. `resume` begins a new one.
  var onFailure: (@AutomergeRepo () -> Void)?

  /// A segment of more than this many bytes is followed by a new one.
  static let maximumSegmentBytes = 256 << 10
  private static let maximumKeptBytes = 4096
  /// Larger changes are not journalled: the store, or the peers that sent them, have them.
  static let maximumChangesBytes = 1 << 20

  init(files: any JournalAccess, run: String) {
    (self.files, self.run) = (files, run)
    killed = KilledJournals(files: files)
  }

  /// What distinguishes this process from the others of this person. The first half of its name is the person's.
  var shortName: String { Self.shortName(run) }

  nonisolated static func shortName(_ run: String) -> String { String(run.suffix(16)) }

  // MARK: Writing

  /// Call when a buffer is attached: from now on every change of the document is journaled.
  func opened(_ key: BufferKey, _ handle: DocHandle, client: @escaping @AutomergeRepo () -> ClientBase?) {
    clients[key] = client
    handles[key.document] = handle
    guard handle.journal == nil else { return }
    handle.journal = { [weak self] changes in self?.changed(key.document, changes) }
    write()
  }

  func closed(_ key: BufferKey, _ handle: DocHandle) {
    clients[key] = nil
    ahead.removeAll { $0 == key }
    appendClosed(key)
    guard !clients.keys.contains(where: { $0.document == key.document }) else { return }
    handle.journal = nil
    handles[key.document] = nil
  }

  /// Call when an editor closes a buffer whose text is not merged yet. If this process is killed before `keptLeft` is called, the
  /// next one keeps the text as a recovered one.
  ///
  /// - Parameters:
  ///   - key: with the buffer's URI, as it is not known whether it would be the note's first buffer
  ///   - date: of a stamp of its own: the recovered text's key has it
  func left(_ text: [UInt8], _ key: BufferKey, on date: Date) {
    let text = JournaledTexts.Text(text: text, time: date.milliseconds)
    texts.left[key] = text
    append(JournaledTexts.frame(left: text, key))
  }

  /// Call when the text of a closed buffer is merged, or kept elsewhere.
  func keptLeft(_ key: BufferKey) {
    guard texts.left[key] != nil else { return }
    appendClosed(key)
    // The editor may have opened it again.
    clientHas(key)
  }

  private func appendClosed(_ key: BufferKey) {
    texts.left[key] = nil
    append(JournalFrame(document: key.document, clients: [JournalFrame.Client(key, .closed)]))
  }

  /// Runs `work`, which makes one change out of an editor's edit, and journals the editor's new text together with it.
  func takingIn<Result>(_ key: BufferKey, _ work: () throws -> Result) rethrows -> Result {
    ahead.append(key)
    defer { if takeAhead(where: { $0 == key }) != nil { clientHas(key) } }
    return try work()
  }

  /// The text of a working file that is taken into the document.
  struct FileText {
    var key: NoteKey
    /// What the file lacks of the document's text once its own words are in there.
    var lacking: TextDelta
    var object: String?
    /// What the file was known to contain before.
    var replaced: TextBase?
  }

  /// Runs `work`, which makes one change out of what another program wrote to a working file, and journals what the file
  /// contains together with it, whether or not an editor has the note open.
  func takingIn<Result>(_ text: FileText, _ handle: DocHandle, _ work: () throws -> Result) rethrows -> Result {
    let isOpen = handle.journal != nil
    if !isOpen { handle.journal = { [weak self] changes in self?.changed(text.key.document, changes) } }
    fileAhead = (text, handle)
    defer {
      fileAhead = nil
      write()
      if !isOpen { handle.journal = nil }
    }
    return try work()
  }

  /// Call when a working file is known to contain this, before the store is told.
  func fileHas(_ base: TextBase, _ key: NoteKey, replacing earlier: TextBase?) {
    guard base != earlier, let news = news(of: base, key, replacing: earlier) else { return }
    append(JournalFrame(document: key.document, files: [news]))
  }

  /// Call when an editor says that a working file contains this. If this process is killed before it has seen that, and another
  /// program has written to the file, the next one needs to know.
  func editorWrote(_ text: ClientBase, _ key: NoteKey) {
    guard text.base.textByteCount <= FileNews.maximumTextBytes else { return }
    append(
      JournalFrame(document: key.document, written: [JournalFrame.Client(item: key.item, news: .has(text))]))
  }

  /// Call when this process or its editor has written over what another program had just written to a file. If this process is
  /// killed before the text is merged and stored, or `kept` is called, the next one keeps it as a recovered one.
  func overwrote(_ text: OverwrittenText) { append(texts.add(text)) }

  /// Call when the document has the text. The journal keeps it until the file is stored.
  func merged(_ text: OverwrittenText) { texts.merge(text) }

  /// Call when the text is stored as a recovered one.
  func kept(_ text: OverwrittenText) {
    if let frame = texts.remove(text.stamp.time, text.key) { append(frame) }
  }

  /// Call when the store has the document and what this file contains.
  func fileIsStored(_ key: NoteKey) {
    fileNews[key] = nil
    for frame in texts.removeMerged(key) { append(frame) }
  }

  private func news(of base: TextBase, _ key: NoteKey, replacing earlier: TextBase?) -> FileNews? {
    guard base.textByteCount <= FileNews.maximumTextBytes else { return nil }
    let news = FileNews(base, item: key.item, replacing: earlier)
    fileNews[key] = news.following(fileNews[key])
    return news
  }

  private func takeFileAhead(of id: DocumentId) -> [FileNews] {
    guard let (text, handle) = fileAhead, text.key.document == id else { return [] }
    fileAhead = nil
    let base = TextBase(heads: handle.document.heads(), steps: [text.lacking], object: text.object)
    return [news(of: base, text.key, replacing: text.replaced)].compactMap(\.self)
  }

  private func takeAhead(where isWanted: (BufferKey) -> Bool) -> BufferKey? {
    ahead.firstIndex(where: isWanted).map { ahead.remove(at: $0) }
  }

  /// Call when the editor's text has changed and its document has not.
  func clientHas(_ key: BufferKey) {
    guard let client = clients[key]?() else { return }
    append(JournalFrame(document: key.document, clients: [JournalFrame.Client(key, .has(client))]))
  }

  /// Call before an edit is sent to the editor.
  func sends(_ rev: Int, of key: BufferKey, heads: Set<ChangeHash>) {
    let sent = ClientBase.Sent(rev: rev, heads: heads)
    append(JournalFrame(document: key.document, clients: [JournalFrame.Client(key, .sent(sent))]))
  }

  private func changed(_ id: DocumentId, _ changes: [UInt8]) {
    var news: [JournalFrame.Client] = []
    while let key = takeAhead(where: { $0.document == id }) {
      if let client = clients[key]?() { news.append(JournalFrame.Client(key, .has(client))) }
    }
    hold(
      JournalFrame(
        document: id, changes: changes.count > Self.maximumChangesBytes ? [] : changes, clients: news,
        files: takeFileAhead(of: id)))
  }

  /// Holds an entry until an editor or peer is about to be told of it, so that all entries of one change take one write.
  private func hold(_ frame: JournalFrame) {
    if takesEntries { frame.append(to: &held) }
  }

  private func append(_ frame: JournalFrame) {
    hold(frame)
    write()
  }

  /// Writes the held entries. Call it before anything leaves this process.
  func write() {
    guard !held.isEmpty, takesEntries else { return }
    let byteCount = files.append(held)
    // The memory is reused for the next keystroke, unless this was a paste.
    held.removeAll(keepingCapacity: held.count <= Self.maximumKeptBytes)
    guard let byteCount else {
      if state == .working {
        log.error("The journal cannot be written. Words may appear twice if this process is killed.")
      }
      state = .broken
      // Its words may be nowhere else yet.
      files.abandon()
      onFailure?()
      return
    }
    if byteCount > Self.maximumSegmentBytes { beginSegment() }
  }

  /// Begins a new journal with everything that the store may lack, after the old one could not be written. If the disk
  /// still refuses writes, calls `onFailure` again.
  func resume() {
    guard state == .broken else { return }
    state = .resuming
    held = []
    for (id, handle) in handles {
      // Begins anew with what is not stored.
      handle.journal = nil
      handle.journal = { [weak self] changes in self?.changed(id, changes) }
    }
    holdState()
    write()
    guard state == .resuming else { return }
    state = .working
    log.notice("The journal can be written again.")
  }

  /// Holds what each editor has, and what files contain.
  private func holdState() {
    for (key, client) in clients {
      guard let base = client() else { continue }
      hold(JournalFrame(document: key.document, clients: [JournalFrame.Client(key, .has(base))]))
    }
    for (key, news) in fileNews { hold(JournalFrame(document: key.document, files: [news])) }
    for frame in texts.frames { hold(frame) }
  }

  /// Starts a new segment. Once everything in the earlier ones is stored, they are removed.
  private func beginSegment() {
    guard !isChangingSegment, let number = files.beginSegment() else { return }
    isChangingSegment = true
    holdState()
    write()
    let handles = Array(handles.values)
    Task { @AutomergeRepo in
      defer { isChangingSegment = false }
      do {
        for handle in handles { try await handle.flush() }
        files.removeSegments(before: number)
      } catch {
        log.warning("The journal grows, because its content cannot be stored: \(error)")
      }
    }
  }

  /// Whether nothing is journaled any more.
  var hasEnded: Bool { state == .ended }

  /// Call when everything is stored, including what the editor has. Removes the journal; if it has a text that nothing else has,
  /// leaves it to the next process.
  func end() {
    state = .ended
    held = []
    if !texts.hasUnmerged { files.end() }
  }
}
