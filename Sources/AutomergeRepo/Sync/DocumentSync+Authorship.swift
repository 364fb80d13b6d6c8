import Automerge
import Foundation

/// Whose word counts for what, in the exchange of changes.
extension DocumentSync {
  /// What of a peer's message counts here.
  func filter(for peer: PeerId, _ document: Document) -> AuthorFilter {
    // The first copy of a document comes whole, from whoever has it.
    guard phase == .ready, !document.heads().isEmpty else { return AuthorFilter(refusing: document.actor) }
    return authorship.filter(for: peer, own: document.actor) { author in
      links.first { $0.peer == author && $0.access == .write }.map { $0.theirHeads ?? [] }
    }
  }

  /// The actors whose new changes nobody but themselves can bring now, or have confirmed.
  var actorsThatSpeak: Set<ActorId> {
    authorship.speaking { author in links.contains { $0.peer == author && $0.access == .write } }
  }

  /// Notes what was left out of a peer's message, and why something of it was not good.
  mutating func withhold(
    _ leftOut: [ActorId: ChangeHash], fault: LoadError?, at index: Int, _ document: Document
  ) -> [Effect] {
    let peer = links[index].peer
    var effects: [Effect] = []
    if let fault { effects.append(.refused(peer, .rejected("\(fault)"))) }
    guard !leftOut.isEmpty else { return effects }
    return effects + tell(.withheld(leftOut, from: peer, own: document.actor), document)
  }

  /// Some of what was withheld may have come from its author.
  mutating func settleWithheld(_ document: Document) -> [Effect] {
    guard authorship.isWithholding else { return [] }
    let hashes = authorship.withheldHashes
    let arrived = hashes.subtracting(document.unknown(hashes))
    return arrived.isEmpty ? [] : tell(.arrived(arrived), document)
  }

  mutating func tell(_ event: Authorship.Event, _ document: Document) -> [Effect] {
    var effects: [Effect] = []
    for effect in authorship.receive(event) {
      switch effect {
      case .startTimer, .ask, .refusedClaim, .forged: effects.append(.authorship(effect))
      case .wantAgain(let peer):
        guard let index = links.firstIndex(where: { $0.peer == peer }), phase == .ready else { continue }
        links[index].state.askAgain()
        links[index].lastEmpty = nil
        effects += send(to: index, document)
      case .settled(let peer):
        guard let index = links.firstIndex(where: { $0.peer == peer }), phase == .ready else { continue }
        effects += send(to: index, document)
      }
    }
    return effects
  }

  /// Whether a message says nothing that the peer has not been told, while it brings what we do not take. Both sides would
  /// go on telling each other for ever, as fast as the network is.
  mutating func repeats(_ data: Data, at index: Int) -> Bool {
    guard links[index].hasUnusable || authorship.isWithholding(from: links[index].peer) else {
      links[index].lastEmpty = nil
      return false
    }
    guard SyncOutline(data)?.changeCount == 0 else { return false }
    defer { links[index].lastEmpty = data }
    return links[index].lastEmpty == data
  }
}
