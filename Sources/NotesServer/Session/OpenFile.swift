import Automerge
import AutomergeRepo
import Foundation
import JSONRPC
import Logging

/// The working file of a note that an editor has open: its content, and other programs' changes of it.
///
///     an editor reports a write ──the file has it──► known ──another program writes──► merged, and known
///
/// Only the file itself counts. If an editor reports a write that failed, the known content stays as it was, and
/// nothing changes. Another program's words are merged three ways, and reach the editor as an edit. Files are read off
/// the loop.
@AutomergeRepo
final class OpenFile {
  /// How long after the last event the file is read: programs write in several steps, and an editor's report of its own
  /// write may still be on its way.
  static let quietTime: Duration = .milliseconds(200)
  /// The pause before a retry after the store has failed.
  private static let retryInterval: Duration = .seconds(1)
  /// How many merges are tried off the loop if the document changes meanwhile.
  private static let maximumComparisons = 3

  let key: NoteKey
  /// All open files; they live as long as the process.
  private unowned let files: OpenFiles
  private let handle: DocHandle
  /// The buffers of the file: one, unless the editor shows it under several URIs.
  private var views: [View] = []
  private var claims = FileClaims()
  private var seen = Seen()
  /// The editors' texts, read when the file differs.
  private var editorTexts: [TextBase]?
  private var work: Task<Void, Never>?
  private var looksAgain = false
  /// The right to record what the file holds. Kept from before the buffer was opened, or until the store has the
  /// record: another process would find the file's words without what this one knows about them. Released after the
  /// next look.
  private var turn: (any NoteClaim)?
  private var planned: (any ScheduledAction)?
  /// The text object that the buffer has open. A meeting's item that is moved gets another one, and the buffer follows.
  private var content: ObjId

  private struct View {
    weak var binding: BufferBinding?
    /// Another program's text that the note has; a plain client may show it at any moment by reading the file again.
    var mergedText: [UInt8]?
  }

  /// The file's content when it was last read.
  private struct Seen {
    /// Its SHA-256.
    var digest: [UInt8]?
    /// The mark of that version of the file; nil if it would not identify it.
    var mark: FileMark?
    var lastMark: FileMark?
    /// Whether the store lacks the known content.
    var isUnstored = false
  }

  private var environment: ServiceEnvironment { files.environment }

  init(_ binding: BufferBinding, _ files: OpenFiles) {
    (key, self.files, handle) = (binding.key, files, binding.handle)
    content = binding.note.content
    show(in: binding)
  }

  private var bindings: [BufferBinding] { views.compactMap(\.binding) }
  private var binding: BufferBinding? { bindings.first }

  /// Whether a buffer has it open.
  var isShown: Bool { binding != nil }

  /// Another buffer has the file open from now on.
  func show(in binding: BufferBinding) {
    views = views.filter { $0.binding != nil } + [View(binding: binding)]
  }

  /// What another program wrote, if the client of this buffer may be about to read it.
  subscript(mergedIn binding: BufferBinding) -> [UInt8]? {
    get { views.first { $0.binding === binding }?.mergedText }
    set {
      guard let index = views.firstIndex(where: { $0.binding === binding }) else { return }
      views[index].mergedText = newValue
    }
  }

  /// The editor says that the file holds its text.
  ///
  /// - Parameter isOnlyOrigin: whether the written text is unknown, and only derives from this one.
  func wrote(_ base: TextBase, isOnlyOrigin: Bool = false) {
    if !isOnlyOrigin { claims.writtenOutOfStep = nil }
    claims.origin = isOnlyOrigin ? claims.writtenOutOfStep ?? base : nil
    let claim = FileClaims.Claim(base: base, isWritten: true)
    environment.journal.editorWrote(clientBase(claim), key)
    claims.all.append(claim)
    claims.hasWaited = false
    look()
  }

  /// What the editor has written last, for the store, until the file has been examined: a power failure may take the journal,
  /// which has it, too.
  func writtenItem() -> StoredItem? {
    guard let claim = claims.all.last(where: \.isWritten), claim.base.textByteCount <= FileNews.maximumTextBytes else {
      return nil
    }
    claims.isWrittenStored = true
    return clientBase(claim).item(key, run: environment.journal.run, .written)
  }

