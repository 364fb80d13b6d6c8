import Automerge
import Foundation

/// Messages that are applied in portions, and those that were not taken.
extension DocumentSync {
  /// Call when another thread begins to read a message of a peer with write access. Returns false if the message is not
  /// a sync message.
  mutating func begin(_ content: RepoMessage.Content, from peer: PeerId) -> Bool {
    guard let data = content.data, let header = SyncHeader(data) else { return false }
    _ = authorship.receive(.heard(peer))
    let isNew = index(of: peer) == nil
    let index = link(to: peer, .write)
    if !header.heads.isEmpty {
      // The search waits for this message.
      links[index].beginExchange(awaitsAnswer: links[index].awaitsAnswer)
      if header.isPlausible {
        links[index].announced = .init(heads: Set(header.heads), changeCount: header.senderChangeCount)
      }
    } else if isNew, phase == .searching {
      links[index].state = .lacking(awaitsAnswer: false)
    }
    return true
  }

  /// Call when the message that `begin` was told of cannot be read.
  mutating func malformed(from peer: PeerId) -> [Effect] {
    endAnnouncement(of: peer)
    return [.refused(peer, .malformed)]
  }

  /// Answers a peer whose messages were not taken, and asks for everything in them again.
  mutating func missed(_ peer: PeerId, _ access: Access, _ document: Document) -> [Effect] {
    let isNew = index(of: peer) == nil
    let index = link(to: peer, access)
    links[index].missed(isNew: isNew, isFound: phase == .ready)
    return links[index].isExchanging ? send(to: index, document) : []
  }

  private mutating func endAnnouncement(of peer: PeerId) {
    if let index = index(of: peer) { links[index].announced = nil }
  }

  /// Applies a portion. Tells the other peers at once, and the sender when all of the message is applied.
  mutating func take(
    _ portion: ChangePortion, of message: IncomingMessage, filter: inout AuthorFilter, from peer: PeerId,
    _ document: Document
  ) -> [Effect] {
    guard let index = index(of: peer), links[index].access == .write else { return [] }
    let before = document.heads()
    let edits = document.takeIn(portion, of: message, filter: &filter).edits
    guard document.heads() != before else { return [] }
    var effects = found(by: index)
    if !edits.isEmpty { effects.append(.edited(edits, from: peer)) }
    effects.append(.headsChanged(by: peer))
    return effects + settleWithheld(document) + sendToAll(document, except: peer)
  }

  /// Call when all portions have been applied. Applies the rest of the message, which is not changes.
  mutating func finish(
    _ message: IncomingMessage, _ content: RepoMessage.Content, filter: AuthorFilter, from peer: PeerId, access: Access,
    since before: Set<ChangeHash>, _ document: Document
  ) -> [Effect] {
    endAnnouncement(of: peer)
    guard let data = content.data, let header = SyncHeader(data) else { return malformed(from: peer) }
    let index: Int
    switch open(header, isRequest: content.isRequest, from: peer, access: access) {
    case .answered(let effects): return effects
    case .link(let place): index = place
    }
    do {
      try document.finish(message, state: links[index].shared)
      links[index].heads = links[index].shared.theirHeads
      let fault = document.fault(of: message)
      links[index].exchange?.hasUnusable = fault != nil
      let effects = withhold(filter.leftOut, fault: fault, at: index, document)
      return effects + settleMessage(at: index, before: before, edits: [], document)
    } catch {
      links[index].exchange?.hasUnusable = true
      links[index].restart()
      return [.refused(peer, .rejected("\(error)"))]
    }
  }
}
