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

    if takesChanges {
      let headsNow = history.syncHeads
      let arrived = Set(headsNow).subtracting(headsBefore)
      sharedHeads = arrived.union(Set(sharedHeads).intersection(headsNow)).sorted()
    }
    note(message, into: &history)
    if message.changes.isEmpty, message.heads == Array(headsBefore.prefix(SyncMessage.Limit.heads)) {
      lastSentHeads = message.heads
    }
  }

  /// Like `receive`, for a message whose changes have been applied already, along with others.
  mutating func noteTaken(_ message: SyncMessage, into history: inout some SyncableHistory) {
    inFlight = false
    resetInFlight = false
    note(message, into: &history)
  }

  private mutating func note(_ message: SyncMessage, into history: inout some SyncableHistory) {
    read(message.flags)
    var known: [ChangeHash] = []
    for hash in message.heads where history.hasChange(hash) { known.append(hash) }
    if !sentHashes.isEmpty, !known.isEmpty {
      sentHashes.formIntersection(history.changesNotAncestors(of: known))
    }
    if known.count == message.heads.count {
      sharedHeads = message.heads
      // They have nothing, so whatever they had before is lost.
      if message.heads.isEmpty {
        lastSentHeads = []
        sentHashes = []
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
    if flags.contains(.syncReset) { sentHashes = [] }
    isPeerReadOnly = flags.contains(.readOnly)
  }
}