  private func clientBase(_ claim: FileClaims.Claim) -> ClientBase {
    ClientBase(base: claim.base, time: environment.clock.date, object: claim.base.object)
  }

  /// The buffer was opened with what the file held. The user may have changed it since: the first look at the file must
  /// not take text that the user deleted from the buffer for new.
  func opened(with base: TextBase) { claims.all.append(FileClaims.Claim(base: base, isWritten: false)) }

  /// Call when the file may have been written.
  func changed() { lookLater() }

  private func lookLater() {
    planned?.cancel()
    planned = environment.clock.schedule(after: Self.quietTime) { [weak self] in self?.look() }
  }

  /// The service knows the buffer's text again.
  func isBackInStep() { claims.writtenOutOfStep = nil }

  /// The buffer has another text object open now: rebases what the file holds to that.
  func follow(_ moved: NoteDocument) {
    (content, seen.digest, seen.mark) = (moved.content, nil, nil)
    look()
  }

  /// The document is about to go back to these heads.
  func rebase(to heads: Set<ChangeHash>, in note: NoteDocument) {
    claims.rebase { base in base.rebased(to: heads, in: note) ?? base }
  }

  /// The editor has read a file that another program wrote, and is about to overwrite it.
  func found(_ bytes: [UInt8]) {
    let base = environment.notebook[key]?.fileBase
    let text = files.recoveredTexts.overwrote(bytes, key)
    claims.overwritten.append(FileClaims.Overwritten(text: text, base: base, possible: claims.bases))
    look()
  }

  /// Gives the first look, which is due, the right to record what the file holds: what opening the buffer made of the file's
  /// text is recorded before another process looks at the file.
  func lookFirst(holding turn: any NoteClaim) { self.turn = turn }

  func look() {
    planned?.cancel()
    planned = nil
    guard work == nil else { return looksAgain = true }
    work = Task { @AutomergeRepo in
      repeat {
        looksAgain = false
        await lookOnce()
      } while looksAgain
      work = nil
    }
  }

  /// Whether it is not known yet what the file holds.
  var isBusy: Bool { work != nil || !claims.all.isEmpty || !claims.overwritten.isEmpty }

  /// Whether it will be examined again although nothing new happens.
  var isWaiting: Bool { planned != nil && isBusy }

  /// Returns when no reading or merging is under way. A claim that was made while the file could not be read is checked now: a
  /// buffer that is opened again grew out of it.
  func settle() async {
    if work == nil, isBusy { look() }
    while let work { await work.value }
  }

  /// The buffer is closed. Claims are still checked, and what its last writes overwrote is still merged.
  func close(_ binding: BufferBinding) {
    views.removeAll { $0.binding == nil || $0.binding === binding }
    guard views.isEmpty else { return }
    planned?.cancel()
    planned = nil
    if !claims.overwritten.isEmpty || !claims.all.isEmpty || claims.isWrittenStored { look() }
  }

  private func lookOnce() async {
    // While another process has the turn, a look that is due would follow each one, and `settle` would not return.
    planned?.cancel()
    planned = nil
    // Another process may have stored its editor's text since the last look.
    editorTexts = nil
    let held = turn
    turn = nil
    guard let path = environment.notebook[key]?.path else { return await keepOverwritten() }
    let new = held == nil ? await files.turn(of: key) : nil
    guard let turn = held ?? new else { return lookLater() }
    defer { withExtendedLifetime(turn) {} }
    do {
      if seen.isUnstored { try await store() }
      try await environment.loadBase(of: key)
      guard try await takeOverwritten() else {
        // What the editor has written meanwhile must not become known first, here or in another process.
        self.turn = turn
        return lookLater()
      }
      claims.readCount = claims.all.count
      // A file that was unfinished when it was read stays so, however long what follows takes.
      let (date, start) = (environment.clock.date, environment.clock.now)
      switch try await environment.files.look(path, since: seen.mark) {
      case .unchanged: forgetClaims()
      case .missing:
        environment.forgetFile(key)
        // Nothing to compare with. If another program puts an old file there, that is compared with this.
        if let claim = claims.all.last { try await know(claim.base) }
      case .found(let bytes, let mark):
        try await take(bytes, at: mark, readFrom: date...max(date, environment.clock.date), since: start)
      }
      if claims.isWrittenStored, claims.written.isEmpty { try await forgetWritten() }
      // Another process would take what the editor has not written, and another program has, for deleted words.
      if planned != nil, !claims.written.isEmpty { self.turn = turn }
      // Another process may open the note next. Words that this one has merged from the file must not seem new to it.
      if held != nil, seen.digest == nil { try await storeOpened() }
    } catch let error as StorageError {
      Self.log.warning("The content of the working file of \(key.document) could not be stored: \(error)")
      self.turn = turn
      planned?.cancel()
      planned = environment.clock.schedule(after: Self.retryInterval) { [weak self] in self?.look() }
    } catch {
      Self.log.warning("The working file of \(key.document) could not be read: \(error)")
      if !claims.overwritten.isEmpty { lookLater() }
    }
  }

