import Automerge
import Foundation

/// The messages in which peers claim the actors they write as. Source: PeerProtocol.md, "Authors".
extension Repo {
  /// More changes than this are never asked about at once.
  private static let mostChanges = 256

  /// Whether a peer may write as an actor.
  func fits(_ actor: ActorId, _ peer: PeerId) -> Bool {
    policy.fits(actor, isSibling(peer) ? peerId : peer)
  }

  func send(_ actors: Set<ActorId>, on document: DocumentId, to peer: PeerId, asks: Bool) {
    let list = actors.map(\.data).sorted { $0.lexicographicallyPrecedes($1) }.prefix(Authorship.mostActors)
    send(
      type: OwnMessage.author.rawValue,
      fields: [
        "documentId": .text(document.description), "actors": .array(list.map { .bytes($0) }), "asks": .bool(asks),
      ], to: peer)
  }

  func ask(_ author: PeerId, about changes: [ChangeHash], on document: DocumentId) {
    let data = StoredHeads.encode(Set(changes.prefix(Repo.mostChanges)))
    send(
      type: OwnMessage.vouch.rawValue, fields: ["documentId": .text(document.description), "changes": .bytes(data)],
      to: author)
  }

  func receiveAuthors(_ fields: [String: CBOR], from peer: PeerId) {
    guard let handle = sharedHandle(fields, with: peer) else { return }
    let names = (fields["actors"]?.array ?? []).prefix(Authorship.mostActors).compactMap(\.bytes)
    let actors = names.compactMap { $0.isEmpty || $0.count > 64 ? nil : ActorId(data: $0) }
    handle.heard(Set(actors), from: peer, asks: fields["asks"] == .bool(true))
  }

  func receiveVouch(_ fields: [String: CBOR], from peer: PeerId) {
    guard let handle = sharedHandle(fields, with: peer),
      let changes = fields["changes"]?.bytes.flatMap(StoredHeads.decode), changes.count <= Repo.mostChanges
    else { return }
    if let known = fields["known"]?.bytes.flatMap(StoredHeads.decode) {
      let known = known.intersection(changes)
      handle.receive(.authorship(.answered(known: known, unknown: changes.subtracting(known), by: peer)))
    } else {
      let known = changes.subtracting(handle.document.unknown(changes)).union(changes.intersection(handle.discarded))
      send(
        type: OwnMessage.vouch.rawValue,
        fields: [
          "documentId": .text(handle.id.description), "changes": .bytes(StoredHeads.encode(changes)),
          "known": .bytes(StoredHeads.encode(known)),
        ], to: peer)
    }
  }

  func sharedHandle(_ fields: [String: CBOR], with peer: PeerId) -> DocHandle? {
    guard let id = fields["documentId"]?.text.flatMap({ DocumentId($0) }), access(id, for: peer) > .none else {
      return nil
    }
    return slots[id]?.handle
  }
}
