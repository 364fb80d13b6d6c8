import Automerge
import AutomergeRepo
import Crypto
import JSONRPC

/// Keeps the editor up to date: sends what it lacks, compares texts, and reports the status.
extension Attachment {
  /// Sends what the client lacks, unless more of its own changes may be waiting to be read.
  func sendPendingEdit() {
    // The edit would be made for an outdated version.
    guard comparison == nil else { return }
    guard !editor.buffers.isReceiving else {
      editor.buffers.sendEditLater(uri)
      return
    }
    guard buffer.gate == .notes else { return offerEdit() }
    guard !waitsForQuiet() else { return }
    guard let edit = buffer.pendingEdit(source: source) else { return }
    service.journal.sends(edit.rev, of: key, heads: handle.document.heads())
    editor.notify(EditNotification(uri: uri, edit: edit))
  }

  /// Sends a plain client what it lacks, if it takes edits and has answered all earlier ones.
  func offerEdit() {
    guard editor.client.takesEdits, let edit = buffer.nextOffer(source: source) else { return }
    editor.ask(ApplyEditRequest(uri: uri, edit: edit)) { [weak self] isApplied in
      self?.buffer.offerAnswered(isApplied: isApplied, version: edit.version)
      self?.sendPendingEdit()
    }
  }

  /// Whether the unsent edit is large and the client busy; it is then sent later.
  func waitsForQuiet() -> Bool {
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

  func sendCheck() {
    if buffer.gate == .notes, !buffer.awaitsFullText, comparison == nil {
      let text = buffer.clientText(source: source)
      let digest = SHA256.hash(data: text).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
      editor.notify(
        CheckNotification(
          uri: uri, version: buffer.version, rev: buffer.expectedRev, byteCount: text.count, digest: digest.joined()))
    }
    scheduleCheck(after: Self.checkInterval)
  }

  /// Compares the texts after a while, replacing an earlier deadline.
  func scheduleCheck(after delay: Duration) {
    let time = service.clock.now + delay
    checkIsDue = (time, onlyInCompany: delay == Self.checkInterval)
    // Every keystroke postpones the check: a timer that fires too early waits again.
    if let check, check.time <= time { return }
    check?.timer.cancel()
    planCheck(at: time)
  }

  private func planCheck(at time: Duration) {
    let timer = service.clock.schedule(after: max(.zero, time - service.clock.now)) { [weak self] in
      guard let self, let due = self.checkIsDue else { return }
      self.check = nil
      if self.service.clock.now < due.time { return self.planCheck(at: due.time) }
      if due.onlyInCompany && !self.hasCompany { return self.scheduleCheck(after: Self.checkInterval) }
      self.sendCheck()
    }
    check = (time, timer)
  }

  private var hasCompany: Bool { service.sharing.peers.contains { $0.isConnected && $0.has(id) } }

  /// Tells the client, at most a few times a second: every keystroke changes what is stored and which peers have it.
  func statusChanged() {
    guard buffer.gate == .notes, statusTimer == nil else { return }
    statusTimer = service.clock.schedule(after: Self.statusDelay) { [weak self] in
      self?.statusTimer = nil
      self?.sendStatus()
    }
  }

  /// Answers a request for the status. A later return to the state told before is then news to the client.
  func answerStatus() -> JSONValue {
    let status = NoteStatus(of: self).json
    lastStatus = status
    return status
  }

  /// Call when an event has told the client what changes its idea of the status: it is told the whole again, even if that is as
  /// it was before.
  func toldOfStatus() {
    lastStatus = nil
    statusChanged()
  }

  func sendStatus() {
    let status = NoteStatus(of: self).json
    guard status != lastStatus else { return }
    lastStatus = status
    editor.notify(StatusChangedNotification(uri: uri, status: status))
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