  /// Merges what the editor overwrote: only with the file's text before that, or the editor's words would seem deleted.
  ///
  /// - Returns: false if it is put off, because the document changes
  private func takeOverwritten() async throws -> Bool {
    guard !claims.overwritten.isEmpty else { return true }
    while let found = claims.overwritten.first {
      let (digest, read) = await FileContents.parsed(found.text.bytes, known: environment.notebook[key]?.shape)
      if let read, digest != seen.digest {
        // The file may be known by now to have held another text before that, or to hold what the editor has written since.
        let possible = found.possible + [environment.notebook[key]?.fileBase].compactMap(\.self)
        guard let (merge, note) = await merged(read, [found.base], possible: possible),
          note.content == content || binding == nil
        else {
          guard NoteDocument(handle.document, item: key.item) == nil else { return false }
          await keepOverwritten()
          break
        }
        if !isUnfinished(read, merge, found.base, note) {
          try await takeIn(merge, of: note, read.text, digest, isStillThere: false)
          let lacking = TextBase(heads: handle.document.heads(), steps: [merge.lacking], object: note.textObject)
          claims.merged = (digest, lacking)
        }
      }
      if read == nil { await files.recoveredTexts.keep(found.text) } else { environment.journal.merged(found.text) }
      claims.overwritten.removeAll { $0.text.stamp == found.text.stamp }
      tell(digest)
    }
    seen.isUnstored = true
    try await store()
    return true
  }

  /// Whether an overwritten file was empty, or only the beginning of what it held before: a program that writes a file in place
  /// empties it first. What the person saves over it is then no deletion.
  private func isUnfinished(_ read: FileContents, _ merge: FileMerge, _ base: TextBase?, _ note: NoteDocument) -> Bool {
    guard merge.splices.allSatisfy(\.insert.isEmpty) else { return false }
    return read.text.isEmpty || base?.texts(of: note).contains(where: read.isBeginning) ?? false
  }

  /// Keeps what the editor overwrote and is not merged yet as recovered texts.
  func keepOverwritten() async {
    let texts = claims.overwritten.map(\.text)
    claims.overwritten = []
    for text in texts { await files.recoveredTexts.keep(text) }
  }

  /// - Parameter isStillThere: whether the file contains the text, and not what the editor has written over it.
  private func takeIn(
    _ merge: FileMerge, of note: NoteDocument, _ text: [UInt8], _ digest: [UInt8], isStillThere: Bool = true
  ) async throws {
    let splices = merge.splices
    guard !splices.isEmpty else { return }
    guard environment.mayWrite(key.document) else { return try await refuse(text, besides: note, digest) }
    files.recoveredTexts.keepIfCut(note, by: text, splices, of: key)
    let changes = binding == nil ? nil : LineChanges(of: environment.notebook[key], file: text, note)
    try environment.takeIn(fileOf: note, lacking: isStillThere ? merge.lacking : nil, handle) {
      if let binding {
        try binding.takeIn(splices, of: note)
        for index in views.indices where views[index].binding?.buffer.gate == .plain { views[index].mergedText = text }
      } else {
        try handle.change { _ in try note.make(splices) }
      }
    }
    if binding == nil { files.planner?.plan(handle, text: note.content) }
    changes?.tellOfBoth(in: DocumentText(note).allUTF8, environment)
    Self.log.notice("Merged another program's changes to the working file of \(key.document).")
  }

