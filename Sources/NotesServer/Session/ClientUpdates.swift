import Automerge
import AutomergeRepo
import Cryptography
import JSONRPC

/// Keeps a client up to date about one buffer: sends what it lacks, has it compare texts, and reports the status.
@AutomergeRepo
final class ClientUpdates {
  /// How long after the last edit the texts are compared.
  private static let checkDelay: Duration = .seconds(1)
  /// The interval between comparisons while other people are connected.
  private static let checkInterval: Duration = .seconds(30)

  /// An edit of more parts than this waits until the client pauses: if it were sent while the person types, the client
  /// would drop it, and the service would make it again for each keystroke.
  private static let maximumPartsAtOnce = 64
  private static let quietDelay: Duration = .milliseconds(60)
  private static let maximumWait: Duration = .seconds(1)

  /// The interval in which changes of the status are combined.
  private static let statusDelay: Duration = .milliseconds(200)

  private unowned let binding: BufferBinding
  private var check: (time: Duration, timer: any ScheduledAction)?
  private var checkIsDue: (time: Duration, onlyWithPeers: Bool)?
  private var editTimer: (any ScheduledAction)?
  /// When the client last changed something, and when the edit that waits for the client to pause began to wait.
  private var lastChange: Duration?
  private var waitingSince: Duration?
  private var statusTimer: (any ScheduledAction)?
  /// Since the note was found not to be stored, and whether that is long ago; nil while it is stored.
  private var storing: (timer: any ScheduledAction, isLong: Bool)?
  private var lastStatus: JSONValue?
  /// Whether the words were counted since the text last changed.
  private var wordsAreCounted = false

  private var editor: Editor { binding.editor }
  private var clock: any RepoClock { binding.service.clock }

  init(_ binding: BufferBinding) { self.binding = binding }

  func stop() {
    check?.timer.cancel()
    statusTimer?.cancel()
    storing?.timer.cancel()
    editTimer?.cancel()
  }

  // MARK: Edits

  /// Call when the client has changed something.
  func clientChanged() { lastChange = clock.now }

  /// Sends what the client lacks, unless more of its own changes may be waiting to be read.
  func sendEdit() {
    // The edit would be made for an outdated version.
    guard !binding.isComparing else { return }
    guard !editor.buffers.isReceiving else { return editor.buffers.sendEditLater(binding.uri) }
    guard binding.buffer.gate == .notes else { return offerEdit() }
    guard !waitsForQuiet() else { return }
    guard let edit = binding.buffer.pendingEdit(source: binding.source) else { return }
    binding.service.journal.sends(
      edit.rev, of: binding.place, heads: binding.handle.document.heads())
    editor.notify(EditNotification(uri: binding.uri, edit: edit))
  }

  /// Sends a plain client what it lacks, if it takes edits and has answered all earlier ones.
  private func offerEdit() {
    guard editor.client.takesEdits, let edit = binding.buffer.nextOffer(source: binding.source) else { return }
    editor.ask(ApplyEditRequest(uri: binding.uri, edit: edit)) { [weak binding] isApplied in
      binding?.buffer.offerAnswered(edit, isApplied: isApplied)
      binding?.updates.sendEdit()
    }
  }

  /// Whether the unsent edit is large and the client busy; it is then sent later.
  private func waitsForQuiet() -> Bool {
    editTimer?.cancel()
    editTimer = nil
    let now = clock.now
    guard binding.buffer.unsent.segments.count > Self.maximumPartsAtOnce, let lastChange,
      now - lastChange < Self.quietDelay, now - (waitingSince ?? now) < Self.maximumWait
    else {
      waitingSince = nil
      return false
    }
    waitingSince = waitingSince ?? now
    editTimer = clock.schedule(after: Self.quietDelay - (now - lastChange)) { [weak binding] in
      binding?.updates.sendEdit()
    }
    return true
  }

  // MARK: Comparing texts

  /// Call when the text has changed: the texts are compared after a while.
  func textChanged() {
    wordsAreCounted = false
    scheduleCheck(after: Self.checkDelay)
  }

  /// Replaces an earlier deadline.
  private func scheduleCheck(after delay: Duration) {
    let time = clock.now + delay
    checkIsDue = (time, onlyWithPeers: delay == Self.checkInterval)
    // Every keystroke postpones the check: a timer that fires too early waits again.
    if let check, check.time <= time { return }
    check?.timer.cancel()
    planCheck(at: time)
  }

  private func planCheck(at time: Duration) {
    let timer = clock.schedule(after: max(.zero, time - clock.now)) { [weak binding] in
      binding?.updates.checkIsPlanned()
    }
    check = (time, timer)
  }

  private func checkIsPlanned() {
    guard let due = checkIsDue else { return }
    check = nil
    if clock.now < due.time { return planCheck(at: due.time) }
    if !due.onlyWithPeers || hasPeers { sendCheck() }
    if !wordsAreCounted {
      countWords()
      statusChanged()
    }
    scheduleCheck(after: Self.checkInterval)
  }

  /// Counts the note's words, which lists show, unless the text is as it was at the last count.
  /// - Complexity: O(n) in the text if it has changed
  func countWords() {
    guard !wordsAreCounted else { return }
    wordsAreCounted = true
    binding.countWords()
  }

  private func sendCheck() {
    let buffer = binding.buffer
    guard buffer.gate == .notes, !buffer.awaitsFullText, !binding.isComparing else { return }
    let text = binding.clientText
    editor.notify(
      CheckNotification(
        uri: binding.uri, version: buffer.version, rev: buffer.expectedRev, byteCount: text.count,
        digest: hexadecimal(SHA256.hash(data: text))))
  }

  private var hasPeers: Bool {
    binding.service.sharing.peers.contains { $0.isConnected && $0.has(binding.id) }
  }

  // MARK: The status

  /// Tells the client, at most a few times a second: every keystroke changes what is stored and which peers have it.
  func statusChanged() {
    guard binding.buffer.gate == .notes || editor.client.showsProgress, statusTimer == nil else { return }
    statusTimer = clock.schedule(after: Self.statusDelay) { [weak binding] in
      binding?.updates.sendStatus()
    }
  }

  /// Call when the document's heads have changed: a plain client may show how much of the document is here.
  func headsChanged() {
    if binding.buffer.gate == .plain { statusChanged() }
  }

  /// Answers a request for the status. A later return to the state told before is then news to the client.
  func answerStatus() -> JSONValue {
    let status = status()
    lastStatus = status
    return status
  }

  private func status() -> JSONValue {
    let status = NoteStatus(of: binding, hasWaitedToStore: storing?.isLong ?? false)
    if status.isStored {
      storing?.timer.cancel()
      storing = nil
    } else if storing == nil {
      let timer = clock.schedule(after: NoteStatus.storingTime) { [weak binding] in
        binding?.updates.storing?.isLong = true
        binding?.updates.statusChanged()
      }
      storing = (timer, isLong: false)
    }
    return status.json
  }

  /// Call after an event that changes what the client shows as the status: the client is sent the whole status again,
  /// even if it is the same as before.
  func toldOfStatus() {
    lastStatus = nil
    statusChanged()
  }

  private func sendStatus() {
    statusTimer = nil
    guard binding.buffer.gate == .notes else { return editor.work.look(at: binding.uri) }
    let status = status()
    guard status != lastStatus else { return }
    lastStatus = status
    editor.notify(StatusChangedNotification(uri: binding.uri, status: status))
  }
}
