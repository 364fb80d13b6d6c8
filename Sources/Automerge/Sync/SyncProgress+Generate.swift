extension SyncProgress {
  /// When a message has this many bytes of changes, the rest wait for the peer's answer, so that a peer that reads
  /// slowly costs no more memory than this. Source: PeerProtocol.md, "Expensive changes".
  static let changesByteCount = 512 << 10

  /// A peer that has this many changes to confirm is sent nothing more until it answers, and then everything at once.
  /// So a peer that never answers costs nothing. Source: PeerProtocol.md, "Expensive changes".
  static let maximumUnconfirmed = 128

  /// How many deps of waiting changes are looked at for a message. What others are missing is asked for when these have come.
  static let maximumLookUps = 65_536

  /// The next message to the peer; nil if there is nothing to send now.
  /// - Complexity: O(n) in the changes that one side has and the other may lack, not in the history.
  ///   Source of the rules: automerge-format, section 7.4.
  mutating func generateMessage(from history: inout some SyncableHistory) -> SyncMessage? {
    if inFlight, sentHashes.count > Self.maximumUnconfirmed { return nil }
    let ourHeads = history.namedHeads
    let need = isReadOnly ? [] : missing(in: &history).upTo(SyncMessage.Limit.need)
    if mustStartOver(&history) { return resetMessage(heads: ourHeads) }

    let saidAlready = lastSentHeads == ourHeads && haveResponded
    if saidAlready, inFlight { return nil }
    var payload = payload(from: &history)
    if saidAlready, payload.hashes.isEmpty,
      isReadOnly || theirHeads == ourHeads || (payload.isOnItsWay && need.isEmpty)
    {
      return nil
    }

    var message = SyncMessage()
    message.version = theirCapabilities == nil ? .v1 : .v2
    message.heads = ourHeads
    message.need = need
    if need.isEmpty || need.allSatisfy(Set(theirHeads ?? []).contains) {
      let shared = sharedHeads.upTo(SyncMessage.Limit.heads)
      let unshared = history.changesNotAncestors(of: shared)
      message.have = [SyncMessage.Have(lastSync: shared, bloom: BloomFilter(containing: unshared))]
    }
    message.changes = chunks(of: &payload, version: message.version, from: &history)
    message.flags = flags
    if needsReset {
      if theirCapabilities?.syncReset == true { message.flags?.insert(.syncReset) } else { message.heads = [] }
      needsReset = false
    }

    haveResponded = true
    inFlight = true
    lastSentHeads = ourHeads
    sentHashes.formUnion(payload.hashes)
    return message
  }

  /// The changes in a message.
  private struct Payload {
    var hashes: [ChangeHash] = []
    /// Whether they are sent at once, as a document.
    var isDocument = false
    /// Whether the peer lacks something, but all of it is in messages that it has not answered yet: while a person
    /// types faster than answers come, each answer is about an earlier change than the last. The answer to the last one
    /// is still to come.
    var isOnItsWay = false
  }

  private var flags: SyncMessage.Flags { isReadOnly ? [.supportsSyncReset, .readOnly] : .supportsSyncReset }

  /// Their heads that we lack, and the missing deps of those that we have received but not applied.
  private func missing(in history: inout some SyncableHistory) -> [ChangeHash] {
    guard var open = theirHeads, !history.hasChanges(open) else { return [] }
    var seen = Set<ChangeHash>()
    var missing: [ChangeHash] = [], left = Self.maximumLookUps
    while left > 0, let hash = open.popLast() {
      left -= 1
      guard seen.insert(hash).inserted, !history.hasChange(hash) else { continue }
      if let deps = history.queuedDependencies(of: hash) { open += deps } else { missing.append(hash) }
    }
    return missing.sorted()
  }

  /// Whether they believe to share changes with us that we do not have, or no longer have.
  private func mustStartOver(_ history: inout some SyncableHistory) -> Bool {
    guard let shared = theirHave?.first?.lastSync else { return false }
    return !history.hasChanges(shared)
  }

  /// Asks them to forget what they believe to share with us. Sent once until they answer.
  private mutating func resetMessage(heads: [ChangeHash]) -> SyncMessage? {
    guard !resetInFlight else { return nil }
    resetInFlight = true
    var message = SyncMessage()
    message.heads = heads
    message.have = [SyncMessage.Have()]
    message.flags = flags
    return message
  }

  private func payload(from history: inout some SyncableHistory) -> Payload {
    guard let theirHave, let theirNeed, !isPeerReadOnly else { return Payload() }
    let goesWhole = theirCapabilities != nil && !history.goesInParts
    if goesWhole, theirHeads == [], sentHashes.isEmpty {
      return Payload(hashes: history.changesNotAncestors(of: []), isDocument: true)
    }
    let wanted = wanted(have: theirHave, need: theirNeed, from: &history)
    let hashes = sentHashes.isEmpty ? wanted : wanted.filter { !sentHashes.contains($0) }
    // Many changes are shorter, and faster to read, as a document.
    return Payload(
      hashes: hashes, isDocument: goesWhole && hashes.count > history.changeCount / 3,
      isOnItsWay: !wanted.isEmpty && hashes.isEmpty && theirNeed.isEmpty)
  }

  /// The changes that they request and those that they seem to lack.
  private func wanted(
    have: [SyncMessage.Have], need: [ChangeHash], from history: inout some SyncableHistory
  ) -> [ChangeHash] {
    var chosen: [ChangeHash] = []
    var chosenSet = ChangeHashSet()
    if !have.isEmpty {
      let shared = have.count == 1 ? have[0].lastSync : have.flatMap(\.lastSync)
      let open = history.changesNotAncestors(of: shared)
      if need.isEmpty, open.count == 1 { return have.contains { $0.bloom.contains(open[0]) } ? [] : open }
      // In row order deps come first, so one pass also finds all that depend on a chosen change.
      for hash in open {
        let seemsKnown = have.contains { $0.bloom.contains(hash) }
        if !seemsKnown
          || (!chosenSet.isEmpty && history.dependencies(of: hash).contains(where: chosenSet.contains))
        {
          chosen.append(hash)
          chosenSet.insert(hash)
        }
      }
    }
    if need.isEmpty { return chosen }
    var asked: [ChangeHash] = []
    for hash in need where !chosenSet.contains(hash) && history.hasChange(hash) {
      chosenSet.insert(hash)
      asked.append(hash)
    }
    return asked + chosen
  }

  private func chunks(
    of payload: inout Payload, version: SyncMessage.Version, from history: inout some SyncableHistory
  ) -> [ArraySlice<UInt8>] {
    if payload.hashes.isEmpty { return [] }
    if payload.isDocument { return [history.savedDocument()[...]] }
    if payload.hashes.count == 1 { return history.encodedChange(payload.hashes[0]).map { [$0[...]] } ?? [] }
    var changes: [[UInt8]] = []
    var (byteCount, count) = (0, 0)
    for hash in payload.hashes {
      guard byteCount < Self.changesByteCount else { break }
      count += 1
      guard let change = history.encodedChange(hash) else { continue }
      byteCount += change.count
      changes.append(change)
    }
    payload.hashes.removeLast(payload.hashes.count - count)
    switch version {
    case .v1: return changes.map { $0[...] }
    case .v2:
      if changes.count == 1 { return [changes[0][...]] }
      var joined: [UInt8] = []
      joined.reserveCapacity(byteCount)
      for change in changes { joined.append(contentsOf: change) }
      return [joined[...]]
    }
  }
}
