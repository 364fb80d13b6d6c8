extension SyncProgress {
  /// Applies a message of the peer. Source of the rules: automerge-format, section 7.5.
  ///
  /// If applying its changes throws, nothing but `inFlight` is changed here.
  mutating func receive(_ message: SyncMessage, into history: inout some SyncableHistory) throws {
    inFlight = false
    resetInFlight = false
    let headsBefore = history.syncHeads
    let takesChanges = !message.changes.isEmpty && !isReadOnly
    if takesChanges { try history.applySynced(message.changes) }

    if takesChanges { shareHeads(history.syncHeads, after: headsBefore) }
    note(message, into: &history)
    if message.changes.isEmpty, message.heads == headsBefore.upTo(SyncMessage.Limit.heads) {
      lastSentHeads = message.heads
    }
  }

  /// Like `receive`, for a message whose changes have been applied already, along with others.
  mutating func noteTaken(_ message: SyncMessage, into history: inout some SyncableHistory) {
    inFlight = false
    resetInFlight = false
    note(message, into: &history)
  }

  /// Of our heads, they have those that they have just sent, and those that they had before.
  private mutating func shareHeads(_ heads: [ChangeHash], after headsBefore: [ChangeHash]) {
    if heads.count == 1 {
      sharedHeads = headsBefore.contains(heads[0]) && !sharedHeads.contains(heads[0]) ? [] : heads
      return
    }
    let arrived = Set(heads).subtracting(headsBefore)
    sharedHeads = arrived.union(Set(sharedHeads).intersection(heads)).sorted()
  }

  private mutating func note(_ message: SyncMessage, into history: inout some SyncableHistory) {
    read(message.flags)
    var known = message.heads
    if !history.hasChanges(known) {
      known = []
      for hash in message.heads where history.hasChange(hash) { known.append(hash) }
    }
    if !sentHashes.isEmpty, !known.isEmpty {
      sentHashes.formIntersection(history.changesNotAncestors(of: known))
    }
    if known.count == message.heads.count {
      sharedHeads = message.heads
      // They have nothing, so whatever they had before is lost.
      if message.heads.isEmpty {
        lastSentHeads = []
        sentHashes = ChangeHashSet()
      }
    } else {
      sharedHeads = Set(sharedHeads).union(known).sorted()
    }
    theirHave = message.have
    theirHeads = message.heads
    theirNeed = message.need
  }

  private mutating func read(_ flags: SyncMessage.Flags?) {
    guard let flags else { return }
    theirCapabilities = Capabilities(syncReset: flags.contains(.supportsSyncReset))
    if flags.contains(.syncReset) { sentHashes = ChangeHashSet() }
    isPeerReadOnly = flags.contains(.readOnly)
  }
}