  /// Compares the file with the texts that it may have, and merges the rest.
  ///
  /// - Parameters:
  ///   - dates: the dates before and after reading it
  ///   - start: when reading it began
  private func take(
    _ bytes: [UInt8], at mark: FileMark, readFrom dates: ClosedRange<Date>, since start: Duration
  ) async throws {
    let (digest, read) = await FileContents.parsed(bytes, known: environment.notebook[key]?.shape)
    if read != nil {
      environment.fileIsText(true, key)
    } else if digest == seen.digest {
      environment.fileIsText(false, key)
    }
    // An editor knows what it wrote itself.
    let isNews = claims.all.isEmpty && seen.lastMark != nil && mark != seen.lastMark
    seen.lastMark = mark
    seen.mark = mark.isSteady(on: dates.lowerBound) ? mark : nil
    if digest == seen.digest {
      if isNews { tell(digest) }
      return forgetClaims()
    }
    if let merged = claims.merged, merged.digest == digest {
      // The editor has not overwritten it.
      try await know(merged.base, digest)
      return tell(digest)
    }
    guard let contents = read else {
      // Another program may be writing it.
      guard isComplete(mark, readFrom: dates, since: start) else { return later() }
      environment.fileIsText(false, key)
      // Not a text that can be compared: the editor may write in an encoding of its own.
      if let claim = claims.all.last { try await know(claim.base, digest) }
      return
    }
    let heads = environment.notebook[key]?.fileBase?.heads ?? []
    // A process that is not connected has merged the file's text, and has stored that.
    if !handle.document.unknown(heads).isEmpty { try await handle.takeStored(with: heads) }
    guard handle.document.unknown(heads).isEmpty, var (merge, note) = await merged(contents) else { return later() }
    if !merge.splices.isEmpty, try await environment.catchUp(handle) {
      guard let again = await merged(contents) else { return later() }
      (merge, note) = again
    }
    if !merge.splices.isEmpty, editorTexts == nil {
      editorTexts = try await environment.notebook.editorTexts(of: key)
      guard let again = await merged(contents) else { return later() }
      (merge, note) = again
    }
    // The item was moved, and the buffer is about to follow.
    guard note.content == content else { return binding == nil ? () : later() }
    if !merge.splices.isEmpty {
      // The editor may have written once more, and be about to say so.
      if binding != nil, !claims.all.isEmpty, !claims.hasWaited, claims.origin == nil {
        claims.hasWaited = true
        return later(merge, note)
      }
      guard isComplete(mark, readFrom: dates, since: start) else { return later(merge, note) }
      // The working-file sync is responsible for a file that is not open, and does not know what its client wrote, or what its
      // buffer was opened with: words that the person deleted from that would be new to it.
      guard binding != nil || claims.origin != nil || !claims.all.isEmpty else { return }
      guard environment.mayWrite(key.document) else { return try await refuse(contents.text, besides: note, digest) }
      try await takeIn(merge, of: note, contents.text, digest)
    }
    environment.notebook.update(key) { $0.shape = contents.shape }
    if let base = merge.base, base == environment.notebook[key]?.fileBase {
      seen.digest = digest
      forgetClaims()
    } else {
      let heads = handle.document.heads()
      try await know(TextBase(heads: heads, steps: [merge.lacking], object: note.textObject), digest)
    }
    if isNews || !merge.splices.isEmpty { tell(digest) }
  }

  /// The person may only read the note: keeps the file's text, and the editor need not ask.
  private func refuse(_ text: [UInt8], besides note: NoteDocument, _ digest: [UInt8]) async throws {
    let lacking = TextDiff.delta(from: text, to: DocumentText(note).allUTF8)
    let base = TextBase(heads: handle.document.heads(), steps: [lacking], object: note.textObject)
    try await files.recoveredTexts.refuse(text, key)
    try await know(base, digest)
    tell(digest)
  }

  private func later() {
    seen.mark = nil
    lookLater()
  }

