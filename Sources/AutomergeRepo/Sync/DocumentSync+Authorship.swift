import Automerge
import Foundation

/// Decides which changes of which author to accept during sync.
extension DocumentSync {
  /// Which changes in a peer's message we accept.
  func filter(for peer: PeerId, _ document: Document) -> AuthorFilter {
    // The first copy of a document is accepted whole, from any peer that has it.
    guard phase == .ready, !document.heads().isEmpty else { return AuthorFilter(refusing: document.actor) }
    return authorship.filter(for: peer, own: document.actor) { author in
      links.first { $0.peer == author && $0.access == .write }.map { $0.heads ?? [] }
    }
  }

  /// The actors whose new changes we accept only from their author, or once their author confirms them.
  var actorsThatSpeak: Set<ActorId> {
    authorship.speaking { author in links.contains { $0.peer == author && $0.access == .write } }
  }

  /// Withholds the changes that were left out of a peer's message, and reports what was wrong with the message.
  mutating func withhold(
    _ leftOut: [ActorId: ChangeHash], fault: LoadError?, at index: Int, _ document: Document
  ) -> [Effect] {
    let peer = links[index].peer
    var effects: [Effect] = []
    if let fault { effects.append(.refused(peer, .rejected("\(fault)"))) }
    guard !leftOut.isEmpty else { return effects }
    return effects + tell(.withheld(leftOut, from: peer, own: document.actor), document)
  }

  /// Call after changes were applied. Their author may have brought some that were withheld.
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
        guard let index = index(of: peer), phase == .ready else { continue }
        links[index].shared.askAgain()
        links[index].exchange?.lastEmpty = nil
        effects += send(to: index, document)
      case .settled(let peer):
        guard let index = index(of: peer), phase == .ready else { continue }
        effects += send(to: index, document)
      }
    }
    return effects
  }

  /// Whether a message only repeats what the peer was sent before, while the peer brings changes that we refuse.
  /// Otherwise the two would answer each other forever, as fast as the network allows.
  mutating func repeats(_ data: Data, at index: Int) -> Bool {
    guard var exchange = links[index].exchange else { return false }
    defer { links[index].exchange = exchange }
    guard exchange.hasUnusable || authorship.isWithholding(from: links[index].peer) else {
      exchange.lastEmpty = nil
      return false
    }
    guard SyncHeader(data)?.changeCount == 0 else { return false }
    defer { exchange.lastEmpty = data }
    return exchange.lastEmpty == data
  }
}
