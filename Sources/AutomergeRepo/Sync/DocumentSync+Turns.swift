import Automerge

/// Decides which peers are told now, and which after other work has run.
extension DocumentSync {
  /// - Parameters:
  ///   - answered: the peer that has just sent something, and is told even if its link is idle
  ///   - left: a peer that is told later
  mutating func sendToAll(
    _ document: Document, answering answered: PeerId? = nil, except left: PeerId? = nil
  ) -> [Effect] {
    let indices = links.indices.filter { index in
      let link = links[index]
      if link.peer == left { return false }
      return link.awaitsAnswer || !link.isLacking && (!idlePeers.contains(link.peer) || link.peer == answered)
    }
    return speak(to: indices, document)
  }

  /// The peers that wait for their turn, and still need it.
  var waiting: [Int] {
    links.indices.filter { links[$0].turn != nil && (!links[$0].isLacking || links[$0].awaitsAnswer) }
  }

  /// Sends these peers what they lack, longest waiting first, within the limit of one turn.
  mutating func speak(to indices: [Int], _ document: Document) -> [Effect] {
    var (effects, byteCount, isOver): ([Effect], Int, Bool) = ([], 0, false)
    let waiting = indices.filter { links[$0].turn != nil }.sorted { links[$0].turn ?? 0 < links[$1].turn ?? 0 }
    for index in waiting + indices.filter({ links[$0].turn == nil }) {
      guard byteCount < Self.byteCountOfTurn || links[index].isCrowded else {
        isOver = true
        guard links[index].turn == nil else { continue }
        turnCount += 1
        links[index].outlet = .waiting(turnCount)
        continue
      }
      let new = send(to: index, document)
      byteCount += new.reduce(0) { $0 + $1.byteCount }
      effects += new
    }
    guard isOver, !isTurnDue else { return effects }
    isTurnDue = true
    return effects + [.later]
  }

  /// Sets which links are idle. A peer whose link is no longer idle is told at once what it may have missed.
  mutating func setIdle(_ peers: Set<PeerId>, _ document: Document) -> [Effect] {
    let wereIdle = idlePeers
    idlePeers = peers
    return links.indices.flatMap { index -> [Effect] in
      let peer = links[index].peer
      guard wereIdle.contains(peer), !peers.contains(peer), phase == .ready, !links[index].isLacking else { return [] }
      return send(to: index, document)
    }
  }
}