  /// The same for a file whose news are merged later.
  private func later(_ merge: FileMerge, _ note: NoteDocument) {
    later()
    let text = DocumentText(note)
    guard text.measure.utf8 <= ThreeWayMerge.maximumSearchedBytes else { return }
    let news = TextDelta(merge.splices, in: text.allUTF8)
    let (_, way) = news.inverted.transformed(over: merge.lacking.inverted)
    claims.shared = TextBase(heads: handle.document.heads(), steps: [way.inverted], object: note.textObject)
  }

  /// Whether the file was complete when it was read.
  private func isComplete(_ mark: FileMark, readFrom dates: ClosedRange<Date>, since start: Duration) -> Bool {
    files.timeUntilQuiet(key, at: start) == .zero && mark.timeUntilSettled(readFrom: dates) == nil
  }

  /// What the file holds, merged by what it is known to have held, or by what the editor says that it has written since: a
  /// program that formats files at each save has changed that.
  private func merged(_ contents: FileContents) async -> (FileMerge, NoteDocument)? {
    let known = environment.notebook[key]?.fileBase
    let client = bindings.map(\.clientTextBase)
    let certain = claims.origin.map { [$0] } ?? known.map { [$0] + claims.written } ?? []
    return await merged(
      contents, certain,
      possible: [claims.origin == nil ? nil : known].compactMap(\.self) + claims.bases + client
        + (editorTexts ?? []) + [claims.shared].compactMap(\.self),
      written: claims.written)
  }

  private func merged(
    _ contents: FileContents, _ bases: [TextBase?], possible: [TextBase] = [], written: [TextBase] = []
  ) async -> (FileMerge, NoteDocument)? {
    for _ in 0..<Self.maximumComparisons {
      guard let note = NoteDocument(handle.document, item: key.item) else { return nil }
      let heads = handle.document.heads()
      let found = await ThreeWayMerge.takeInOffLoop(contents, note) { read in
        ThreeWayMerge(
          note: note, bases: bases.compactMap(\.self), encoding: .utf8, gate: .plain, possibleBases: possible,
          writtenTexts: written, isFollowed: true, read: read)
      }
      if let found, heads == handle.document.heads() { return (found, note) }
    }
    return nil
  }

  /// Drops the claims read by now: each is the file's known text, or has not arrived in the file.
  private func forgetClaims() {
    claims.all.removeFirst(min(claims.readCount, claims.all.count))
    if claims.all.isEmpty { claims.origin = nil }
    (claims.readCount, claims.hasWaited) = (0, false)
  }

  private func know(_ base: TextBase, _ digest: [UInt8]? = nil) async throws {
    (seen.digest, claims.merged, claims.shared) = (digest, nil, nil)
    let isOutOfStep = claims.origin != nil
    if isOutOfStep { claims.writtenOutOfStep = base }
    forgetClaims()
    // The editor has written again since: that text derives from this one.
    if isOutOfStep, !claims.all.isEmpty { claims.origin = base }
    environment.fileHas(base, key)
    environment.notebook.update(key) { $0.textObject = base.object ?? $0.textObject }
    seen.isUnstored = true
    try await store()
  }

  /// Stores the note with what the buffer was opened with, before it is known what the file holds now.
  private func storeOpened() async throws {
    let opened = claims.all.first.map { clientBase($0).item(key, run: environment.journal.run, .opened) }
    try await handle.store(with: [opened].compactMap(\.self).map { .save($0) })
  }

  /// The store need not keep any longer what the editor has written.
  private func forgetWritten() async throws {
    claims.isWrittenStored = false
    try await handle.store(with: [.remove(ClientBase.key(key, run: environment.journal.run, .written))])
  }

  /// Before another process of this person looks at the file.
  private func store() async throws {
    try await handle.flush()
    try await environment.notebook.save(key)
    environment.journal.fileIsStored(key)
    seen.isUnstored = false
  }

  /// Tells the editor that the note has all that the file with this digest holds, so that it need not ask before it writes.
  private func tell(_ digest: [UInt8]) {
    for binding in bindings { binding.fileIsKnown(hexadecimal(digest)) }
  }

  private static let log = Logger(label: "files")
}
